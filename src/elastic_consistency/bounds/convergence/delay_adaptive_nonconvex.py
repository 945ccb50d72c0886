"""D2: step sizes that shrink with the staleness make any delays harmless."""

import sympy as sp

from elastic_consistency.bounds.bound import Bound, Side, Source, Status
from elastic_consistency.bounds.convergence.descent_with_drift import descent_with_drift
from elastic_consistency.bounds.proofs import lemmas
from elastic_consistency.bounds.proofs.derivation import Derivation
from elastic_consistency.bounds.proofs.lemmas import averaged
from elastic_consistency.bounds.proofs.steps import Combination
from elastic_consistency.bounds.proofs.telescoping import Telescope
from elastic_consistency.bounds.proofs.vectors import nonnegative_atom, point, squared_norm, vector
from elastic_consistency.bounds.requirements import NOISY_DESCENT, Requirement
from elastic_consistency.bounds.symbols import Delta, L, T, alpha, n, sigma
from elastic_consistency.execution.quantities import Quantity, Sequence

_ETA = sp.Symbol("eta_k", positive=True)
_MEAN = sp.Symbol("eta_mean", positive=True)
# Staleness sums to (n - 1) T, so at most a third of the jobs have more than 3 n, and the others
# take the whole step alpha.
_MEAN_RANGE = (
    sp.Ge(_MEAN, 2 * alpha / 3),
    sp.Le(_MEAN, alpha),
    sp.Le(_ETA, alpha),
)


def prove() -> Derivation:
    """Return the proof: weighted sums, the delays cancel against the step sizes."""
    x, gap, noise = point("x"), vector("x - v"), vector("noise")
    v = point("v", x.position - gap)
    following = point("x+", x.position - _ETA * (v.gradient + noise))
    descent = descent_with_drift(
        x, following, v, noise, step_size=_ETA, spread=lemmas.variance(noise)
    )
    summed = Telescope("all steps", descent, x.value, following.value, T, weight=_ETA)
    size = squared_norm(v.gradient)
    mean_step = averaged(sp.S.One, weight=_ETA, power=1)
    weighted = averaged(squared_norm(x.gradient), weight=_ETA, power=1)
    total = Combination(
        "together",
        goal=(
            weighted,
            2 * Delta / T + sp.Rational(11, 3) * L * alpha * sigma**2 * mean_step,
        ),
        terms=(
            (sp.S(2), summed),
            (2 / T, lemmas.descent_budget(x.value)),
            (L**2, lemmas.delay_adaptive_exchange(gap, v.gradient, _ETA)),
            (L, lemmas.capped_weight(size, _ETA, alpha)),
            (L * sigma**2, lemmas.capped_weight(sp.S.One, _ETA, alpha)),
        ),
    )
    ratio = nonnegative_atom("weighted avg E|grad f(x)|^2")
    divided = Combination(
        "divide by the mean step size",
        goal=(ratio, delay_adaptive_expression()),
        terms=(
            (1 / _MEAN, total),
            (1 / _MEAN, lemmas.weighted_average(ratio, weighted, _MEAN)),
            (
                sp.Rational(11, 3) * L * alpha * sigma**2 / _MEAN,
                lemmas.mean_step_size(mean_step, _MEAN),
            ),
        ),
    )
    return Derivation(ratio, (descent, summed, total, divided), within=_MEAN_RANGE, varying=(_ETA,))


def delay_adaptive_expression() -> sp.Expr:
    """Return 3 Delta / (alpha T) + (11/3) L alpha sigma^2."""
    return 3 * Delta / (alpha * T) + sp.Rational(11, 3) * L * alpha * sigma**2


delay_adaptive_nonconvex = Bound(
    name="delay_adaptive_nonconvex",
    title="D2: server with steps min(alpha, 1/(L staleness)), smooth loss, any delays",
    quantity=Quantity.MEAN_SQUARED_GRADIENT,
    sequence=Sequence.STARTED,
    side=Side.UPPER,
    expression=delay_adaptive_expression(),
    assumptions=(sp.Le(alpha, 1 / (3 * L * n)), sp.Ge(n, 1, evaluate=False)),
    requirements=NOISY_DESCENT
    | {
        Requirement.LOWER_BOUNDED,
        Requirement.OBLIVIOUS,
        Requirement.STARTED_ORDER,
        Requirement.ONE_UNAPPLIED_JOB,
        Requirement.ZERO_LATENCY,
        Requirement.DELAY_ADAPTIVE,
    },
    source=Source("docs/theory/delay_adaptive.md", Status.DERIVED),
    proof=prove,
    note=(
        "Average over T started gradients, weighted with their step sizes; T is large against n, "
        "since the last jobs in flight have no staleness yet."
    ),
    scope="its average is weighted by step sizes, and a study takes the plain one",
)
