"""What is judged of a contender: every bound that speaks of it, found by what the bound says."""

from dataclasses import dataclass
from functools import cached_property
from typing import final

from elastic_consistency.bounds import Bound, Requirement, Side, System, list_bounds
from elastic_consistency.execution.probes.aggregate import AggregateSequence
from elastic_consistency.execution.probes.applied import AppliedSequence
from elastic_consistency.execution.probes.base import AbstractProbe
from elastic_consistency.execution.probes.started import StartedSequence
from elastic_consistency.execution.quantities import Quantity
from elastic_consistency.schedule import Schedule
from elastic_consistency.studies.judging.figures import Values, figures_of
from elastic_consistency.studies.judging.limits import limits_of
from elastic_consistency.studies.judging.requirements_met import unmet
from elastic_consistency.studies.judging.situation import Situation
from elastic_consistency.studies.study import Certificate, Contender, Study

MOST_JOBS = 1000  # a trace keeps every point up to here, and the proofs need every point

# By quantity: the trace, before the name of its order.
_TRACES = {
    Quantity.GAP: "gap",
    Quantity.MEAN_SQUARED_GRADIENT: "squared_gradient",
    Quantity.SQUARED_DISTANCE: "squared_distance",
}
_PROBES = {
    "started": StartedSequence,
    "applied": AppliedSequence,
    "aggregate": AggregateSequence,
}


@final
@dataclass(frozen=True, slots=True)
class Measured:
    """What a bound is compared with.

    Attributes:
        quantity: Of the trace.
        order: Of the jobs of its auxiliary sequence.
        over_nodes: Whether it is averaged over the nodes of a round.
    """

    quantity: Quantity
    order: str
    over_nodes: bool

    @property
    def trace(self) -> str:
        """Its name among the measurements."""
        return f"{_TRACES[self.quantity]}_{self.order}"


@final
@dataclass(frozen=True, eq=False)
class Agenda:
    """Bounds that speak of one run, and the numbers that they need.

    Attributes:
        situation: The run.
        bounds: Those that are judged.
        known: Those of the catalogue that speak of it: what follows from bounds of B rests on
            these alone, whatever is judged.
    """

    situation: Situation
    bounds: tuple[Bound, ...]
    known: tuple[Bound, ...]

    @cached_property
    def values(self) -> Values:
        """A number for each symbol; B is the least of the bounds of B that apply, if any does."""
        found = figures_of(self.situation)
        proved = [bound.evaluate(found) for bound in self.known if self._gives_b(bound, found)]
        return found | ({"B": min(proved)} if proved else {})

    def _gives_b(self, bound: Bound, values: Values) -> bool:
        proved = bound.side is Side.UPPER and bound.proof is not None
        gap = proved and bound.quantity is Quantity.GAP
        own = gap and self.measured(bound).order != "applied"
        return own and not self.obstacles(bound, values)

    def obstacles(
        self, bound: Bound, values: Values, missing: frozenset[Requirement] | None = None
    ) -> tuple[str, ...]:
        """Why a bound that speaks of the run does not apply; () if it does.

        Args:
            bound: The bound.
            values: Number for each symbol.
            missing: Requirements that are not met; those known before the run by default.
        """
        missing = unmet(self.situation, 0.0) if missing is None else missing
        needed = (
            f"it needs that {r.value}" for r in Requirement if r in bound.requirements & missing
        )
        return (*bound.failed_assumptions(values), *needed)

    def measured(self, bound: Bound) -> Measured:
        """What a bound is compared with."""
        over = not isinstance(bound.scope, str) and bound.scope.over_nodes
        order = self.situation.order(bound.sequence)
        return Measured(bound.quantity, order, over and bound.quantity is Quantity.GAP)

    @property
    def probes(self) -> tuple[AbstractProbe, ...]:
        """What measures all that; the order of the theorems first."""
        orders = dict.fromkeys((self.own_order, *(self.measured(b).order for b in self.bounds)))
        return tuple(_PROBES[o](every=1 if o in self._whole else MOST_JOBS) for o in orders)

    @property
    def own_order(self) -> str:
        """The order in which the system itself counts gradients."""
        return "aggregate" if self.situation.system is System.ROUNDS else "started"

    @property
    def _whole(self) -> frozenset[str]:
        """Orders in which more than gaps is wanted."""
        wanted = (self.measured(b) for b in self.bounds if b.quantity is not Quantity.GAP)
        return frozenset({self.own_order, *(each.order for each in wanted)})

    def tightest(self, missing: frozenset[Requirement]) -> dict[Measured, Bound]:
        """For each gap that is measured the smallest bound that applies."""
        found: dict[Measured, Bound] = {}
        for bound in self.bounds:
            key = self.measured(bound)
            if bound.quantity is not Quantity.GAP or self.obstacles(bound, self.values, missing):
                continue
            if key not in found or self._value(bound) < self._value(found[key]):
                found[key] = bound
        return found

    def _value(self, bound: Bound) -> float:
        return bound.evaluate(self.values)


def agenda_of(
    study: Study, contender: Contender, schedule: Schedule, step_size: float | None = None
) -> Agenda | str:
    """What is judged of a contender on its schedule, or why nothing is.

    Args:
        study: Problem and certificate.
        contender: Protocol, rule and codec.
        schedule: Of the contender.
        step_size: At which gradients enter the auxiliary sequence; a tiny one by default.
    """
    if study.oracle.minimiser() is None:
        return "the constants hold on a ball around the minimiser, which is not known"
    if len(schedule.jobs) > MOST_JOBS:
        return f"a certificate keeps every point, so Certificate.jobs is at most {MOST_JOBS}"
    certificate = study.certificate or Certificate()
    limits = limits_of(study.oracle, certificate.radius)
    step_size = 1e-9 / limits.constants.smoothness if step_size is None else step_size
    situation = Situation(contender, schedule, limits, study.oracle.dimension, step_size)
    refusals = {b.name: _refusal(b, situation) for b in (*list_bounds(), *certificate.own_bounds)}
    known = tuple(bound for bound in list_bounds() if not refusals[bound.name])
    every = (*known, *(b for b in certificate.own_bounds if not refusals[b.name]))
    for name in certificate.bounds:
        if refusals.get(name, "there is no such bound"):
            speak = ", ".join(bound.name for bound in every) or "none"
            return (
                f"{name} does not speak about {contender.name}: "
                f"{refusals.get(name, 'there is no such bound')}; those that do: {speak}"
            )
    wanted = certificate.bounds or tuple(bound.name for bound in every)
    agenda = Agenda(situation, tuple(b for b in every if b.name in wanted), known)
    return _why_nothing(agenda) or agenda


def _refusal(bound: Bound, situation: Situation) -> str:
    """Why nothing is compared with a bound here; "" if something is."""
    if isinstance(bound.scope, str):
        return bound.scope
    if bound.quantity not in _TRACES or not situation.order(bound.sequence):
        return f"nothing measures the {bound.quantity.value} of the {bound.sequence.value} sequence"
    return situation.refusal(bound.scope)


def _why_nothing(agenda: Agenda) -> str:
    """Why none of the bounds applies at any step size; "" if one does."""
    situation = agenda.situation
    values = agenda.values | {"alpha": 1e-9 / situation.limits.constants.smoothness}
    reasons = {bound: agenda.obstacles(bound, values) for bound in agenda.bounds}
    if any(not reason for reason in reasons.values()):
        return ""
    of_gaps = [b for b in agenda.bounds if b.quantity is Quantity.GAP]
    if of_gaps:
        return f"{of_gaps[0].name} says nothing here: {'; '.join(reasons[of_gaps[0]])}"
    if situation.system is None:
        return f"bounds speak of {' or of '.join(system.value for system in System)}"
    if not situation.difference(agenda.own_order).any():
        return "all views of a synchronous round are equal, so that nothing is to be bounded"
    protocol, rule, codec = (
        type(part).__name__
        for part in (
            situation.contender.protocol,
            situation.contender.rule,
            situation.contender.codec,
        )
    )
    return f"no bound of B speaks of a schedule of {protocol} with {rule} and {codec}"
