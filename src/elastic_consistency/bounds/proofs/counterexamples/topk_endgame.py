"""TopK's residual can exceed (2 / pi) (d / K) M: ten explicit gradients for d = 5, K = 1.

With gradients that refill coordinates in turn the best periodic residual is close to
(2 / pi) (d / K) M, which was thought to be the worst case. An adversary that knows when the
comparison ends does better: in the last round it spends nothing on coordinates that will be sent
before the end, beyond what keeps them the largest.
"""

from collections.abc import Sequence
from fractions import Fraction

UNIT = 10_000
"""Gradients are given in units of M / UNIT."""

GRADIENTS: tuple[tuple[int, ...], ...] = (
    (4484, 4464, 4464, 4464, 4464),
    (6920, 3617, 3597, 3597, 3597),
    (3706, 8137, 2585, 2565, 2565),
    (1737, 3727, 8763, 1757, 1737),
    (1143, 1642, 3861, 8918, 1163),
    (921, 901, 1783, 4117, 8833),
    (8553, 934, 914, 2110, 4526),
    (5074, 8005, 1096, 1251, 2685),
    (5005, 7898, 0, 2315, 2648),
    (4723, 7453, 0, 0, 4684),
)


def squared_residual(gradients: Sequence[Sequence[int]] = GRADIENTS) -> Fraction:
    """Return |e|^2 / M^2 after TopK with K = 1 and error feedback, from e = 0, exactly.

    Raises:
        ValueError: If a gradient is longer than M, or if the largest coordinate is not unique.
    """
    residual = [0] * len(gradients[0])
    for row, gradient in enumerate(gradients):
        if sum(part * part for part in gradient) > UNIT**2:
            raise ValueError(f"gradients must have a length <= M, got {gradient!r} at row {row}.")
        whole = [old + new for old, new in zip(residual, gradient, strict=True)]
        largest = max(whole)
        if whole.count(largest) > 1:
            raise ValueError(f"the largest coordinate must be unique, got {whole!r} at row {row}.")
        residual = [0 if part == largest else part for part in whole]
    return Fraction(sum(part * part for part in residual), UNIT**2)
