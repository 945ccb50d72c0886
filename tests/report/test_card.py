"""The verdict card says what was found, in its unit, and bad news as bad news."""

from dataclasses import replace

import numpy as np
import pytest

from elastic_consistency.bounds import get
from elastic_consistency.report.card import CardRow, card, headline
from elastic_consistency.report.wording import number
from elastic_consistency.studies.judging.certified_step import CertifiedStep
from elastic_consistency.studies.real_processes.parity_check import ParityCheck
from elastic_consistency.studies.summaries.schedule_summary import staleness_by_worker
from elastic_consistency.validation import Estimate, Method, exact, judge

_VALUES = {"L": 1.0, "alpha": 0.5, "T": 10.0, "Delta": 4.0, "B": 2.0, "sigma": 1.0}
_PROMISE = 2 * 4.0 / (0.5 * 10.0) + 0.5**2 * 2.0**2 + 0.5 * 1.0**2  # NC1 with these numbers


@pytest.fixture(scope="module")
def judged(reported):
    """judged(estimate, **values): the row of NC1 on a card where it is the only theorem."""

    def row(estimate: Estimate, *, informative: bool = True, **values) -> CardRow:
        bound = get("nonconvex_single_step")
        told = replace(estimate, quantity=bound.quantity, sequence=bound.sequence)
        verdict = judge(told, bound, _VALUES | values, error_rate=0.05)
        certification = replace(
            reported[0].certification, verdicts=(verdict,), informative=(informative,), gaps=()
        )
        rows = card(replace(reported[0], certification=certification))
        (found,) = [r for r in rows if r.section == "theorems" and "nonconvex" in r.value]
        return found

    return row


def _of(outcome, section: str) -> list[CardRow]:
    return [row for row in card(outcome) if row.section.startswith(section)]


def test_times_are_seconds_with_their_interval(reported):
    rows = _of(reported[0], "time to loss")

    assert [row.label for row in rows] == [c.name for c in reported[0].contenders]
    for row, contender in zip(rows, reported[0].contenders, strict=True):
        value, ends = row.value.removesuffix(" s").split(" ", 1)
        assert row.value.endswith("] s")
        assert float(value) == pytest.approx(contender.times_s.mean(), rel=5e-3)
        low, high = (float(end) for end in ends.strip("[]").split(", "))
        assert low <= contender.times_s.mean() <= high


def test_who_does_not_get_there_is_bad_news(reported):
    first, second = reported[0].contenders
    missed = replace(first, time_s=None, reached=3)

    row, other = _of(replace(reported[0], contenders=(missed, second)), "time to loss")

    assert (row.value, row.good) == ("reached in 3 of 4 runs", False)
    assert other.good is None


def test_staleness_is_in_steps_and_of_every_update(reported, small_study):
    from elastic_consistency.studies.comparison.runs import schedule_of

    for row, contender in zip(_of(reported[0], "staleness"), small_study.contenders, strict=True):
        schedules = [
            schedule_of(small_study, contender, seed, found.step_size)
            for seed, found in zip(
                small_study.seeds.timing,
                [next(c for c in reported[0].contenders if c.name == contender.name)] * 2,
                strict=True,
            )
        ]
        each = [np.concatenate(staleness_by_worker(schedule)) for schedule in schedules]
        mean = float(np.mean([steps.mean() for steps in each]))
        p99, most = np.quantile(np.concatenate(each), 0.99), max(steps.max() for steps in each)
        assert row.value == f"mean {number(mean)}, p99 {p99:g}, max {most} steps"


@pytest.mark.parametrize(
    ("lower", "upper", "word", "good"),
    [
        (0.1, _PROMISE * 0.99, "CONSISTENT", True),
        (_PROMISE * 1.01, 9.0, "VIOLATED", False),
        (0.1, _PROMISE * 1.01, "INCONCLUSIVE", None),
    ],
)
def test_a_verdict_is_told_as_it_was_judged(judged, lower, upper, word, good):
    middle = (lower + upper) / 2
    estimate = Estimate(middle, lower, upper, 0.95, Method.EMPIRICAL_BERNSTEIN, n_replicates=9)

    row = judged(estimate)

    assert (row.note, row.good) == (word, good)
    assert row.value.startswith(f"measured {number(middle)}, at most {number(upper)}; ")
    assert row.value.endswith(f"bound {number(_PROMISE)} (nonconvex_single_step)")


def test_a_theorem_that_does_not_apply_is_neither_good_nor_consistent(judged):
    """The step size is twice 1 / L."""
    row = judged(exact(0.1), alpha=2.0)

    assert row.note.startswith("NOT APPLICABLE: ")
    assert "alpha" in row.note
    assert "bound -" in row.value
    assert row.good is None


def test_estimated_constants_make_a_verdict_conditional(judged):
    smoothness = Estimate(1.0, 0.99, 1.01, 0.99, Method.EMPIRICAL_BERNSTEIN, n_replicates=9)

    row = judged(exact(0.1), L=smoothness)

    assert (row.note, row.good) == ("CONDITIONAL", None)


def test_a_bound_that_says_nothing_is_no_good_news(judged):
    row = judged(exact(0.1), informative=False)

    assert row.note == "CONSISTENT, but the bound is larger than anything possible here"
    assert row.good is None


@pytest.mark.parametrize(
    ("farthest", "word", "good"), [(1.2, "stayed", True), (1.3, "LEFT:", False)]
)
def test_leaving_the_ball_of_the_constants_is_bad_news(reported, farthest, word, good):
    certification = replace(reported[0].certification, farthest=farthest, radius=1.25)

    rows = card(replace(reported[0], certification=certification))

    (row,) = [row for row in rows if row.label == "ball of the constants"]
    assert (row.value.split()[0], row.good) == (word, good)
    assert row.value.endswith(f"{farthest:.3f} R0, allowed 1.25 R0")


@pytest.mark.parametrize(
    ("useful", "note"),
    [
        (None, ""),
        (0.5, ""),
        (0.25, "it says something up to 0.25"),
        (0.0, "as everywhere"),
    ],
)
def test_a_certified_step_says_up_to_where_it_promises_anything(reported, useful, note):
    step = CertifiedStep("theorem", 0.5, "alpha <= 1/L", useful=useful)
    certification = replace(reported[0].certification, steps=(step,))

    (row,) = _of(replace(reported[0], certification=certification), "largest certified step size")

    assert (row.label, row.value) == ("theorem", "0.5 (step size <= 1/L)")
    assert row.note.endswith(note)
    assert bool(row.note) == bool(note)


@pytest.mark.parametrize(("error", "good"), [(1e-13, True), (1e-11, False)])
def test_a_replay_that_differs_is_bad_news(reported, error, good):
    check = ParityCheck("first", "0" * 64, 2, "gloo", "float64", error, 1e-12, (0,))

    (row,) = _of(replace(reported[0], parity=(check,)), "replay parity")

    assert (row.value, row.good) == (f"{error:.1e} relative", good)


def test_savings_are_told_first_and_with_their_interval(reported):
    outcome = reported[0]
    (row,), (saving,) = _of(outcome, "saving"), outcome.savings

    assert row.label == "R&D <async> over synchronous"
    assert saving.share is not None
    slow, fast = (c.times_s.mean() for c in (outcome.contenders[1], outcome.contenders[0]))
    assert float(row.value.split("%")[0]) == pytest.approx(100 * (1 - fast / slow), abs=0.06)
    assert row.good is saving.pays
    assert headline(outcome) == saving.sentence
