"""Momentum is SGD of step alpha / (1 - mu) on a shifted sequence, at a distance that is bounded."""

import sympy as sp

from elastic_consistency.bounds.bound import Bound, Side, Source, Status
from elastic_consistency.bounds.proofs import lemmas
from elastic_consistency.bounds.proofs.derivation import Derivation
from elastic_consistency.bounds.proofs.recursions import Recursion
from elastic_consistency.bounds.proofs.steps import Combination, VectorIdentity
from elastic_consistency.bounds.proofs.vectors import Vector, norm, vector
from elastic_consistency.bounds.requirements import Requirement
from elastic_consistency.bounds.scope import Scope, System
from elastic_consistency.bounds.symbols import M, alpha, mu
from elastic_consistency.execution.quantities import Quantity, Sequence

_COUNT = sp.Symbol("t", positive=True)
_GRADIENT, _MOMENTUM = vector("G"), vector("m")
_FOLLOWING = mu * _MOMENTUM + _GRADIENT


def prove(step: Vector, lead: sp.Expr) -> Derivation:
    """Return the proof: z takes SGD steps, and |m| stays below M / (1 - mu).

    Args:
        step: What x moves by, in units of -alpha.
        lead: z = x - alpha lead / (1 - mu) m.
    """
    x, shift = vector("x"), alpha * lead / (1 - mu)
    shifted = VectorIdentity(
        "z = x - shift m takes an SGD step of size alpha / (1 - mu)",
        left=(x - alpha * step - shift * _FOLLOWING) - (x - shift * _MOMENTUM),
        right=(-alpha / (1 - mu)) * _GRADIENT,
    )
    grows = Combination(
        "momentum grows by at most M",
        goal=(norm(_FOLLOWING), mu * norm(_MOMENTUM) + M),
        terms=(
            (sp.S.One, lemmas.minkowski(mu * _MOMENTUM, _GRADIENT)),
            (sp.S.One, lemmas.second_moment(_GRADIENT)),
        ),
    )
    end = vector("m_t")
    stays = Recursion("momentum stays bounded", grows, norm(_MOMENTUM), norm(end), _COUNT)
    quantity = norm(shift * end) / (alpha / (1 - mu))
    gap = Combination(
        "gap",
        goal=(quantity, lead / (1 - mu) * M),
        terms=((lead, stays), (lead * mu**_COUNT, lemmas.starts_at_zero(norm(_MOMENTUM)))),
    )
    return Derivation(quantity, (shifted, grows, stays, gap))


heavy_ball_gap = Bound(
    name="heavy_ball_gap",
    title="heavy-ball momentum as SGD with step alpha / (1 - mu) on a shifted sequence",
    quantity=Quantity.GAP,
    sequence=Sequence.MOMENTUM,
    side=Side.UPPER,
    expression=mu * M / (1 - mu),
    assumptions=(sp.Lt(mu, 1),),
    requirements=frozenset({Requirement.SECOND_MOMENT, Requirement.HEAVY_BALL}),
    source=Source("docs/theory/heavy_ball.md", Status.DERIVED),
    proof=lambda: prove(_FOLLOWING, mu),
    tight=True,
    note="The gap is divided by the step size alpha / (1 - mu) of the shifted sequence.",
    scope=Scope(System.ROUNDS, ("all_reduce",), rules=("heavy_ball",)),
)
nesterov_gap = Bound(
    name="nesterov_gap",
    title="Nesterov momentum as SGD with step alpha / (1 - mu) on a shifted sequence",
    quantity=Quantity.GAP,
    sequence=Sequence.MOMENTUM,
    side=Side.UPPER,
    expression=mu**2 * M / (1 - mu),
    assumptions=(sp.Lt(mu, 1),),
    requirements=frozenset({Requirement.SECOND_MOMENT, Requirement.NESTEROV}),
    source=Source("docs/theory/heavy_ball.md", Status.DERIVED),
    proof=lambda: prove(_GRADIENT + mu * _FOLLOWING, mu**2),
    tight=True,
    note="mu times the gap of the heavy ball, at the same step of the shifted sequence.",
    scope=Scope(System.ROUNDS, ("all_reduce",), rules=("nesterov",)),
)
