# ruff: noqa: PLW0108 (Numba takes functions written in Python, not intrinsics)
# pyright: reportCallIssue=false
"""Lanes in machine code: importing this file tells Numba to keep them in vector registers.

Numba vectorises no loop whose iterations add to the same eight sums, since it must not reorder
them; written with vectors there is nothing to reorder.
"""

import operator
from typing import Any, final

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, overload, register_model

from elastic_consistency.execution.programs import lanes

_VECTOR = ir.VectorType(ir.DoubleType(), lanes.WIDTH)
_PLACES = ir.VectorType(ir.IntType(32), lanes.WIDTH)
_DOUBLE_BYTES = 8


@final
class Lanes(types.Type):
    """The type of lanes."""

    def __init__(self) -> None:
        types.Type.__init__(self, name="Lanes")


_LANES = Lanes()


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        models.PrimitiveModel.__init__(self, manager, kind, _VECTOR)


def _address(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Where the lanes of an array begin; its numbers lie side by side."""
    array = context.make_array(signature.args[0])(context, builder, args[0])
    return builder.bitcast(builder.gep(array.data, [args[1]]), _VECTOR.as_pointer())


@intrinsic
def _load(_context, array, first):
    def code(context, builder, signature, args):
        place = _address(context, builder, signature, args)
        return builder.load(place, align=_DOUBLE_BYTES)

    return _LANES(array, types.intp), code


@intrinsic
def _store(_context, array, first, values):
    def code(context, builder, signature, args):
        place = _address(context, builder, signature, args)
        builder.store(args[2], place, align=_DOUBLE_BYTES)
        return context.get_dummy_value()

    return types.void(array, types.intp, _LANES), code


@intrinsic
def _spread(_context, value):
    def code(_context, builder, _signature, args):
        blank = ir.Constant(_VECTOR, ir.Undefined)
        first = builder.insert_element(blank, args[0], ir.Constant(ir.IntType(32), 0))
        return builder.shuffle_vector(first, blank, ir.Constant(_PLACES, [0] * lanes.WIDTH))

    return _LANES(types.float64), code


@intrinsic
def _lane(_context, values, place):
    def code(_context, builder, _signature, args):
        return builder.extract_element(*args)

    return types.float64(_LANES, types.intp), code


def _arithmetic(name: str) -> Any:
    @intrinsic
    def both(_context, a, b):
        return _LANES(_LANES, _LANES), lambda _c, builder, _s, args: getattr(builder, name)(*args)

    return both


_add, _subtract, _multiply = map(_arithmetic, ("fadd", "fsub", "fmul"))


@overload(lanes.load)
def _load_of(array, first):
    return (lambda array, first: _load(array, first)) if array.layout == "C" else None


@overload(lanes.store)
def _store_of(array, first, values):
    if array.layout != "C":
        return None
    return lambda array, first, values: _store(array, first, values)


@overload(lanes.spread)
def _spread_of(value):
    return lambda value: _spread(value)


@overload(lanes.folded)
def _folded_of(values):
    def folded(values):
        low = (_lane(values, 0) + _lane(values, 1)) + (_lane(values, 2) + _lane(values, 3))
        high = (_lane(values, 4) + _lane(values, 5)) + (_lane(values, 6) + _lane(values, 7))
        return low + high

    return folded


@overload(operator.add)
def _add_of(a, b):
    return (lambda a, b: _add(a, b)) if a == b == _LANES else None


@overload(operator.sub)
def _subtract_of(a, b):
    return (lambda a, b: _subtract(a, b)) if a == b == _LANES else None


@overload(operator.mul)
def _multiply_of(a, b):
    return (lambda a, b: _multiply(a, b)) if a == b == _LANES else None
