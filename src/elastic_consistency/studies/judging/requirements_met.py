"""What bounds require in words, checked on a run; what cannot be checked is not met."""

from collections.abc import Callable

import numpy as np

from elastic_consistency.bounds import Requirement
from elastic_consistency.optimization.compression import ErrorFeedback, Identity
from elastic_consistency.optimization.update_rules import HeavyBall, Nesterov
from elastic_consistency.schedule import SERVER
from elastic_consistency.schedule.staleness import at_most_one_unapplied_job
from elastic_consistency.simulator import Graph, OnePeerExponential
from elastic_consistency.studies.judging.situation import Situation

_ROUNDING = 1e-9
Check = Callable[[Situation, float], bool]


def unmet(situation: Situation, farthest: float) -> frozenset[Requirement]:
    """Requirements that are not known to be met.

    Args:
        situation: The run.
        farthest: Largest distance of any model from the minimiser.
    """
    return frozenset(
        requirement
        for requirement in Requirement
        if requirement not in CHECKS or not CHECKS[requirement](situation, farthest)
    )


def _always(s: Situation, farthest: float) -> bool:
    return True


def _inside(s: Situation, farthest: float) -> bool:
    return farthest <= s.limits.radius


def _oblivious(s: Situation, farthest: float) -> bool:
    return not s.schedule.metadata.decisions


def _unbiased(s: Situation, farthest: float) -> bool:
    return s.limits.heterogeneity == 0 and _oblivious(s, farthest)


def _has_minimiser(s: Situation, farthest: float) -> bool:
    return s.limits.constants.strong_convexity > 0


def _one_model(s: Situation, farthest: float) -> bool:
    return s.schedule.metadata.hosts == (SERVER,)


def _held_back(s: Situation, farthest: float) -> bool:
    return s.has_rounds and bool((s.aggregate_difference <= 0).all())


def _catches_up(s: Situation, farthest: float) -> bool:
    """Whether a view and the aggregate differ by gradients of one round at most."""
    if not s.has_rounds:
        return False
    rounds = s.schedule.jobs.round
    differs = (s.aggregate_difference != 0).any(axis=1)
    latest = np.where(differs, rounds, -1).max(axis=1)
    return bool((~differs | (rounds == latest[:, None])).all())


def _synchronous(s: Situation, farthest: float) -> bool:
    return s.has_rounds and bool((s.members == s.schedule.metadata.n_workers).all())


def _mixes(topology: type) -> Check:
    def check(s: Situation, farthest: float) -> bool:
        protocol = s.contender.protocol
        on_time = getattr(protocol, "lag", None) == 0
        return on_time and isinstance(getattr(protocol, "topology", None), topology)

    return check


def _averages_exactly(s: Situation, farthest: float) -> bool:
    nodes = s.schedule.metadata.n_workers
    return _mixes(OnePeerExponential)(s, farthest) and nodes & (nodes - 1) == 0


def _of_rule(rule: type) -> Check:
    return lambda s, _: isinstance(s.contender.rule, rule)


CHECKS: dict[Requirement, Check] = {
    Requirement.SMOOTH: _always,
    Requirement.LOWER_BOUNDED: _always,
    Requirement.CONVEX: _has_minimiser,
    Requirement.STRONGLY_CONVEX: _has_minimiser,
    Requirement.UNBIASED: _unbiased,
    Requirement.OBLIVIOUS: _oblivious,
    Requirement.VARIANCE: _inside,
    Requirement.SECOND_MOMENT: _inside,
    Requirement.BOUNDED_GRADIENT: _inside,
    Requirement.ELASTIC: _inside,
    Requirement.CONSTANT_STEP_SIZE: lambda s, _: s.contender.rule.constant_step,
    Requirement.STARTED_ORDER: _one_model,
    Requirement.APPLIED_ORDER: _one_model,
    Requirement.UNIT_WEIGHT: lambda s, _: s.heaviest <= 1 + _ROUNDING,
    Requirement.ONE_UNAPPLIED_JOB: lambda s, _: at_most_one_unapplied_job(s.schedule),
    # The figures of these are the largest of the schedule itself.
    Requirement.BOUNDED_STALENESS: _always,
    Requirement.BOUNDED_MISSING: _always,
    Requirement.HELD_BACK: _held_back,
    Requirement.CATCH_UP: _catches_up,
    Requirement.SYNCHRONOUS: _synchronous,
    Requirement.CONTRACTION: lambda s, _: s.contender.codec.contraction(s.dimension) < 1,
    Requirement.ERROR_FEEDBACK: lambda s, _: isinstance(
        s.contender.codec, ErrorFeedback | Identity
    ),
    Requirement.DOUBLY_STOCHASTIC: _mixes(Graph),
    Requirement.COLUMN_STOCHASTIC: _mixes(Graph),
    Requirement.MASS_MIXING: _mixes(Graph),
    Requirement.MASS_BOUNDED: _mixes(Graph),
    Requirement.EXACT_AFTER_K: _averages_exactly,
    Requirement.HEAVY_BALL: _of_rule(HeavyBall),
    Requirement.NESTEROV: _of_rule(Nesterov),
}
"""By requirement: whether a run is known to meet it."""
