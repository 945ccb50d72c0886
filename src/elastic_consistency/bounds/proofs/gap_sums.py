"""The proof that most gaps share: a view lacks N updates, each of L2 norm at most M."""

import sympy as sp

from elastic_consistency.bounds.proofs import lemmas
from elastic_consistency.bounds.proofs.derivation import Derivation
from elastic_consistency.bounds.proofs.lemmas import JOBS_BETWEEN, SUM_BETWEEN, Premise
from elastic_consistency.bounds.proofs.recursions import Recursion
from elastic_consistency.bounds.proofs.steps import Combination
from elastic_consistency.bounds.proofs.vectors import norm, vector
from elastic_consistency.bounds.symbols import M, alpha

PAGE = "docs/theory/gap_of_a_sum.md"
GAP = norm(vector("x - v"))


def gap_of_a_sum(
    count: Premise,
    *,
    identity: Premise,
    size: Premise | None = None,
    weight: sp.Expr = sp.S.One,
) -> Derivation:
    """Return the proof that a gap of N updates is at most N times the size of one.

    Args:
        count: Premise N <= limit for the number of updates between view and iterate.
        identity: Premise that the gap is the sum of those updates.
        size: Premise |part| <= share |G| for the part of an update that is missing; None if
            updates are missing as a whole.
        weight: Weight of one update in units of the step size.
    """
    total, whole = vector("sum"), vector("G")
    missing = whole if size is None else vector("part")
    shrink = sp.S.One if size is None else size.rhs / norm(whole)
    bits = ((alpha * weight, size),) if size is not None else ()
    one_more = Combination(
        "one more update",
        goal=(norm(total + alpha * weight * missing), norm(total) + alpha * weight * shrink * M),
        terms=(
            (sp.S.One, lemmas.minkowski(total, alpha * weight * missing)),
            *bits,
            (alpha * weight * shrink, lemmas.second_moment(whole)),
        ),
    )
    summed = Recursion("N updates", one_more, norm(total), SUM_BETWEEN, JOBS_BETWEEN)
    gap = Combination(
        "gap",
        goal=(GAP / alpha, sp.expand(count.rhs * weight * shrink) * M),
        terms=(
            (1 / alpha, summed),
            (1 / alpha, lemmas.starts_at_zero(norm(total))),
            (1 / alpha, identity),
            (weight * shrink * M, count),
        ),
    )
    return Derivation(GAP / alpha, (one_more, summed, gap))
