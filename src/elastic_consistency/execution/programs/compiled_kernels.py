"""The loop of a program in machine code, with the bits of NumPy.

The functions are ordinary Python; with Numba installed they are compiled at their first call,
without it they give the same numbers slowly. No operation is reordered or contracted.
"""

from typing import Any, NamedTuple

import numpy as np

from elastic_consistency.execution.programs.compilation import compiled
from elastic_consistency.execution.programs.lanes import WIDTH, folded, load, spread, store
from elastic_consistency.execution.programs.masses import follow_masses as _follow_masses
from elastic_consistency.execution.programs.pairwise_sums import (
    STACK,
    merge,
    squared_distance,
    sum_of,
    whole_lanes,
)
from elastic_consistency.execution.programs.program import Do

_CHECK_EVERY = 16  # STEPs between two looks for infinities, as in segments
_GRADIENT, _FIRST, _MORE, _STEP, _APPLY = (
    int(do) for do in (Do.GRADIENT, Do.FIRST, Do.MORE, Do.STEP, Do.APPLY)
)
_PUT_MORE, _MIX, _DIVIDE = int(Do.PUT_MORE), int(Do.MIX), int(Do.DIVIDE)

#: How a gradient is had: it lies there; scale view; scale (view - centre); the scale itself.
KEPT, SCALED, CENTRED, CONSTANT = range(4)

follow_masses = compiled(_follow_masses)


class Arithmetic(NamedTuple):
    """Of oracle and rule.

    Attributes:
        kind: SCALED, CENTRED or CONSTANT.
        scale: (d,).
        centre: (d,).
        step_size: alpha.
        momentum: Of heavy ball.
        moves: Whether the rule is heavy ball and not plain descent.
    """

    kind: int
    scale: Any
    centre: Any
    step_size: float
    momentum: float
    moves: bool


class Columns(NamedTuple):
    """Of a program; `seen` is its view, and `factor` the weight of a GRADIENT that is started."""

    do: Any
    seen: Any
    source: Any
    model: Any
    buffer: Any
    target: Any
    replica: Any
    factor: Any
    keep: Any


@compiled
def _gradient_lanes(kind, kept, view, scale, centre, i):
    if kind == KEPT:
        return load(kept, i)
    if kind == SCALED:
        return load(scale, i) * load(view, i)
    if kind == CENTRED:
        return load(scale, i) * (load(view, i) - load(centre, i))
    return load(scale, i)


@compiled
def _gradient_number(kind, kept, view, scale, centre, i):
    if kind == KEPT:
        return kept[i]
    if kind == SCALED:
        return scale[i] * view[i]
    if kind == CENTRED:
        return scale[i] * (view[i] - centre[i])
    return scale[i]


@compiled
def _apply_leaf(
    kind, x, view, kept, velocity, scale, centre, factor, step_size, momentum, moves, compares,
    out, first, last,
):  # fmt: skip
    end, parts = whole_lanes(first, last), spread(0.0)
    factors, sizes, momenta = spread(factor), spread(step_size), spread(momentum)
    for i in range(first, end, WIDTH):
        at = load(x, i)
        update = factors * _gradient_lanes(kind, kept, view, scale, centre, i)
        if compares:
            gap = at - load(view, i)
            parts = parts + gap * gap
        if moves:
            update = momenta * load(velocity, i) + update
            store(velocity, i, update)
        store(out, i, at - sizes * update)
    total = folded(parts)
    for i in range(end, last):
        at, update = x[i], factor * _gradient_number(kind, kept, view, scale, centre, i)
        if compares:
            total += (at - view[i]) * (at - view[i])
        if moves:
            update = momentum * velocity[i] + update
            velocity[i] = update
        out[i] = at - step_size * update
    return total


@compiled
def _apply(
    kind, x, view, kept, velocity, scale, centre, factor, step_size, momentum, moves, compares,
    out, starts, merges, stack,
):  # fmt: skip
    """One step of the rule with one gradient, and the squared gap between model and view.

    `out` may be any of the arrays: eight numbers are read before they are written.
    """
    top = 0
    for k in range(len(merges)):
        total = _apply_leaf(
            kind, x, view, kept, velocity, scale, centre, factor, step_size, momentum, moves,
            compares, out, starts[k], starts[k + 1],
        )  # fmt: skip
        top = merge(stack, top, total, merges[k])
    return stack[0]


@compiled
def _combine(keep, x, factor, a, out):
    """out = keep x + factor a, or factor a alone where nothing is kept; `out` may be `x` or `a`."""
    end = whole_lanes(0, len(out))
    keeps, factors = spread(keep), spread(factor)
    for i in range(0, end, WIDTH):
        taken = factors * load(a, i)
        store(out, i, taken if keep == 0.0 else keeps * load(x, i) + taken)
    for i in range(end, len(out)):
        out[i] = factor * a[i] if keep == 0.0 else keep * x[i] + factor * a[i]


@compiled
def _begin(how, view, target, weight, noise, point):
    """GRADIENT, and the started point's step with it; an empty point stays."""
    kind, scale, centre = how.kind, how.scale, how.centre
    for i in range(len(target)):
        target[i] = _gradient_number(kind, target, view, scale, centre, i)
    for i in range(len(noise)):
        target[i] += noise[i]
    for i in range(len(point)):
        point[i] -= weight * target[i]


@compiled
def _accumulate(columns, i, how, slots, scratch):
    """FIRST, MORE, PUT, PUT_MORE, KEEP, MIX or DIVIDE."""
    do, factor, source = columns.do[i], columns.factor[i], slots[columns.source[i]]
    x, out = slots[columns.model[i]], slots[columns.target[i]]
    if columns.source[i] < 0:
        view, source = slots[columns.seen[i]], scratch
        kind, scale, centre = how.kind, how.scale, how.centre
        for k in range(len(scratch)):
            scratch[k] = _gradient_number(kind, scratch, view, scale, centre, k)
    if do == _DIVIDE:
        for k in range(len(out)):
            out[k] = source[k] / factor
    elif do == _MIX:
        _combine(columns.keep[i], x, factor, source, out)
    else:
        _combine(1.0 if do in (_MORE, _PUT_MORE) else 0.0, out, factor, source, out)


@compiled
def run(columns, first, last, steps, how, slots, velocity, point, noise, added, started, leaves):
    """Some instructions.

    Args:
        columns: Of the program.
        first: The first of these instructions.
        last: The first one that is not to be done.
        steps: STEPs made before.
        how: What oracle and rule do.
        slots: (slots, d) arrays.
        velocity: (replicas, d), or (replicas, 0) for plain descent.
        point: (d,) point of the started sequence, or (0,).
        noise: (G, d) noise of each GRADIENT, or (G, 0).
        added: (A,) is filled with squared gaps at additions; or (0,).
        started: (G,) is filled with squared gaps at GRADIENTs.
        leaves: From leaves_of(d).

    Returns:
        The first instruction after which a looked-at model was not finite, else -1.
    """
    stack, scratch, (starts, merges) = np.empty(STACK), np.empty(slots.shape[1]), leaves
    # Out of the loop: in it Numba would count the references to every array of a tuple.
    dos, seen, sources, models, buffers, targets, replicas, factors, _ = columns
    kind, scale, centre, step_size, momentum, moves = how
    begun, n_added, gap, compares = 0, 0, 0.0, len(added) > 0
    for i in range(first, last):
        do, out, x = dos[i], slots[targets[i]], slots[models[i]]
        if do == _STEP:
            _apply(
                KEPT, x, x, slots[buffers[i]], velocity[replicas[i]], scale, centre, 1.0,
                step_size, momentum, moves, begun < 0, out, starts, merges, stack,
            )  # fmt: skip
        elif do == _APPLY:
            gap = _apply(
                kind if sources[i] < 0 else KEPT, x, slots[seen[i]], slots[sources[i]],
                velocity[replicas[i]], scale, centre, factors[i], step_size, momentum, moves,
                compares, out, starts, merges, stack,
            )  # fmt: skip
        elif do == _GRADIENT:
            view = slots[seen[i]]
            if len(point):
                started[begun] = squared_distance(point, view, starts, merges, stack)
            _begin(how, view, out, factors[i], noise[begun], point)
            begun += 1
        else:
            if compares and do in (_FIRST, _MORE):
                gap = squared_distance(x, slots[seen[i]], starts, merges, stack)
            _accumulate(columns, i, how, slots, scratch)
        if compares and do in (_FIRST, _MORE, _APPLY):
            added[n_added] = gap
            n_added += 1
        if do in (_APPLY, _STEP):
            steps += 1
            look = steps % _CHECK_EVERY == 0
            if look and not np.isfinite(sum_of(out, starts, merges, stack)):
                return i
    return -1


@compiled
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
