"""NC1s: the family of non-convex bounds whose leading constants approach those of plain SGD."""

import sympy as sp

from elastic_consistency.bounds.bound import Bound, Side, Source, Status
from elastic_consistency.bounds.convergence.nonconvex_single_step import nonconvex_single_step
from elastic_consistency.bounds.proofs import lemmas
from elastic_consistency.bounds.proofs.derivation import Derivation
from elastic_consistency.bounds.proofs.steps import Combination
from elastic_consistency.bounds.proofs.telescoping import Telescope
from elastic_consistency.bounds.proofs.vectors import point, squared_norm, vector
from elastic_consistency.bounds.symbols import B, Delta, L, T, alpha, sigma, theta
from elastic_consistency.execution.quantities import Quantity, Sequence

_SHARE = 1 - theta / 2 - L * alpha * (1 + theta) / 2
_GAP = 1 / (2 * theta) + L * alpha * (1 + 1 / theta) / 2


def prove() -> Derivation:
    """Return the proof: Young's inequality with theta instead of polarisation."""
    x, v, noise = point("x"), point("v"), vector("noise")
    following = point("x+", x.position - alpha * (v.gradient + noise))
    size, apart = squared_norm(x.gradient), x.gradient - v.gradient
    one_step = Combination(
        "one step",
        goal=(
            following.value - x.value + alpha * _SHARE * size,
            alpha**3 * L**2 * B**2 * _GAP + L * alpha**2 * sigma**2 / 2,
        ),
        terms=(
            (sp.S.One, lemmas.smoothness(x, following)),
            (-alpha, lemmas.unbiased_noise(x.gradient, noise)),
            (L * alpha**2, lemmas.unbiased_noise(v.gradient, noise)),
            (L * alpha**2 / 2, lemmas.variance(noise)),
            (alpha / (2 * theta), lemmas.square(theta * x.gradient - apart)),
            (L * alpha**2 / (2 * theta), lemmas.square(theta * x.gradient + apart)),
            (alpha * _GAP, lemmas.lipschitz_gradient(x, v)),
            (alpha * L**2 * _GAP, lemmas.elastic(x.position - v.position)),
        ),
    )
    summed = Telescope("all steps", one_step, x.value, following.value, T)
    average = lemmas.average(size)
    divided = Combination(
        "divide",
        goal=(average, sharp_expression()),
        terms=(
            (1 / (alpha * _SHARE), summed),
            (1 / (alpha * T * _SHARE), lemmas.descent_budget(x.value)),
        ),
    )
    return Derivation(average, (one_step, summed, divided))


def sharp_expression() -> sp.Expr:
    """Return the bound of the family at theta."""
    gap = L**2 * alpha**2 * B**2 * _GAP
    return (Delta / (alpha * T) + gap + L * alpha * sigma**2 / 2) / _SHARE


nonconvex_sharp_family = Bound(
    name="nonconvex_sharp_family",
    title="NC1s: NC1 with a free parameter 0 < theta < 2",
    quantity=Quantity.MEAN_SQUARED_GRADIENT,
    sequence=Sequence.STARTED,
    side=Side.UPPER,
    expression=sharp_expression(),
    assumptions=(sp.Lt(theta, 2), sp.Lt(alpha, (2 - theta) / (L * (1 + theta)))),
    requirements=nonconvex_single_step.requirements,
    source=Source("docs/theory/nonconvex_single_step.md", Status.DERIVED),
    proof=prove,
    note="theta of the order of alpha gives the leading constants 1 and 1/2 of plain SGD.",
    scope="its parameter theta is free, and no run chooses it",
)
