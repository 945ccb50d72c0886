"""Heavy-ball momentum is SGD on a shifted sequence, at distance mu M / (1 - mu)."""

import sympy as sp

from elastic_consistency.bounds import lemmas
from elastic_consistency.bounds.bound import Bound, Side, Source, Status
from elastic_consistency.bounds.derivation import Derivation
from elastic_consistency.bounds.recursions import Recursion
from elastic_consistency.bounds.requirements import Requirement
from elastic_consistency.bounds.steps import Combination, VectorIdentity
from elastic_consistency.bounds.symbols import M, alpha, mu
from elastic_consistency.bounds.vectors import norm, vector
from elastic_consistency.execution.quantities import Quantity, Sequence


def prove() -> Derivation:
    """Return the proof: z takes SGD steps, and |m| stays below M / (1 - mu)."""
    x, momentum, gradient = vector("x"), vector("m"), vector("G")
    shift = alpha * mu / (1 - mu)
    following = mu * momentum + gradient
    shifted = VectorIdentity(
        "z = x - shift m takes an SGD step of size alpha / (1 - mu)",
        left=(x - alpha * following - shift * following) - (x - shift * momentum),
        right=(-alpha / (1 - mu)) * gradient,
    )
    grows = Combination(
        "momentum grows by at most M",
        goal=(norm(following), mu * norm(momentum) + M),
        terms=(
            (sp.S.One, lemmas.minkowski(mu * momentum, gradient)),
            (sp.S.One, lemmas.second_moment(gradient)),
        ),
    )
    end = norm(vector("m_t"))
    stays = Recursion(
        "momentum stays bounded", grows, norm(momentum), end, sp.Symbol("t", positive=True)
    )
    quantity = norm(shift * vector("m_t")) / (alpha / (1 - mu))
    gap = Combination(
        "gap",
        goal=(quantity, mu / (1 - mu) * M),
        terms=(
            (mu, stays),
            (mu * mu ** sp.Symbol("t", positive=True), lemmas.starts_at_zero(norm(momentum))),
        ),
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
    proof=prove,
    tight=True,
    note="The gap is divided by the step size alpha / (1 - mu) of the shifted sequence.",
)
