"""The step that non-convex bounds without an elastic constant share."""

import sympy as sp

from elastic_consistency.bounds.proofs import lemmas
from elastic_consistency.bounds.proofs.lemmas import Premise
from elastic_consistency.bounds.proofs.steps import Combination
from elastic_consistency.bounds.proofs.vectors import Point, Vector, squared_norm
from elastic_consistency.bounds.symbols import L


def descent_with_drift(
    x: Point, following: Point, v: Point, noise: Vector, *, step_size: sp.Expr, spread: Premise
) -> Combination:
    """Return f(x+) - f(x) + (a/2)|grad f(x)|^2 + (a/2)(1 - L a)|grad f(v)|^2 <= drift + noise.

    Args:
        x: Auxiliary iterate.
        following: The next one, x - step_size (grad f(v) + noise).
        v: View.
        noise: Noise of the gradient.
        step_size: The step size a.
        spread: Premise E|noise|^2 <= ...
    """
    drift = step_size * L**2 / 2 * squared_norm(x.position - v.position)
    kept = step_size / 2 * (1 - L * step_size) * squared_norm(v.gradient)
    return Combination(
        "one step",
        goal=(
            sp.expand(following.value - x.value + step_size / 2 * squared_norm(x.gradient) + kept),
            sp.expand(drift + L * step_size**2 / 2 * spread.rhs),
        ),
        terms=(
            (sp.S.One, lemmas.smoothness(x, following)),
            (-step_size, lemmas.unbiased_noise(x.gradient, noise)),
            (L * step_size**2, lemmas.unbiased_noise(v.gradient, noise)),
            (L * step_size**2 / 2, spread),
            (step_size / 2, lemmas.lipschitz_gradient(x, v)),
        ),
    )
