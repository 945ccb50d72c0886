"""Strategies for whole studies, and the assertions that test a theorem or a method on them."""

from collections.abc import Callable, Mapping

from hypothesis import Phase, currently_in_test_context, given, reject, settings, target
from hypothesis import strategies as st

from elastic_consistency.bounds import Bound
from elastic_consistency.execution import Engine
from elastic_consistency.execution.quantities import Sequence
from elastic_consistency.optimization.compression import AbstractCodec, Identity
from elastic_consistency.optimization.oracles import AbstractOracle
from elastic_consistency.optimization.update_rules import SGD, AbstractRule
from elastic_consistency.schedule import Schedule
from elastic_consistency.simulator import Cluster
from elastic_consistency.simulator.protocols import AbstractProtocol
from elastic_consistency.validation.gaps import aligned_gap, view_difference
from elastic_consistency.validation.judge import ROUNDING
from elastic_consistency.validation.small_study import SmallStudy, judge_exactly
from elastic_consistency.validation.strategies.optimization import oracles, step_sizes
from elastic_consistency.validation.strategies.schedules import schedules, simulated_schedules
from elastic_consistency.validation.timeline_text import timeline_text
from elastic_consistency.validation.verdict import Outcome, Verdict

_SEARCH = (Phase.generate, Phase.target, Phase.shrink)


def studies(
    *,
    schedule: st.SearchStrategy[Schedule] | None = None,
    oracle: st.SearchStrategy[AbstractOracle] | None = None,
    rule: st.SearchStrategy[AbstractRule] | None = None,
    codec: st.SearchStrategy[AbstractCodec] | None = None,
) -> st.SearchStrategy[SmallStudy]:
    """Whole studies; by default any schedule, an exact problem, SGD and no compression."""
    return st.builds(
        SmallStudy,
        schedules() if schedule is None else schedule,
        oracles() if oracle is None else oracle,
        st.builds(SGD, step_sizes()) if rule is None else rule,
        st.just(Identity()) if codec is None else codec,
        st.sampled_from((Engine.ROWS, Engine.FASTEST)),
    )


def assert_bound_holds(
    bound: Bound, study: SmallStudy, *, values: Mapping[str, float] | None = None
) -> Verdict:
    """Fail with a sentence and a timeline if `study` violates `bound`.

    Inside a property test, studies about which the bound says nothing are skipped, and
    Hypothesis is steered to those that come nearest to it.

    Args:
        bound: The theorem.
        study: What to try.
        values: Constants that the study does not know by itself, or that replace its own.

    Raises:
        AssertionError: If the bound is violated, or says nothing outside a property test.
    """
    verdict = judge_exactly(study, bound, values)
    if verdict.outcome is Outcome.VIOLATED:
        raise AssertionError(f"{verdict.sentence}\n{timeline_text(study.schedule)}")
    in_test = currently_in_test_context()
    if verdict.outcome is Outcome.NOT_APPLICABLE:
        if in_test:
            reject()
        raise AssertionError(verdict.sentence)
    if in_test and verdict.tightness is not None:
        target(verdict.tightness, label=f"tightness of {bound.name}")
    return verdict


def assert_elastic(
    protocol: AbstractProtocol,
    limit: float | Callable[[Schedule], float],
    *,
    sequence: Sequence = Sequence.STARTED,
    cluster: st.SearchStrategy[Cluster] | None = None,
    max_jobs: int = 25,
    examples: int = 100,
) -> None:
    """Search for machines on which a protocol has a gap of more than `limit` * M.

    It tries any cluster, checks every schedule and takes the worst gradients; what it finds is
    shrunk to a schedule of a few rows.

    Args:
        protocol: The method under test.
        limit: B for M = 1, a number or a function of the schedule.
        sequence: The auxiliary sequence of B.
        cluster: Clusters to try.
        max_jobs: Jobs of one schedule.
        examples: Schedules to try.

    Raises:
        AssertionError: If it finds any; the message shows the timeline.
        ScheduleError: If the protocol makes a schedule that breaks an invariant.
    """
    drawn = simulated_schedules(protocol=st.just(protocol), cluster=cluster, max_jobs=max_jobs)

    @settings(max_examples=examples, phases=_SEARCH, derandomize=True, deadline=None, database=None)
    @given(drawn)
    def search(schedule: Schedule) -> None:
        schedule.check()
        protocol.restate(schedule)
        gap = aligned_gap(view_difference(schedule, sequence))
        target(gap, label="gap")
        bound = limit(schedule) if callable(limit) else limit
        if gap > bound * (1 + ROUNDING):
            raise AssertionError(
                f"gap {gap:.6g} M > {bound:.6g} M to the {sequence.value} sequence:\n"
                f"{timeline_text(schedule)}"
            )

    try:
        search()
    except AssertionError as failure:
        # The search is deterministic: the sentence and the timeline say all, and the long
        # representation of the schedule that Hypothesis adds would bury them.
        raise AssertionError(str(failure)) from None
