"""Judging estimates against bounds, one at a time or a whole report together."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import final

from elastic_consistency.bounds import Bound, Requirement, Side
from elastic_consistency.validation.estimate import Estimate, Method
from elastic_consistency.validation.power import replicates_to_decide
from elastic_consistency.validation.terms import terms_of
from elastic_consistency.validation.verdict import Outcome, Verdict

Values = Mapping[str, float | Estimate]

# Sums of thousands of rounded terms; far below any violation that is worth a word.
ROUNDING = 1e-9


def judge(
    estimate: Estimate,
    bound: Bound,
    values: Values,
    *,
    error_rate: float,
    unmet: Iterable[Requirement] = (),
) -> Verdict:
    """What `estimate` says about `bound`, read off its whole interval.

    A true bound is called VIOLATED with probability at most `error_rate`. An interval that is
    less sure than 1 - error_rate decides nothing.

    Args:
        estimate: The measured figure.
        bound: The theorem.
        values: Number for each symbol of the bound; an Estimate for a constant that was
            estimated, which spends its own error rate and makes the verdict CONDITIONAL.
        error_rate: In (0, 1).
        unmet: Requirements of the bound that the study is known not to meet.

    Raises:
        ValueError: If estimate and bound speak of different quantities.
    """
    if not 0 < error_rate < 1:
        raise ValueError(f"error_rate must be a number in (0, 1), got {error_rate!r}.")
    _refuse_other_quantity(estimate, bound)
    corners = _corners(values)
    failed = (*_failed(bound, corners, unmet), *_other_sequence(estimate, bound))
    if failed:
        sentence = f"{bound.name} says nothing here: {'; '.join(failed)}."
        return _verdict(Outcome.NOT_APPLICABLE, estimate, bound, error_rate, sentence, failed)
    return _judge_applicable(estimate, bound, values, corners, error_rate)


def _judge_applicable(
    estimate: Estimate,
    bound: Bound,
    values: Values,
    corners: list[dict[str, float]],
    error_rate: float,
) -> Verdict:
    limits = [bound.evaluate(corner) for corner in corners]
    at_value = _plain(values)
    conditions = _conditions(estimate, values)
    spent = estimate.error_rate + sum(constant.error_rate for constant in _estimated(values))
    outcome, reason = _outcome(
        _position(estimate, bound, min(limits), max(limits)),
        sure=spent <= error_rate * (1 + ROUNDING),
        estimate=estimate,
        conditions=conditions,
    )
    limit = bound.evaluate(at_value)
    needed = None
    if outcome is Outcome.INCONCLUSIVE and not conditions:
        needed = replicates_to_decide(estimate, limit, error_rate=error_rate)
    sentence = _sentence(estimate, bound, limit, reason, conditions, needed)
    return Verdict(
        outcome=outcome,
        bound=bound.name,
        quantity=bound.quantity,
        sequence=bound.sequence,
        side=bound.side,
        estimate=estimate,
        error_rate=error_rate,
        bound_value=limit,
        sentence=sentence,
        conditional_on=conditions,
        replicates_needed=needed,
        terms=terms_of(bound, at_value),
    )


def _position(estimate: Estimate, bound: Bound, least: float, most: float) -> str:
    """Where the interval lies: "within" the bound, "beyond" it, or "across".

    `least` and `most` differ when constants were estimated; the whole range must agree.
    """
    scale = ROUNDING * max(abs(least), abs(most))
    above = estimate.lower > most + scale
    below = estimate.upper < least - scale
    if bound.side is Side.EQUAL:
        return "beyond" if above or below else "within"
    if bound.side is Side.UPPER:
        return _word(estimate.upper <= least + scale, above)
    return _word(estimate.lower >= most - scale, below)


def _word(within: bool, beyond: bool) -> str:  # noqa: FBT001
    return "within" if within else "beyond" if beyond else "across"


def _outcome(
    position: str, *, sure: bool, estimate: Estimate, conditions: tuple[str, ...]
) -> tuple[Outcome, str]:
    if not sure:
        return Outcome.INCONCLUSIVE, "the interval is less sure than the error rate asks for"
    if position == "across":
        return Outcome.INCONCLUSIVE, "the interval reaches to both sides of the bound"
    if position == "within":
        outcome = Outcome.CONDITIONAL if conditions else Outcome.CONSISTENT
        return outcome, "the whole interval is on the side that the bound allows"
    if conditions:
        return Outcome.INCONCLUSIVE, "the interval is beyond the bound, but constants are estimated"
    if not estimate.method.may_violate:
        return (
            Outcome.INCONCLUSIVE,
            "the interval is beyond the bound, but its method is approximate",
        )
    return Outcome.VIOLATED, "the whole interval is beyond the bound"


def _sentence(
    estimate: Estimate,
    bound: Bound,
    limit: float,
    reason: str,
    conditions: tuple[str, ...],
    needed: int | None,
) -> str:
    sign = {Side.UPPER: "<=", Side.LOWER: ">=", Side.EQUAL: "="}[bound.side]
    measured = f"{estimate.value:.6g}"
    if estimate.method is not Method.EXACT:
        measured += f" in [{estimate.lower:.6g}, {estimate.upper:.6g}]"
    text = (
        f"{bound.quantity.value} measured {measured} ({estimate.method.value}), "
        f"{bound.name} {sign} {limit:.6g}: {reason}"
    )
    if conditions:
        text += f"; given the estimated {', '.join(conditions)}"
    if needed is not None and needed > estimate.n_replicates:
        text += f"; about {needed} replicates would decide"
    return text + "."


def _verdict(
    outcome: Outcome,
    estimate: Estimate,
    bound: Bound,
    error_rate: float,
    sentence: str,
    failed: tuple[str, ...],
) -> Verdict:
    return Verdict(
        outcome=outcome,
        bound=bound.name,
        quantity=bound.quantity,
        sequence=bound.sequence,
        side=bound.side,
        estimate=estimate,
        error_rate=error_rate,
        bound_value=None,
        sentence=sentence,
        failed=failed,
    )


def _refuse_other_quantity(estimate: Estimate, bound: Bound) -> None:
    if estimate.quantity not in (None, bound.quantity):
        raise ValueError(
            f"estimate must be of {bound.quantity} for {bound.name}, got {estimate.quantity}."
        )


def _other_sequence(estimate: Estimate, bound: Bound) -> tuple[str, ...]:
    if estimate.sequence in (None, bound.sequence):
        return ()
    own, other = bound.sequence.value, estimate.sequence.value
    return (f"it speaks of the {own} sequence, not of the {other} one",)


def _estimated(values: Values) -> list[Estimate]:
    return [v for v in values.values() if isinstance(v, Estimate) and v.method is not Method.EXACT]


def _plain(values: Values) -> dict[str, float]:
    return {n: v.value if isinstance(v, Estimate) else float(v) for n, v in values.items()}


def _corners(values: Values) -> list[dict[str, float]]:
    """Every combination of the ends of estimated constants: bounds are monotone in each."""
    ends = {
        name: (value.lower, value.upper)
        if isinstance(value, Estimate) and value.method is not Method.EXACT
        else (value.value if isinstance(value, Estimate) else float(value),)
        for name, value in values.items()
    }
    return [dict(zip(ends, corner, strict=True)) for corner in product(*ends.values())]


def _failed(
    bound: Bound, corners: list[dict[str, float]], unmet: Iterable[Requirement]
) -> tuple[str, ...]:
    of_values = {text: None for corner in corners for text in bound.failed_assumptions(corner)}
    of_study = tuple(f"it needs that {r.value}" for r in unmet if r in bound.requirements)
    return (*of_values, *of_study)


def _conditions(estimate: Estimate, values: Values) -> tuple[str, ...]:
    names = set(estimate.conditional_on)
    for name, value in values.items():
        if isinstance(value, Estimate):
            names |= value.conditional_on | (set() if value.method is Method.EXACT else {name})
    return tuple(sorted(names))


@final
@dataclass(frozen=True, slots=True)
class Claim:
    """One bound at one time of a report, with the means to measure it as surely as needed.

    Attributes:
        estimate: The figure, or a function that makes it at a given confidence.
        bound: The theorem.
        values: Number or Estimate for each symbol of the bound.
        unmet: Requirements of the bound that the study is known not to meet.
    """

    estimate: Estimate | Callable[[float], Estimate]
    bound: Bound
    values: Values
    unmet: frozenset[Requirement] = field(default_factory=frozenset)


def judge_all(claims: Sequence[Claim], *, error_rate: float) -> tuple[Verdict, ...]:
    """A verdict for every claim; any true bound is called VIOLATED with at most `error_rate`.

    The error rate is shared equally among the claims that can err (Bonferroni); exact figures
    cost nothing. The claims may depend on each other in any way.

    Args:
        claims: Every bound at every time of the report.
        error_rate: Of all claims together, in (0, 1).
    """
    share = error_rate / max(1, sum(_can_err(claim) for claim in claims))
    return tuple(
        judge(
            claim.estimate if isinstance(claim.estimate, Estimate) else claim.estimate(1 - share),
            claim.bound,
            claim.values,
            error_rate=share,
            unmet=claim.unmet,
        )
        for claim in claims
    )


def _can_err(claim: Claim) -> bool:
    of_values = bool(_estimated(claim.values))
    exact = isinstance(claim.estimate, Estimate) and claim.estimate.method is Method.EXACT
    return of_values or not exact
