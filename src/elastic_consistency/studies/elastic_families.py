"""Which bounds speak about a contender, and the constants that its schedule gives them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from elastic_consistency.execution.probes.aggregate import AggregateSequence
from elastic_consistency.execution.probes.applied import AppliedSequence
from elastic_consistency.execution.probes.started import StartedSequence
from elastic_consistency.optimization.compression import (
    QSGD,
    ErrorFeedback,
    Identity,
    RandomK,
)
from elastic_consistency.optimization.update_rules import SGD, HeavyBall
from elastic_consistency.schedule import ABSENT, SERVER, Schedule
from elastic_consistency.simulator import Graph, OnePeerExponential
from elastic_consistency.simulator.protocols import (
    AllReduce,
    CrashFaults,
    Gossip,
    LocalSgd,
    MessagePassing,
)
from elastic_consistency.studies.study import Contender

MOST_JOBS = 1000  # a trace keeps every point up to here, and the proofs need every point

_SINGLE = ("nonconvex_single_step", "strongly_convex_single_step")
_PARALLEL = ("nonconvex_parallel_step", "strongly_convex_parallel_step")

Values = dict[str, float]


@final
@dataclass(frozen=True, slots=True)
class GapBound:
    """A bound of the elastic constant B, and what it is compared with.

    Attributes:
        name: Of the bound.
        sequence: Auxiliary sequence against which the views are measured.
        over_nodes: The bound is one of the root mean square over the workers of a round.
        every_path: It holds on every path, so that the gap has a known range.
    """

    name: str
    sequence: str
    over_nodes: bool = False
    every_path: bool = True


@final
@dataclass(frozen=True, slots=True)
class Family:
    """What theory says about contenders of one family.

    Attributes:
        gaps: Bounds of B.
        elastic: The bound whose value is the B of the theorems.
        theorems: Of the squared gradient on average, or of the squared distance at the end.
        sequence: Auxiliary sequence of the theorems.
        steps: T, steps of that sequence.
        probes: What measures all that.
        constants: From M and the dimension to the symbols of the bounds that this family adds.
    """

    gaps: tuple[GapBound, ...]
    elastic: str
    theorems: tuple[str, ...]
    sequence: str
    steps: int
    probes: tuple[Any, ...]
    constants: Callable[[float, int], Values]

    @property
    def names(self) -> tuple[str, ...]:
        """Of all of its bounds."""
        return (*(gap.name for gap in self.gaps), *self.theorems)

    def only(self, names: tuple[str, ...]) -> "Family":
        """The same, with these bounds and no others."""
        return replace(
            self,
            gaps=tuple(gap for gap in self.gaps if gap.name in names),
            theorems=tuple(theorem for theorem in self.theorems if theorem in names),
        )


def family_of(
    contender: Contender, schedule: Schedule, bounds: tuple[str, ...] = ()
) -> Family | str:
    """The family of a contender on its schedule, or why no bound speaks about it.

    Args:
        contender: Protocol, rule and codec.
        schedule: Of the contender.
        bounds: Names of those that are wanted; all that apply by default.
    """
    family = _any_family(contender, schedule)
    if isinstance(family, str) or not bounds:
        return family
    strange = [name for name in bounds if name not in family.names]
    if strange:
        applicable = ", ".join(family.names)
        return f"{strange[0]} does not speak about {contender.name}; those that do: {applicable}"
    return family.only(bounds)


def _any_family(contender: Contender, schedule: Schedule) -> Family | str:
    jobs = schedule.jobs
    if len(jobs) > MOST_JOBS:
        return f"a certificate keeps every point, so Certificate.jobs is at most {MOST_JOBS}"
    if isinstance(contender.protocol, AllReduce):
        return "all views of a synchronous round are equal, so that nothing is to be bounded"
    if schedule.metadata.hosts != (SERVER,):
        return _in_rounds(contender, schedule)
    if schedule.metadata.block_sizes:
        return "the bounds used here speak of models that are read and changed as a whole"
    if not bool((jobs.share == 1).all()):
        return "at a server the bounds need every gradient to be applied, in full"
    return _at_a_server(contender, schedule)


def _at_a_server(contender: Contender, schedule: Schedule) -> Family | str:
    rule, codec = contender.rule, contender.codec
    in_flight = int(schedule.in_flight().max(initial=0))
    stalest = int(schedule.staleness().steps.max(initial=0))
    shared: Values = {"n": schedule.metadata.n_workers, "c_jobs": in_flight, "tau_max": stalest}
    started = (StartedSequence(),)
    if isinstance(rule, SGD) and isinstance(codec, Identity):
        gaps = (
            GapBound("server_started_gap", "started"),
            GapBound("server_applied_gap", "applied"),
        )
        probes = (*started, AppliedSequence(every=MOST_JOBS))
        return Family(gaps, "server_in_flight_gap", _SINGLE, "started", len(schedule.jobs), probes,
                      lambda *_: shared)  # fmt: skip
    if isinstance(rule, HeavyBall) and isinstance(codec, Identity):
        gaps, rest = (GapBound("combined_gap", "started"),), rule.momentum / (1 - rule.momentum)
        return Family(gaps, "combined_gap", _SINGLE, "started", len(schedule.jobs), started,
                      lambda moment, _: shared | {"mu": rule.momentum, "B_1": in_flight * moment,
                                                  "B_2": rest * moment})  # fmt: skip
    if isinstance(rule, SGD) and isinstance(codec, ErrorFeedback):
        every = not isinstance(codec.codec, RandomK | QSGD)
        gaps = (GapBound("server_error_feedback_gap", "started", every_path=every),)
        return Family(gaps, gaps[0].name, _SINGLE, "started", len(schedule.jobs), started,
                      lambda _, d: shared | {"gamma": codec.contraction(d)})  # fmt: skip
    return "at a server the bounds speak of SGD, of momentum, and of SGD with error feedback"


def _in_rounds(contender: Contender, schedule: Schedule) -> Family | str:
    jobs, p = schedule.jobs, schedule.metadata.n_workers
    found = _bound_of_rounds(contender.protocol, p)
    if isinstance(found, str):
        return found
    if not isinstance(contender.rule, SGD) or not isinstance(contender.codec, Identity):
        return "away from a server the bounds speak of plain SGD without compression"
    whole = bool((jobs.share == 1 / p).all() and (jobs.round != ABSENT).all())
    if not whole:
        return f"the bounds speak of rounds in which every gradient counts 1/{p}"
    gap, constants = found
    members = np.bincount(jobs.round)
    constants |= {"p": p, "w_min": float(members.min()) / p}
    return Family((gap,), gap.name, _PARALLEL, "aggregate", len(members), (AggregateSequence(),),
                  lambda *_: constants)  # fmt: skip


def _bound_of_rounds(protocol: Any, p: int) -> tuple[GapBound, Values] | str:
    if isinstance(protocol, MessagePassing):
        return GapBound("message_passing_gap", "aggregate"), {"tau": protocol.lag}
    if isinstance(protocol, CrashFaults) and not protocol.substitute:
        return GapBound("crash_gap", "aggregate"), {"f": len(protocol.crashes)}
    if isinstance(protocol, LocalSgd):
        return GapBound("local_sgd_gap", "aggregate", over_nodes=True), {"H": protocol.steps}
    if isinstance(protocol, Gossip) and protocol.lag == 0:
        return _bound_of_gossip(protocol.topology, p)
    name = type(protocol).__name__
    return f"no bound of B is known here whose constants a schedule of {name} gives"


def _bound_of_gossip(topology: Any, p: int) -> tuple[GapBound, Values] | str:
    if isinstance(topology, Graph):
        rho = mixing_rate(topology)
        return GapBound("gossip_gap", "aggregate", over_nodes=True), {"rho": rho}
    if isinstance(topology, OnePeerExponential) and p & (p - 1) == 0:
        rounds: Values = {"k": p.bit_length() - 1}
        return GapBound("one_peer_exponential_gap", "aggregate", over_nodes=True), rounds
    return "one-peer exponential graphs average exactly only for a power of two"


def mixing_rate(topology: Graph) -> float:
    """rho = ||W - 11'/n||, in the spectral norm, of a graph's mixing matrix."""
    n = topology.n_nodes()
    matrix = np.zeros((n, n))
    for sender in range(n):
        for receiver, weight in topology.receivers(sender, 0):
            matrix[receiver, sender] = weight
    np.fill_diagonal(matrix, 1 - matrix.sum(axis=0))
    return float(np.linalg.norm(matrix - 1 / n, ord=2))
