"""Gaps of synchronous mixing: replicas against their mean."""

import sympy as sp

from elastic_consistency.bounds.bound import Bound, Side, Source, Status
from elastic_consistency.bounds.proofs import lemmas
from elastic_consistency.bounds.proofs.derivation import Derivation
from elastic_consistency.bounds.proofs.gap_sums import GAP, gap_of_a_sum
from elastic_consistency.bounds.proofs.lemmas import JOBS_BETWEEN
from elastic_consistency.bounds.proofs.recursions import Recursion
from elastic_consistency.bounds.proofs.steps import Combination
from elastic_consistency.bounds.proofs.vectors import norm, vector
from elastic_consistency.bounds.requirements import Requirement
from elastic_consistency.bounds.scope import Scope, System
from elastic_consistency.bounds.symbols import M, alpha, k, rho
from elastic_consistency.execution.quantities import Quantity, Sequence

_PAGE = "docs/theory/mixing.md"
_STEPS = sp.Symbol("t", positive=True)
_REQUIRED = frozenset({Requirement.SECOND_MOMENT, Requirement.DOUBLY_STOCHASTIC})


def prove_adapt_then_combine() -> Derivation:
    """Return the proof for X <- W (X - alpha G): mixing shrinks the gradient as well."""
    y, gradient, mixed = vector("y"), vector("G"), vector("y+")
    grows = Combination(
        "deviation after one step",
        goal=(norm(mixed), rho * norm(y) + rho * alpha * M),
        terms=(
            (sp.S.One, lemmas.mixing(mixed, y - alpha * gradient)),
            (rho, lemmas.minkowski(y, -alpha * gradient)),
            (rho * alpha, lemmas.second_moment(gradient)),
        ),
    )
    return _stay(grows, rho * M / (1 - rho))


def prove_combine_then_adapt() -> Derivation:
    """Return the proof for X <- W X - alpha G."""
    y, gradient = vector("y"), vector("G")
    mixed, moved = vector("(W-J)y"), vector("(I-J)G")
    grows = Combination(
        "deviation after one step",
        goal=(norm(mixed - alpha * moved), rho * norm(y) + alpha * M),
        terms=(
            (sp.S.One, lemmas.minkowski(mixed, -alpha * moved)),
            (sp.S.One, lemmas.mixing(mixed, y)),
            (alpha, lemmas.projection(moved, gradient)),
            (alpha, lemmas.second_moment(gradient)),
        ),
    )
    return _stay(grows, M / (1 - rho))


def _stay(grows: Combination, limit: sp.Expr) -> Derivation:
    start = norm(vector("y"))
    stays = Recursion("deviation stays bounded", grows, start, GAP, _STEPS)
    gap = Combination(
        "gap",
        goal=(GAP / alpha, limit),
        terms=((1 / alpha, stays), (rho**_STEPS / alpha, lemmas.starts_at_zero(start))),
    )
    return Derivation(GAP / alpha, (grows, stays, gap))


gossip_gap = Bound(
    name="gossip_gap",
    title="X <- W (X - alpha G), doubly stochastic W, rms over nodes",
    quantity=Quantity.GAP,
    sequence=Sequence.MEAN,
    side=Side.UPPER,
    expression=rho * M / (1 - rho),
    assumptions=(sp.Lt(rho, 1),),
    requirements=_REQUIRED,
    source=Source(_PAGE, Status.DERIVED),
    proof=prove_adapt_then_combine,
    tight=True,
    note="The worst single node can reach more: ring of 8: 5.3125 against 4.1213.",
    scope=Scope(System.ROUNDS, ("gossip graph",), over_nodes=True),
)
gossip_combine_first_gap = Bound(
    name="gossip_combine_first_gap",
    title="X <- W X - alpha G, doubly stochastic W, rms over nodes",
    quantity=Quantity.GAP,
    sequence=Sequence.MEAN,
    side=Side.UPPER,
    expression=M / (1 - rho),
    assumptions=(sp.Lt(rho, 1),),
    requirements=_REQUIRED,
    source=Source(_PAGE, Status.DERIVED),
    proof=prove_combine_then_adapt,
    tight=True,
    scope="no protocol of the package mixes before it steps",
)
one_peer_exponential_gap = Bound(
    name="one_peer_exponential_gap",
    title="one-peer exponential graph of 2^k nodes, adapt then combine, rms over nodes",
    quantity=Quantity.GAP,
    sequence=Sequence.MEAN,
    side=Side.UPPER,
    expression=(k - 1) * M,
    assumptions=(sp.Ge(k, 1, evaluate=False),),
    requirements=frozenset({Requirement.SECOND_MOMENT, Requirement.EXACT_AFTER_K}),
    source=Source(_PAGE, Status.DERIVED),
    proof=lambda: gap_of_a_sum(
        lemmas.rounds_since_exact(JOBS_BETWEEN),
        identity=lemmas.exact_after_k(),
        size=lemmas.part(vector("part"), vector("G")),
    ),
    tight=True,
    scope=Scope(System.ROUNDS, ("gossip one_peer_exponential",), over_nodes=True),
)
