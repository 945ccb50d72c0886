"""Gaps of TopK and of one-bit codecs with error feedback, as cases of a contraction."""

import sympy as sp

from elastic_consistency.bounds.bound import Bound, Side, Source, Status
from elastic_consistency.bounds.constants.error_feedback import (
    error_feedback_gap,
    published_error_feedback_gap,
)
from elastic_consistency.bounds.proofs.specialisation import specialise
from elastic_consistency.bounds.scope import Scope, System
from elastic_consistency.bounds.symbols import K, M, d, gamma
from elastic_consistency.execution.quantities import Quantity, Sequence

_PAGE = "docs/theory/error_feedback.md"
_ATTRIBUTION = "Nadiradze, Markov, Chatterjee, Kungurtsev, Alistarh (2021), table of constants"


def _at(general: Bound, contraction: sp.Expr) -> sp.Expr:
    return general.expression.subs(gamma, contraction)


_TOP_K = Scope(System.ROUNDS, ("all_reduce",), codecs=("error_feedback top_k",))
_ONE_BIT = Scope(System.ROUNDS, ("all_reduce",), codecs=("error_feedback scaled_sign",))

topk_gap = Bound(
    name="topk_gap",
    title="TopK of d coordinates with error feedback",
    quantity=Quantity.GAP,
    sequence=Sequence.ERROR_CORRECTED,
    side=Side.UPPER,
    expression=_at(error_feedback_gap, 1 - K / d),
    assumptions=(sp.Le(K, d),),
    requirements=error_feedback_gap.requirements,
    source=Source(_PAGE, Status.DERIVED),
    proof=lambda: specialise(error_feedback_gap, {gamma: 1 - K / d}),
    note=(
        "Only gamma = 1 - K/d is used. For TopK itself the worst case lies above the conjectured "
        "(2 / pi) (d / K) M: ten gradients with d = 5, K = 1 reach 3.303 M > 3.184 M."
    ),
    scope=_TOP_K,
)
one_bit_gap = Bound(
    name="one_bit_gap",
    title="one-bit scaled sign with error feedback",
    quantity=Quantity.GAP,
    sequence=Sequence.ERROR_CORRECTED,
    side=Side.UPPER,
    expression=_at(error_feedback_gap, 1 - 1 / d),
    assumptions=(sp.Ge(d, 1, evaluate=False),),
    requirements=error_feedback_gap.requirements,
    source=Source(_PAGE, Status.DERIVED),
    proof=lambda: specialise(error_feedback_gap, {gamma: 1 - 1 / d}),
    note="Worst case over gradients; with Gaussian gradients the scaled sign has gamma = .37.",
    scope=_ONE_BIT,
)
published_topk_gap = Bound(
    name="published_topk_gap",
    title="TopK, the constant of the elastic consistency paper",
    quantity=Quantity.GAP,
    sequence=Sequence.ERROR_CORRECTED,
    side=Side.UPPER,
    expression=sp.sqrt(d / K * (d**2 / K**2 - 1)) * M,
    assumptions=(sp.Le(K, d),),
    requirements=error_feedback_gap.requirements,
    source=Source(_ATTRIBUTION, Status.REPRODUCED),
    proof=lambda: specialise(published_error_feedback_gap, {gamma: 1 - K / d}),
    scope=_TOP_K,
)
published_one_bit_gap = Bound(
    name="published_one_bit_gap",
    title="one-bit, the constant of the elastic consistency paper",
    quantity=Quantity.GAP,
    sequence=Sequence.ERROR_CORRECTED,
    side=Side.UPPER,
    expression=sp.sqrt(d * (d**2 - 1)) * M,
    assumptions=(sp.Ge(d, 1, evaluate=False),),
    requirements=error_feedback_gap.requirements,
    source=Source(_ATTRIBUTION, Status.REPRODUCED),
    proof=lambda: specialise(published_error_feedback_gap, {gamma: 1 - 1 / d}),
    scope=_ONE_BIT,
)
