"""Gaps of local SGD: H steps on each of n nodes between two averagings."""

import sympy as sp

from elastic_consistency.bounds.bound import Bound, Side, Source, Status
from elastic_consistency.bounds.proofs import lemmas
from elastic_consistency.bounds.proofs.derivation import Derivation
from elastic_consistency.bounds.proofs.gap_sums import GAP, gap_of_a_sum
from elastic_consistency.bounds.proofs.lemmas import JOBS_BETWEEN
from elastic_consistency.bounds.proofs.recursions import Recursion
from elastic_consistency.bounds.proofs.steps import Combination, SquareRoot
from elastic_consistency.bounds.proofs.vectors import squared_norm, vector
from elastic_consistency.bounds.requirements import Requirement
from elastic_consistency.bounds.scope import Scope, System
from elastic_consistency.bounds.symbols import H, M, alpha, n, sigma
from elastic_consistency.execution.quantities import Quantity, Sequence

_PAGE = "docs/theory/mixing.md"
_LOCAL = sp.Ge(H, 1, evaluate=False)


def prove_noise() -> Derivation:
    """Return the proof for a linear loss: only noise makes replicas drift apart."""
    drift = vector("drift")
    squared = (n - 1) / n * sigma**2
    one_noise = _one_noise()
    grows = Combination(
        "one more local step",
        goal=(squared_norm(vector("drift+")), squared_norm(drift) + alpha**2 * squared),
        terms=(
            (sp.S.One, lemmas.definition("drift+", drift - alpha * vector("deviation"))),
            (-2 * alpha, lemmas.orthogonal_noise(drift, vector("deviation"))),
            (alpha**2, one_noise),
        ),
    )
    start, end = squared_norm(drift), squared_norm(vector("x - v"))
    all_steps = Recursion("local steps", grows, start, end, JOBS_BETWEEN)
    whole = Combination(
        "squared gap",
        goal=(end, (H - 1) * squared * alpha**2),
        terms=(
            (sp.S.One, all_steps),
            (sp.S.One, lemmas.starts_at_zero(start)),
            (alpha**2 * squared, lemmas.local_steps(JOBS_BETWEEN)),
        ),
    )
    limit = sp.sqrt((H - 1) * (n - 1) / n) * sigma
    root = SquareRoot("gap", whole, alpha * limit)
    gap = Combination(
        "gap by the step size",
        goal=(GAP / alpha, limit),
        terms=((1 / alpha, root),),
    )
    return Derivation(GAP / alpha, (one_noise, grows, all_steps, whole, root, gap))


def _one_noise() -> Combination:
    own, rest = vector("noise_i"), vector("other noises")
    return Combination(
        "noise against its mean over nodes",
        goal=(squared_norm(vector("deviation")), (n - 1) / n * sigma**2),
        terms=(
            (sp.S.One, lemmas.definition("deviation", (1 - 1 / n) * own - (1 / n) * rest)),
            ((1 - 1 / n) ** 2, lemmas.variance(own)),
            (-2 * (1 - 1 / n) / n, lemmas.orthogonal_noise(own, rest)),
            (1 / n**2, lemmas.noise_of_several(rest, n - 1)),
        ),
    )


local_sgd_gap = Bound(
    name="local_sgd_gap",
    title="local SGD, H steps between averagings, rms over nodes",
    quantity=Quantity.GAP,
    sequence=Sequence.MEAN,
    side=Side.UPPER,
    expression=(H - 1) * M,
    assumptions=(_LOCAL,),
    requirements=frozenset({Requirement.SECOND_MOMENT, Requirement.SYNCHRONOUS}),
    source=Source(_PAGE, Status.DERIVED),
    proof=lambda: gap_of_a_sum(
        lemmas.local_steps(JOBS_BETWEEN),
        identity=lemmas.missing_gap(),
        size=lemmas.deviation_from_mean(vector("part"), vector("G")),
    ),
    tight=True,
    scope=Scope(System.ROUNDS, ("local_sgd",), over_nodes=True),
)
local_sgd_noise_gap = Bound(
    name="local_sgd_noise_gap",
    title="local SGD on a linear loss: noise alone",
    quantity=Quantity.GAP,
    sequence=Sequence.MEAN,
    side=Side.UPPER,
    expression=sp.sqrt((H - 1) * (n - 1) / n) * sigma,
    assumptions=(_LOCAL, sp.Ge(n, 1, evaluate=False)),
    requirements=frozenset(
        {
            Requirement.VARIANCE,
            Requirement.UNBIASED,
            Requirement.OBLIVIOUS,
            Requirement.SYNCHRONOUS,
            Requirement.LINEAR_LOSS,
        }
    ),
    source=Source(_PAGE, Status.DERIVED),
    proof=prove_noise,
    tight=True,
    scope="a linear loss has no minimiser, and with it no ball on which constants hold",
)
