"""Numbers and intervals as short text."""

import math

from elastic_consistency.validation import Estimate, Method, Verdict


def number(value: float | None, *, digits: int = 3) -> str:
    """A number with `digits` significant digits; a dash where there is none."""
    if value is None or math.isnan(value):
        return "-"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if value != 0 and not 1e-4 <= abs(value) < 1e6:
        return f"{value:.{digits - 1}e}"
    text = f"{value:.{digits}g}"
    return f"{float(text):.0f}" if "e" in text else text


def interval(estimate: Estimate | None, *, unit: str = "") -> str:
    """Value, interval and unit, as in 0.74 [0.70, 0.77] s."""
    if estimate is None:
        return "-"
    text = number(estimate.value)
    if estimate.method is not Method.EXACT:
        text += f" [{number(estimate.lower)}, {number(estimate.upper)}]"
    return f"{text} {unit}".strip()


def percentage(estimate: Estimate) -> str:
    """A share as a percentage with its interval."""
    return f"{estimate.value:.1%} [{estimate.lower:.1%}, {estimate.upper:.1%}]"


def basis(estimate: Estimate) -> str:
    """What an interval rests on: confidence, method, schedules and replicates."""
    if estimate.method is Method.EXACT:
        return "exact"
    rests_on = f"{estimate.n_replicates} replicates"
    if estimate.n_schedules > 1:
        rests_on = f"{estimate.n_schedules} schedules x {rests_on}"
    return f"{100 * estimate.confidence:.6g} %, {estimate.method.value}, {rests_on}"


def readable(expression: str) -> str:
    """An expression of Python as one would write it: powers with ^, products without a sign."""
    return expression.replace("**", "^").replace("*", " ")


def verdict_word(verdict: Verdict, *, informative: bool) -> str:
    """The outcome, and whether the bound says anything that was not obvious."""
    word = verdict.outcome.value.upper()
    if verdict.failed:
        return f"{word}: {readable('; '.join(verdict.failed))}"
    if verdict.bound_value is not None and not informative:
        return f"{word}, but the bound is larger than anything possible here"
    return word


def share_of_smoothness(share: float) -> str:
    """A step size in units of 1 / L, as in 1/(16 L)."""
    inverse = 1 / share
    if abs(inverse - round(inverse)) < 1e-9 and inverse > 1:
        return f"1/({round(inverse)} L)"
    return f"{number(share)}/L"
