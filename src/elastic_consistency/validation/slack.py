"""Where the slack of a bound is: what each effect may cost, and what it costs here.

A bound sets something aside for each effect. What an effect really costs is seen when it is
removed: figures of a chain of systems, each without one effect more than the last, differ by it.
What is left at the end pays for the initial distance.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

from elastic_consistency.bounds import Bound
from elastic_consistency.optimization.compression import Identity
from elastic_consistency.optimization.oracles import Quadratic
from elastic_consistency.optimization.update_rules import SGD, HeavyBall
from elastic_consistency.schedule import SERVER
from elastic_consistency.validation.adversaries import late_messages, server_schedule
from elastic_consistency.validation.small_study import SmallStudy, judge_exactly
from elastic_consistency.validation.terms import Effect, Term
from elastic_consistency.validation.verdict import Outcome


@final
@dataclass(frozen=True, slots=True)
class Slack:
    """One effect.

    Attributes:
        effect: What it is.
        allowed: What the bound sets aside for it, in the unit of the bound.
        used: What it costs: the figure with it minus the figure without it.
    """

    effect: Effect
    allowed: float
    used: float

    @property
    def slack(self) -> float:
        """Room that is left; negative where an effect costs more than its term."""
        return self.allowed - self.used


def slack_by_effect(
    terms: Sequence[Term], figure: float, without: Sequence[tuple[Effect, float]]
) -> tuple[Slack, ...]:
    """Every effect of a bound with its slack; together they are the margin of the verdict.

    Args:
        terms: Of the verdict.
        figure: What was measured with all effects.
        without: Effects in the order of their removal, each with the figure that is left when
            it and those before it are gone.
    """
    allowed: dict[Effect, float] = {}
    for term in terms:
        allowed[term.effect] = allowed.get(term.effect, 0.0) + term.value
    used = {}
    for effect, left in without:
        used[effect], figure = figure - left, left
    used[Effect.INITIAL_DISTANCE] = figure
    return tuple(
        Slack(effect, allowed.get(effect, 0.0), used.get(effect, 0.0))
        for effect in Effect
        if allowed.get(effect, 0.0) or used.get(effect, 0.0)
    )


def slack_of(
    study: SmallStudy, bound: Bound, *, values: Mapping[str, float] | None = None
) -> tuple[Slack, ...]:
    """Every effect of `bound` in a study: noise, compression, momentum and delay go in turn.

    Args:
        study: What is measured.
        bound: The theorem.
        values: Constants that the study does not know by itself, or that replace its own.

    Raises:
        ValueError: If the bound says nothing about the study.
    """
    verdict, without = judge_exactly(study, bound, values), []
    if verdict.outcome is Outcome.NOT_APPLICABLE:
        raise ValueError(verdict.sentence)
    for effect, removal in _REMOVALS:
        simpler = removal(study)
        if simpler is not study:
            study = simpler
            without.append((effect, study.measure(bound).value))
    return slack_by_effect(verdict.terms, verdict.estimate.value, without)


def _without_noise(study: SmallStudy) -> SmallStudy:
    oracle = study.oracle
    if isinstance(oracle, Quadratic) and oracle.variance:
        return replace(study, oracle=replace(oracle, variance=0.0))
    return study


def _without_compression(study: SmallStudy) -> SmallStudy:
    return study if isinstance(study.codec, Identity) else replace(study, codec=Identity())


def _without_momentum(study: SmallStudy) -> SmallStudy:
    if isinstance(study.rule, HeavyBall):
        return replace(study, rule=SGD(study.rule.auxiliary_step_size))
    return study


def _without_delay(study: SmallStudy) -> SmallStudy:
    """As many jobs one after the other at a server, or as many rounds of nodes in step."""
    schedule = study.schedule
    if schedule.metadata.hosts == (SERVER,):
        prompt = server_schedule([0] * (len(schedule.jobs) - 1), n_workers=1)
    else:
        rounds = int(schedule.jobs.round.max(initial=0)) + 1
        prompt = late_messages(schedule.metadata.n_workers, rounds, lambda *_: 0)
    return replace(study, schedule=prompt)


_REMOVALS: tuple[tuple[Effect, Callable[[SmallStudy], SmallStudy]], ...] = (
    (Effect.NOISE, _without_noise),
    (Effect.COMPRESSION, _without_compression),
    (Effect.MOMENTUM, _without_momentum),
    (Effect.DELAY, _without_delay),
)
