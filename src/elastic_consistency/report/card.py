"""The verdict card: the answer of a study in a dozen lines, the same on screen and on the page."""

import math
from collections import Counter
from dataclasses import dataclass
from typing import final

from elastic_consistency.execution.quantities import Quantity
from elastic_consistency.report.wording import (
    basis,
    interval,
    number,
    percentage,
    readable,
    share_of_smoothness,
    verdict_word,
)
from elastic_consistency.studies.comparison.contenders import ContenderResult
from elastic_consistency.studies.comparison.savings import Saving
from elastic_consistency.studies.judging.certification import Certification, GapCurve
from elastic_consistency.studies.judging.certified_step import CertifiedStep
from elastic_consistency.studies.outcome import StudyOutcome
from elastic_consistency.studies.real_processes.parity_check import ParityCheck
from elastic_consistency.validation import Outcome, Verdict

_UNREMARKABLE = (Outcome.CONSISTENT, Outcome.NOT_APPLICABLE)


@final
@dataclass(frozen=True, slots=True)
class CardRow:
    """One line of the card.

    Attributes:
        section: Its heading.
        label: What the figure is.
        value: The figure with its interval and unit.
        note: What it rests on.
        good: True for good news, False for bad news, None for neither.
    """

    section: str
    label: str
    value: str
    note: str = ""
    good: bool | None = None


def card(outcome: StudyOutcome) -> tuple[CardRow, ...]:
    """All lines of the card."""
    rows = [*_times(outcome), *_savings(outcome.savings), *_staleness(outcome.contenders)]
    if outcome.certification is not None:
        rows += _certification(outcome.certification)
    else:
        rows.append(CardRow("theorems", "verdict", "NOT APPLICABLE", outcome.uncertified))
    return (*rows, *map(_parity, outcome.parity))


def headline(outcome: StudyOutcome) -> str:
    """The answer in one or two sentences."""
    if not outcome.savings:
        return f"{outcome.contenders[0].name} ran alone: there is nothing to compare it with."
    return " ".join(saving.sentence for saving in outcome.savings)


def _times(outcome: StudyOutcome) -> list[CardRow]:
    return [_time(outcome, contender) for contender in outcome.contenders]


def _time(outcome: StudyOutcome, contender: ContenderResult) -> CardRow:
    tried = len(contender.candidates)
    share = share_of_smoothness(contender.step_share)
    note = f"step size {number(contender.step_size)} = {share}, best of {tried}"
    section = f"time to loss {number(outcome.target_loss, digits=4)}"
    if contender.time_s is None:
        missed = f"reached in {contender.reached} of {contender.runs} runs"
        if contender.divergences:
            missed += f"; diverged on {len(contender.divergences)} schedules"
        return CardRow(section, contender.name, missed, note, good=False)
    note += f"; {basis(contender.time_s)}"
    return CardRow(section, contender.name, interval(contender.time_s, unit="s"), note)


def _savings(savings: tuple[Saving, ...]) -> list[CardRow]:
    return [
        CardRow(
            "saving",
            f"{saving.contender} over {saving.baseline}",
            "none stated" if saving.share is None else percentage(saving.share),
            saving.sentence
            if saving.share is None
            else f"{100 * saving.share.confidence:g} %, {saving.share.method.value}, "
            f"{saving.share.n_replicates} paired schedules",
            good=saving.pays,
        )
        for saving in savings
    ]


def _staleness(contenders: tuple[ContenderResult, ...]) -> list[CardRow]:
    rows = []
    for contender in contenders:
        figures = contender.staleness
        mean = number(figures.mean.value) if figures.mean else "-"
        value = f"mean {mean}, p99 {figures.p99:g}, max {figures.largest} steps"
        note = f"exact for {len(contender.digests)} schedules"
        rows.append(CardRow("staleness", contender.name, value, note))
    return rows


def _certification(certification: Certification) -> list[CardRow]:
    pairs = zip(certification.verdicts, certification.informative, strict=True)
    judged = {verdict.bound: (verdict, informative) for verdict, informative in pairs}
    curves = [gap for gap in certification.gaps if gap.bound_name in judged]
    rows = [_gap(gap, *judged[gap.bound_name]) for gap in curves]
    rows += _theorems([pair for pair in judged.values() if pair[0].quantity is not Quantity.GAP])
    rows += [_error_rate(certification), _ball(certification)]
    return rows + [_step(step) for step in certification.steps]


def _error_rate(certification: Certification) -> CardRow:
    note = (
        "probability that any true bound is called violated; "
        f"{certification.replicates} replicates of {certification.jobs} gradients on one schedule"
    )
    rate = f"error rate {certification.error_rate:g}"
    return CardRow("theorems", "all verdicts together", rate, note)


def _ball(certification: Certification) -> CardRow:
    inside = certification.farthest <= certification.radius
    word = "stayed within" if inside else "LEFT: went to"
    value = f"{word} {certification.farthest:.3f} R0, allowed {certification.radius:g} R0"
    note = "the constants M and sigma hold on this ball around the minimiser only"
    return CardRow("theorems", "ball of the constants", value, note, good=inside)


def _gap(gap: GapCurve, verdict: Verdict, informative: bool) -> CardRow:  # noqa: FBT001
    return CardRow(
        "B, the elastic constant",
        f"{gap.sequence} sequence",
        f"{_measured(gap.peak, verdict)}; bound {number(gap.bound)} = {_formula(verdict)}",
        f"{verdict_word(verdict, informative=informative)} ({basis(verdict.estimate)})",
        good=_good(verdict),
    )


def _theorems(judged: list[tuple[Verdict, bool]]) -> list[CardRow]:
    """Of each figure the least bound, and whatever is no good news; the rest is only counted."""
    least: dict[Quantity, Verdict] = {}
    for verdict in sorted((each for each, _ in judged), key=_bound_value):
        least.setdefault(verdict.quantity, verdict)
    told = [
        pair
        for pair in judged
        if pair[0] is least[pair[0].quantity] or pair[0].outcome not in _UNREMARKABLE
    ]
    rest = Counter(verdict.outcome.value for verdict, _ in judged) - Counter(
        verdict.outcome.value for verdict, _ in told
    )
    rows = [_theorem(*each) for each in told]
    if rest:
        counts = ", ".join(f"{count} {outcome}" for outcome, count in rest.items())
        rows.append(CardRow("theorems", "other theorems", counts, "all are in the report"))
    return rows


def _bound_value(verdict: Verdict) -> float:
    """For sorting: bounds that do not apply come last."""
    return math.inf if verdict.bound_value is None else verdict.bound_value


def _theorem(verdict: Verdict, informative: bool) -> CardRow:  # noqa: FBT001
    measured = _measured(verdict.estimate.value, verdict)
    return CardRow(
        "theorems",
        verdict.quantity.value.replace("_", " "),
        f"{measured}; bound {number(verdict.bound_value)} ({verdict.bound})",
        verdict_word(verdict, informative=informative),
        good=_good(verdict) if informative or verdict.failed else None,
    )


def _measured(value: float, verdict: Verdict) -> str:
    return f"measured {number(value)}, at most {number(verdict.estimate.upper)}"


def _formula(verdict: Verdict) -> str:
    return " + ".join(readable(term.expression) for term in verdict.terms) or "?"


def _good(verdict: Verdict) -> bool | None:
    return {"consistent": True, "violated": False}.get(verdict.outcome.value)


def _step(step: CertifiedStep) -> CardRow:
    condition = readable(step.condition).replace("alpha", "step size")
    note = ""
    if step.useful is not None and step.useful < step.step_size:
        note = "there its promise is larger than anything possible; "
        note += f"it says something up to {number(step.useful)}" if step.useful else "as everywhere"
    value = f"{number(step.step_size)} ({condition})"
    return CardRow("largest certified step size", step.bound, value, note)


def _parity(check: ParityCheck) -> CardRow:
    label = f"{check.schedule} on {check.ranks} {check.backend} processes"
    if check.error is None:
        return CardRow("replay parity", label, "not run", check.skipped)
    value = f"{check.error:.1e} relative"
    note = f"{check.dtype}; equal means at most {check.tolerance:g}"
    return CardRow("replay parity", label, value, note, good=check.holds)
