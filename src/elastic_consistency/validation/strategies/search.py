"""Targeted search: the study that comes nearest to a bound."""

from hypothesis import Phase, given, settings, target
from hypothesis import strategies as st

from elastic_consistency.bounds import Bound
from elastic_consistency.validation.small_study import SmallStudy, judge_exactly
from elastic_consistency.validation.verdict import Verdict


def find_tightest(
    bound: Bound,
    study: st.SearchStrategy[SmallStudy],
    *,
    values: dict[str, float] | None = None,
    examples: int = 200,
) -> tuple[SmallStudy, Verdict]:
    """The study with the largest measured / bound, found by targeted property-based testing.

    It does not stop at a violation and shrinks nothing; it climbs.

    Args:
        bound: The theorem.
        study: Studies to try.
        values: Constants that a study does not know by itself.
        examples: Studies to try.

    Raises:
        ValueError: If the bound says nothing about any of them.
    """
    best: list[tuple[float, SmallStudy, Verdict]] = []

    @settings(
        max_examples=examples,
        phases=(Phase.generate, Phase.target),
        derandomize=True,
        deadline=None,
        database=None,
    )
    @given(study)
    def climb(trial: SmallStudy) -> None:
        verdict = judge_exactly(trial, bound, values)
        if verdict.tightness is None:
            return
        target(verdict.tightness)
        if not best or verdict.tightness > best[0][0]:
            best[:] = [(verdict.tightness, trial, verdict)]

    climb()
    if not best:
        raise ValueError(f"study must draw studies that {bound.name} is about, got none.")
    return best[0][1], best[0][2]
