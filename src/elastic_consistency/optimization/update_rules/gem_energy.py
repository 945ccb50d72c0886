"""Gradient energy matching: the energies and the factor that makes them equal."""

from typing import Any

from array_api_compat import array_namespace

Array = Any


def central_energy(pulled: Array, central: Array) -> Array:
    """E_c = 1/2 (central - pulled)^2 in every coordinate, what the centre did to a worker.

    Args:
        pulled: (R, d) central variable that the worker pulled last, s.
        central: (R, d) central variable after the worker's commit.
    """
    moved = central - pulled
    return moved * moved / 2


def proxy_energy(momentum: Array) -> Array:
    """E_p = 1/2 m^2 in every coordinate, what momentum SGD would have done.

    Args:
        momentum: (R, d) the worker's own m <- mu m - eta g.
    """
    return momentum * momentum / 2


def energy_factor(
    momentum: Array, distance: Array, length: Array, clamp: tuple[float, float]
) -> Array:
    """pi = (|m| - distance) / length in every coordinate, clamped.

    With distance = |central - pulled| and length = |eta g| the commit pi * (-eta g) makes both
    energies equal, provided that the centre and the commit moved the same way.

    Args:
        momentum: (R, d) m, or a multiple of it.
        distance: (R, d) what the centre moved since the pull, >= 0 (or signed).
        length: (R, d) length of the bare update, > 0.
        clamp: Smallest and largest pi; infinities switch it off.
    """
    xp = array_namespace(momentum)
    factor = (xp.abs(momentum) - distance) / length
    return xp.clip(factor, clamp[0], clamp[1])
