"""Gaps of error feedback with a contractive codec: the sharp constant and the published ones."""

import sympy as sp

from elastic_consistency.bounds.bound import Bound, Side, Source, Status
from elastic_consistency.bounds.proofs import lemmas
from elastic_consistency.bounds.proofs.derivation import Derivation
from elastic_consistency.bounds.proofs.gap_sums import GAP
from elastic_consistency.bounds.proofs.recursions import Recursion
from elastic_consistency.bounds.proofs.steps import Combination, SquareRoot
from elastic_consistency.bounds.proofs.vectors import norm, squared_norm, vector
from elastic_consistency.bounds.requirements import Requirement
from elastic_consistency.bounds.scope import Scope, System
from elastic_consistency.bounds.symbols import M, alpha, gamma
from elastic_consistency.execution.quantities import Quantity, Sequence

_PAGE = "docs/theory/error_feedback.md"
_STEPS = sp.Symbol("t", positive=True)
_REQUIRED = frozenset(
    {Requirement.SECOND_MOMENT, Requirement.ERROR_FEEDBACK, Requirement.CONTRACTION}
)
_ROOT = sp.sqrt(gamma)


def residual_steps() -> tuple[Combination, Recursion, Combination]:
    """Return the steps that end in |e_t| <= sqrt(gamma) / (1 - sqrt(gamma)) alpha M."""
    e, update, left = vector("e"), vector("G"), vector("e+")
    grows = Combination(
        "residual after one step",
        goal=(norm(left), _ROOT * norm(e) + _ROOT * alpha * M),
        terms=(
            (sp.S.One, lemmas.contraction(left, e + alpha * update)),
            (_ROOT, lemmas.minkowski(e, alpha * update)),
            (_ROOT * alpha, lemmas.second_moment(update)),
        ),
    )
    stays = Recursion("residual stays bounded", grows, norm(e), norm(vector("e_t")), _STEPS)
    bounded = Combination(
        "residual",
        goal=(norm(vector("e_t")), _ROOT / (1 - _ROOT) * alpha * M),
        terms=((sp.S.One, stays), (_ROOT**_STEPS, lemmas.starts_at_zero(norm(e)))),
    )
    return grows, stays, bounded


def prove_by_minkowski() -> Derivation:
    """Return the proof of the sharp constant."""
    grows, stays, bounded = residual_steps()
    gap = Combination(
        "gap",
        goal=(GAP / alpha, _ROOT / (1 - _ROOT) * M),
        terms=((1 / alpha, bounded), (1 / alpha, lemmas.residual_gap(vector("e_t")))),
    )
    return Derivation(GAP / alpha, (grows, stays, bounded, gap))


def prove_by_young(parameter: sp.Expr, *, limit: sp.Expr, root: sp.Expr) -> Derivation:
    """Return the proof with |a + b|^2 <= (1 + b) |a|^2 + (1 + 1/b) |b|^2.

    Args:
        parameter: Young's b, an expression in gamma.
        limit: What the resulting square of the constant is weakened to, in units of M^2.
        root: Its root.
    """
    e, update, left = vector("e"), vector("G"), vector("e+")
    q = gamma * (1 + parameter)
    constant = gamma * (1 + 1 / parameter) * alpha**2 * M**2
    grows = Combination(
        "residual after one step",
        goal=(squared_norm(left), q * squared_norm(e) + constant),
        terms=(
            (sp.S.One, lemmas.squared_contraction(left, e + alpha * update)),
            (gamma / parameter, lemmas.square(parameter * e - alpha * update)),
            (gamma * (1 + 1 / parameter) * alpha**2, lemmas.squared_second_moment(update)),
        ),
    )
    end = squared_norm(vector("e_t"))
    stays = Recursion("residual stays bounded", grows, squared_norm(e), end, _STEPS)
    bounded = Combination(
        "squared residual",
        goal=(end, limit * alpha**2 * M**2),
        terms=((sp.S.One, stays), (q**_STEPS, lemmas.starts_at_zero(squared_norm(e)))),
    )
    norm_bounded = SquareRoot("root", bounded, root * alpha * M)
    gap = Combination(
        "gap",
        goal=(GAP / alpha, root * M),
        terms=((1 / alpha, norm_bounded), (1 / alpha, lemmas.residual_gap(vector("e_t")))),
    )
    return Derivation(GAP / alpha, (grows, stays, bounded, norm_bounded, gap))


_SCOPE = Scope(System.ROUNDS, ("all_reduce",), codecs=("error_feedback",))

error_feedback_gap = Bound(
    name="error_feedback_gap",
    title="error feedback with a contraction gamma, one node or p averaging nodes",
    quantity=Quantity.GAP,
    sequence=Sequence.ERROR_CORRECTED,
    side=Side.UPPER,
    expression=_ROOT / (1 - _ROOT) * M,
    assumptions=(sp.Lt(gamma, 1),),
    requirements=_REQUIRED,
    source=Source(_PAGE, Status.DERIVED),
    proof=prove_by_minkowski,
    tight=True,
    note="Q(w) = (1 - sqrt(gamma)) w with a constant gradient attains it.",
    scope=_SCOPE,
)

_PUBLISHED_SQUARE = (2 - gamma) * gamma / (1 - gamma) ** 3
published_error_feedback_gap = Bound(
    name="published_error_feedback_gap",
    title="error feedback, the constant of the elastic consistency paper",
    quantity=Quantity.GAP,
    sequence=Sequence.ERROR_CORRECTED,
    side=Side.UPPER,
    expression=sp.sqrt(_PUBLISHED_SQUARE) * M,
    assumptions=(sp.Lt(gamma, 1),),
    requirements=_REQUIRED,
    source=Source(
        "Nadiradze, Markov, Chatterjee, Kungurtsev, Alistarh (2021), table of constants",
        Status.REPRODUCED,
    ),
    proof=lambda: prove_by_young(
        1 - gamma, limit=_PUBLISHED_SQUARE, root=sp.sqrt(_PUBLISHED_SQUARE)
    ),
    note="Young's inequality with b = 1 - gamma; touches the sharp one at gamma = .382 only.",
    scope=_SCOPE,
)

_KARIMIREDDY_SQUARE = 4 * gamma / (1 - gamma) ** 2
karimireddy_error_feedback_gap = Bound(
    name="karimireddy_error_feedback_gap",
    title="error feedback, the constant of Karimireddy et al.",
    quantity=Quantity.GAP,
    sequence=Sequence.ERROR_CORRECTED,
    side=Side.UPPER,
    expression=2 * _ROOT / (1 - gamma) * M,
    assumptions=(sp.Lt(gamma, 1), sp.Gt(gamma, 0, evaluate=False)),
    requirements=_REQUIRED,
    source=Source("Karimireddy, Rebjock, Stich, Jaggi (2019), Lemma 3", Status.REPRODUCED),
    proof=lambda: prove_by_young(
        (1 - gamma) / (2 * gamma), limit=_KARIMIREDDY_SQUARE, root=2 * _ROOT / (1 - gamma)
    ),
    note="Below the elastic consistency constant for gamma > 2/3; looser than the sharp one.",
    scope=_SCOPE,
)
