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
_CHECK_EVERY = 16  # STEPs between two looks for infinities, as in segments
_GRADIENT, _FIRST, _MORE, _STEP, _APPLY = range(5)


def leaves_of(n: int) -> tuple[np.ndarray, np.ndarray]:
    """How NumPy's pairwise sum cuts n numbers: where leaves begin, and merges after each.

    Each half is cut again until 128 numbers are left; the first half has a multiple of 8.
    """
    starts, merges = [0], [0]

    def cut(first: int, length: int) -> None:
        if length <= _LEAF:
            starts.append(first + length)
            merges.append(0)
            return
        middle = length // 2
        middle -= middle % 8
        cut(first, middle)
        cut(first + middle, length - middle)
        merges[-1] += 1

    cut(0, n)
    return np.array(starts), np.array(merges[1:])


@njit(**_PLAIN)
def leaf_sum(a, n):
    """Sum of the first n <= 128 numbers, in NumPy's eight interleaved parts."""
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


# The loops over a leaf are functions of their own: the compiler then knows that scratch space
# is apart from everything else, and uses vectors.


@njit(**_PLAIN)
def square_leaf(x, y, leaf):
    """leaf = (x - y)^2."""
    for i in range(len(x)):
        difference = x[i] - y[i]
        leaf[i] = difference * difference


@njit(**_PLAIN)
def descend_leaf(x, view, scale, step_size, leaf):
    """leaf = x - step_size (scale view)."""
    for i in range(len(x)):
        leaf[i] = x[i] - step_size * (scale[i] * view[i])


@njit(**_PLAIN)
def weigh(a, factor, out):
    """out = factor a."""
    for i in range(len(out)):
        out[i] = factor * a[i]


@njit(**_PLAIN)
def merge(stack, top, total, merges):
    """Push a leaf's sum and add up the halves that are complete; the new height."""
    stack[top] = total
    for _ in range(merges):
        stack[top - 1] = stack[top - 1] + stack[top]
        top -= 1
    return top + 1


@njit(**_PLAIN)
def sum_of(a, starts, merges, stack):
    """The sum of an array, as np.add.reduce forms it."""
    top = 0
    for k in range(len(merges)):
        part = a[starts[k] : starts[k + 1]]
        top = merge(stack, top, leaf_sum(part, len(part)), merges[k])
    return stack[0]


@njit(**_PLAIN)
def squared_distance(x, y, starts, merges, leaf, stack):
    """Sum of (x - y)^2."""
    top = 0
    for k in range(len(merges)):
        first, last = starts[k], starts[k + 1]
        square_leaf(x[first:last], y[first:last], leaf)
        top = merge(stack, top, leaf_sum(leaf, last - first), merges[k])
    return stack[0]


@njit(**_PLAIN)
def descend(x, view, scale, step_size, out, starts, merges, leaf, stack):
    """One APPLY of a centred quadratic: out = x - step_size (scale view).

    Returns the squared gap between x and view. `out` may be one of them: every leaf is computed
    aside before it is written.
    """
    top = 0
    for k in range(len(merges)):
        first, last = starts[k], starts[k + 1]
        x_part, view_part = x[first:last], view[first:last]
        square_leaf(x_part, view_part, leaf)
        top = merge(stack, top, leaf_sum(leaf, last - first), merges[k])
        descend_leaf(x_part, view_part, scale[first:last], step_size, leaf)
        weigh(leaf, 1.0, out[first:last])
    return stack[0]


@njit(**_PLAIN)
def mean_gradient(view, scale, centre, is_constant, out):
    """out = scale (view - centre), or scale itself; `out` may be the view."""
    for i in range(len(out)):
        out[i] = scale[i] if is_constant else scale[i] * (view[i] - centre[i])


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
def run_lean(columns, steps, slots, scale, step_size, squares, starts, merges):
    """Only APPLY with factor 1, plain descent on a centred quadratic, gaps wanted.

    Args:
        columns: (I, 9) as in `run_any`.
        steps: STEPs made before.
        slots: (slots, d) arrays.
        scale: (d,) spectrum.
        step_size: alpha.
        squares: (I,) is filled with the squared gaps.
        starts: From leaves_of(d).
        merges: From leaves_of(d).

    Returns:
        The first instruction after which a looked-at model was not finite, else -1.
    """
    leaf, stack = np.empty(_LEAF), np.empty(_LEAF)
    for i in range(len(columns)):
        x, view, out = slots[columns[i, 3]], slots[columns[i, 1]], slots[columns[i, 5]]
        squares[i] = descend(x, view, scale, step_size, out, starts, merges, leaf, stack)
        look = (steps + i + 1) % _CHECK_EVERY == 0
        if look and not np.isfinite(sum_of(out, starts, merges, stack)):
            return i
    return -1


@njit(**_PLAIN)
def begin(view, target, weight, noise, point, constants, is_constant):
    """GRADIENT, and the started point's step with it; an empty point stays."""
    mean_gradient(view, constants[0], constants[1], is_constant, target)
    for i in range(len(noise)):
        target[i] += noise[i]
    for i in range(len(point)):
        point[i] -= weight * target[i]


@njit(**_PLAIN)
def run_any(
    columns, factors, noise, steps, slots, constants, sizes, velocity, point, added, started,
    starts, merges,
):  # fmt: skip
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
        starts: From leaves_of(d).
        merges: From leaves_of(d).

    Returns:
        The first instruction after which a looked-at model was not finite, else -1.
    """
    leaf, stack, scratch = np.empty(_LEAF), np.empty(_LEAF), np.empty(slots.shape[1])
    is_constant = sizes[2] == 1
    for i in range(len(columns)):
        do, replica, model = columns[i, 0], columns[i, 6], columns[i, 3]
        view, target = slots[columns[i, 1]], slots[columns[i, 5]]
        if do == _GRADIENT:
            g = columns[i, 7]
            if len(point):
                started[g] = squared_distance(point, view, starts, merges, leaf, stack)
            begin(view, target, factors[i], noise[g], point, constants, is_constant)
        elif do == _STEP:
            update = slots[columns[i, 4]]
            step(slots[model], update, velocity[replica], sizes[0], sizes[1], target)
        else:
            if len(added):
                x = slots[model]
                added[columns[i, 8]] = squared_distance(x, view, starts, merges, leaf, stack)
            if columns[i, 2] < 0:
                mean_gradient(view, constants[0], constants[1], is_constant, scratch)
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
            look = steps % _CHECK_EVERY == 0
            if look and not np.isfinite(sum_of(target, starts, merges, stack)):
                return i
    return -1


@njit(**_PLAIN)
def fill_slots(by_death, freed, slots, free):
    """The loop of slots.assign_slots; `free` is scratch space as long as `slots`."""
    n_slots = n_freed = n_free = 0
    for value in range(len(freed)):
        while n_freed < freed[value]:
            free[n_free] = slots[by_death[n_freed]]
            n_free += 1
            n_freed += 1
        if n_free:
            n_free -= 1
            slots[value] = free[n_free]
        else:
            slots[value] = n_slots
            n_slots += 1
    return n_slots
