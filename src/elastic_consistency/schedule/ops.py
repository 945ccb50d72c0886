"""The nine operations of a schedule and the operands that each one takes."""

from dataclasses import dataclass
from enum import IntEnum
from typing import final

ABSENT = -1
SERVER = -1
WHOLE_MODEL = -1


class Op(IntEnum):
    """One row of a schedule does exactly one of these.

    READ       view[job][block] = x[replica][block] / mass[replica]
    GRADIENT   g[job] = gradient of the oracle at view[job]
    ENCODE     u[job][block] = what the rule and the codec make of g[job]
    ADD        buffer[replica][block] += weight * scale(staleness) * (u[job] or message)
    STEP       x[replica][block] = the rule's step with buffer; buffer = 0; version += 1
    PUT        message += weight * u[job], or message += weight * (x, mass)[replica] and then
               (x, mass)[replica] *= keep
    MIX        (x, mass)[replica] = keep * (x, mass)[replica] + weight * message; version += 1
    DROP       end of life of a job or a message
    CRASH      the state of the worker is gone
    """

    READ = 0
    GRADIENT = 1
    ENCODE = 2
    ADD = 3
    STEP = 4
    PUT = 5
    MIX = 6
    DROP = 7
    CRASH = 8


@final
@dataclass(frozen=True, slots=True)
class Operands:
    """Which columns a row of one operation fills.

    Attributes:
        required: Columns that must not be absent.
        one_of: Columns of which exactly one must be present, or ().
        allowed: Further columns that may be present.
    """

    required: tuple[str, ...]
    one_of: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()


OPERANDS: dict[Op, Operands] = {
    Op.READ: Operands(("worker", "job", "replica"), allowed=("block",)),
    Op.GRADIENT: Operands(("worker", "job")),
    Op.ENCODE: Operands(("worker", "job"), allowed=("block",)),
    Op.ADD: Operands(("replica",), ("job", "message"), ("worker", "block", "weight")),
    Op.STEP: Operands(("replica",), allowed=("worker", "block")),
    Op.PUT: Operands(("message",), ("job", "replica"), ("worker", "block", "weight", "keep")),
    Op.MIX: Operands(("replica", "message"), allowed=("worker", "weight", "keep")),
    Op.DROP: Operands((), ("job", "message"), ("worker",)),
    Op.CRASH: Operands(("worker",)),
}
