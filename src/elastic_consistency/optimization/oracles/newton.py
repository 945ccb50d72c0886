"""Newton's method with conjugate gradients: minimisers to the last bits."""

from collections.abc import Callable

import numpy as np

Map = Callable[[np.ndarray], np.ndarray]


def newton_minimiser(
    gradient: Map,
    hessian_product: Callable[[np.ndarray, np.ndarray], np.ndarray],
    start: np.ndarray,
    *,
    tolerance: float = 1e-12,
    max_steps: int = 100,
) -> np.ndarray:
    """The point where a smooth, strongly convex function has ||gradient|| <= `tolerance`.

    With strong convexity c that is a proof: ||w - w*|| <= tolerance / c and
    f(w) - f* <= tolerance^2 / (2 c). Steps are halved until the norm of the gradient falls,
    which Newton's direction always allows, and which rounding of f itself cannot upset.

    Args:
        gradient: (d,) -> (d,) gradient.
        hessian_product: (point, vector) -> Hessian at the point times the vector.
        start: (d,) first point.
        tolerance: Largest norm of the final gradient.
        max_steps: Newton steps before giving up.

    Raises:
        ArithmeticError: If `tolerance` is not reached.
    """
    point, slope = start, gradient(start)
    norm = float("inf")
    for _ in range(max_steps):
        norm = float(np.linalg.norm(slope))
        if norm <= tolerance:
            return point
        direction = _conjugate_gradients(
            lambda v, at=point: hessian_product(at, v), -slope, min(0.1, norm)
        )
        point, slope = _halve_until_smaller(gradient, point, direction, norm)
    raise ArithmeticError(
        f"Newton's method reached a gradient of norm {norm:.2e} only, tolerance {tolerance:.2e}."
    )


def _halve_until_smaller(
    gradient: Map, point: np.ndarray, direction: np.ndarray, norm: float
) -> tuple[np.ndarray, np.ndarray]:
    length = 1.0
    while length > 1e-10:
        candidate = point + length * direction
        slope = gradient(candidate)
        if np.linalg.norm(slope) < norm:
            return candidate, slope
        length /= 2
    raise ArithmeticError(f"Newton's method stalls at a gradient of norm {norm:.2e}.")


def _conjugate_gradients(product: Map, right: np.ndarray, accuracy: float) -> np.ndarray:
    """Solution of a positive definite system to a relative residual of `accuracy`.

    An accuracy of the order of the gradient itself keeps Newton's convergence quadratic.
    """
    solution, residual = np.zeros_like(right), right
    direction, energy = right, float(right @ right)
    target = max(accuracy, 1e-9) ** 2 * energy
    for _ in range(4 * right.size):
        if energy <= target:
            break
        image = product(direction)
        length = energy / float(direction @ image)
        solution = solution + length * direction
        residual = residual - length * image
        energy, previous = float(residual @ residual), energy
        direction = residual + (energy / previous) * direction
    return solution
