"""The loop of a program in machine code, with the bits of NumPy.

The functions are ordinary Python; with Numba installed they are compiled at their first call,
without it they give the same numbers slowly. No operation is reordered or contracted, and sums
are formed in NumPy's own order: halves, down to 128 numbers, each in eight interleaved parts.
"""

from typing import Any

import numpy as np

try:
    from numba import njit
except ImportError:  # the tests run without Numba, too

    def njit(**_options: Any) -> Any:
        """Leave functions as they are."""
        return lambda function: function


_PLAIN = {"cache": True, "nogil": True, "error_model": "numpy"}
_LEAF = 128  # NumPy's length of one unrolled sum
_CHECK_EVERY = 16
_GRADIENT, _FIRST, _MORE, _STEP, _APPLY = range(5)


@njit(**_PLAIN)
def half(n: int) -> int:
    """Where NumPy's pairwise sum of n numbers is cut in two."""
    middle = n // 2
    return middle - middle % 8


@njit(**_PLAIN)
def sum_of(a: np.ndarray) -> float:
    """The sum of an array, as np.add.reduce forms it."""
    n = len(a)
    if n > _LEAF:
        middle = half(n)
        return sum_of(a[:middle]) + sum_of(a[middle:])
    if n < 8:
        total = 0.0
        for i in range(n):
            total += a[i]
        return total
    r0, r1, r2, r3, r4, r5, r6, r7 = a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]
    whole = n - n % 8
    for i in range(8, whole, 8):
        r0 += a[i]
        r1 += a[i + 1]
        r2 += a[i + 2]
        r3 += a[i + 3]
        r4 += a[i + 4]
        r5 += a[i + 5]
        r6 += a[i + 6]
        r7 += a[i + 7]
    total = ((r0 + r1) + (r2 + r3)) + ((r4 + r5) + (r6 + r7))
    for i in range(whole, n):
        total += a[i]
    return total


@njit(**_PLAIN)
def squared_distance(x: np.ndarray, y: np.ndarray, leaf: np.ndarray) -> float:
    """Sum of (x - y)^2; `leaf` is scratch space of 128 numbers."""
    n = len(x)
    if n > _LEAF:
        middle = half(n)
        first = squared_distance(x[:middle], y[:middle], leaf)
        return first + squared_distance(x[middle:], y[middle:], leaf)
    for i in range(n):
        difference = x[i] - y[i]
        leaf[i] = difference * difference
    return sum_of(leaf[:n])


@njit(**_PLAIN)
def descend(x, view, scale, step_size, out, leaf):
    """One APPLY of a centred quadratic: out = x - step_size (scale view).

    Returns the squared gap between x and view. `out` may be one of them: every stretch of 128
    numbers is computed aside and copied, which also lets the compiler use vectors.
    """
    n = len(x)
    if n > _LEAF:
        m = half(n)
        first = descend(x[:m], view[:m], scale[:m], step_size, out[:m], leaf)
        return first + descend(x[m:], view[m:], scale[m:], step_size, out[m:], leaf)
    for i in range(n):
        difference = x[i] - view[i]
        leaf[i] = difference * difference
    total = sum_of(leaf[:n])
    for i in range(n):
        leaf[i] = x[i] - step_size * (scale[i] * view[i])
    for i in range(n):
        out[i] = leaf[i]
    return total


@njit(**_PLAIN)
def mean_gradient(view, scale, centre, is_constant, out):
    """out = scale (view - centre), or scale itself; `out` may be the view."""
    for i in range(len(out)):
        out[i] = scale[i] if is_constant else scale[i] * (view[i] - centre[i])


@njit(**_PLAIN)
def weigh(a, factor, out):
    """out = factor a."""
    for i in range(len(a)):
        out[i] = factor * a[i]


@njit(**_PLAIN)
def step(x, update, velocity, step_size, momentum, out):
    """Heavy ball, or plain descent where `velocity` is empty; `out` may be `x` or `update`."""
    if len(velocity) == 0:
        for i in range(len(x)):
            out[i] = x[i] - step_size * update[i]
        return
    for i in range(len(x)):
        velocity[i] = momentum * velocity[i] + update[i]
        out[i] = x[i] - step_size * velocity[i]


@njit(**_PLAIN)
def run_lean(columns, steps, slots, scale, step_size, squares):
    """Only APPLY with factor 1, plain descent on a centred quadratic, gaps wanted.

    Args:
        columns: (I, 9) as in `run_any`.
        steps: STEPs made before.
        slots: (slots, d) arrays.
        scale: (d,) spectrum.
        step_size: alpha.
        squares: (I,) is filled with the squared gaps.

    Returns:
        The first instruction after which a looked-at model was not finite, else -1.
    """
    leaf = np.empty(_LEAF)
    for i in range(len(columns)):
        x, view, out = slots[columns[i, 3]], slots[columns[i, 1]], slots[columns[i, 5]]
        squares[i] = descend(x, view, scale, step_size, out, leaf)
        if (steps + i + 1) % _CHECK_EVERY == 0 and not np.isfinite(sum_of(out)):
            return i
    return -1


@njit(**_PLAIN)
def begin(view, target, weight, noise, point, scale, centre, is_constant, leaf):
    """GRADIENT; the squared gap of the started point, which moves on, or 0 if it is empty."""
    gap = squared_distance(point, view, leaf) if len(point) else 0.0
    mean_gradient(view, scale, centre, is_constant, target)
    for i in range(len(noise)):
        target[i] += noise[i]
    for i in range(len(point)):
        point[i] -= weight * target[i]
    return gap


@njit(**_PLAIN)
def run_any(
    columns, factors, noise, steps, slots, constants, sizes, velocity, point, added, started
):
    """Any instructions.

    Args:
        columns: (I, 9) do, view, gradient, model, buffer, target, replica, number among the
            GRADIENTs of this call, number among its additions.
        factors: (I,) factor of an addition, weight of a GRADIENT in the started sequence.
        noise: (G, d) noise of each GRADIENT, or (G, 0).
        steps: STEPs made before.
        slots: (slots, d) arrays.
        constants: (2, d) scale and centre of the mean gradient.
        sizes: Step size, momentum, and 1 if the mean gradient is the scale itself.
        velocity: (replicas, d), or (replicas, 0) for plain descent.
        point: (d,) point of the started sequence, or (0,).
        added: (A,) is filled with squared gaps at additions; or (0,).
        started: (G,) is filled with squared gaps at GRADIENTs.

    Returns:
        The first instruction after which a looked-at model was not finite, else -1.
    """
    leaf, scratch = np.empty(_LEAF), np.empty(slots.shape[1])
    scale, centre, is_constant = constants[0], constants[1], sizes[2] == 1
    for i in range(len(columns)):
        do, replica, model = columns[i, 0], columns[i, 6], columns[i, 3]
        view, target = slots[columns[i, 1]], slots[columns[i, 5]]
        if do == _GRADIENT:
            g = columns[i, 7]
            started[g] = begin(
                view, target, factors[i], noise[g], point, scale, centre, is_constant, leaf
            )
        elif do == _STEP:
            update = slots[columns[i, 4]]
            step(slots[model], update, velocity[replica], sizes[0], sizes[1], target)
        else:
            if len(added):
                added[columns[i, 8]] = squared_distance(slots[model], view, leaf)
            if columns[i, 2] < 0:
                mean_gradient(view, scale, centre, is_constant, scratch)
                weigh(scratch, factors[i], scratch)
            else:
                weigh(slots[columns[i, 2]], factors[i], scratch)
            if do == _APPLY:
                step(slots[model], scratch, velocity[replica], sizes[0], sizes[1], target)
            elif do == _FIRST:
                weigh(scratch, 1.0, target)
            else:
                for k in range(len(target)):
                    target[k] += scratch[k]
        if do >= _STEP:
            steps += 1
            if steps % _CHECK_EVERY == 0 and not np.isfinite(sum_of(target)):
                return i
    return -1
