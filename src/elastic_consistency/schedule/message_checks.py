"""Invariants of messages: filled, frozen at first use, dropped; mass is conserved."""

import numpy as np

from elastic_consistency.schedule.errors import nowhere, refuse, repeated, rows_of
from elastic_consistency.schedule.ops import ABSENT, Op
from elastic_consistency.schedule.table import Schedule

_TOLERANCE = 1e-9


def check_messages(schedule: Schedule) -> None:
    """Raise ScheduleError unless every message lives as it must."""
    table, messages = schedule.rows, schedule.messages
    count = len(messages)
    puts = np.flatnonzero(table.op == Op.PUT)
    uses = rows_of(table.op, Op.ADD, Op.MIX)
    uses = uses[table.message[uses] != ABSENT]
    drops = np.flatnonzero(table.op == Op.DROP)
    drops = drops[table.message[drops] != ABSENT]
    _check_order(table.message, puts, uses, drops, messages.in_flight)
    carries_job = np.zeros(count, bool)
    carries_job[table.message[puts[table.job[puts] != ABSENT]]] = True
    carries_model = np.zeros(count, bool)
    carries_model[table.message[puts[table.job[puts] == ABSENT]]] = True
    both = carries_job[table.message[puts]] & carries_model[table.message[puts]]
    refuse("message kind", both, puts, "a message carries updates or models, never both")
    mixed = carries_job[table.message[uses]] == (table.op[uses] == Op.MIX)
    refuse("message kind", mixed, uses, "updates are ADDed, models are MIXed")
    mixes = uses[table.op[uses] == Op.MIX]
    pair = table.message[mixes] * len(schedule.metadata.hosts) + table.replica[mixes]
    refuse("mix once", repeated(pair), mixes, "a recipient takes a message once")
    _check_mass(schedule, puts[table.job[puts] == ABSENT], mixes)


def _check_order(
    message: np.ndarray,
    puts: np.ndarray,
    uses: np.ndarray,
    drops: np.ndarray,
    in_flight: np.ndarray,
) -> None:
    count = len(in_flight)
    first_use, last_use, last_put = (np.full(count, -1) for _ in range(3))
    last_put[message[puts]] = puts
    last_use[message[uses]] = uses
    first_use[message[uses[::-1]]] = uses[::-1]
    refuse("message put", last_put < 0, nowhere(count), "every message needs a PUT")
    thawed = (first_use >= 0) & (last_put > first_use)
    refuse("message frozen", thawed, last_put, "a message is frozen at its first use")
    dropped = np.bincount(message[drops], minlength=count)
    refuse("message drop", dropped[message[drops]] > 1, drops, "a message is dropped once")
    refuse("message alive", (dropped == 0) & ~in_flight, nowhere(count), "declare it in flight")
    refuse("message alive", in_flight[message[drops]], drops, "dropped, yet declared in flight")
    late = np.maximum(last_use, last_put)[message[drops]] > drops
    refuse("message drop", late, drops, "a dropped message is never used")


def _check_mass(schedule: Schedule, puts: np.ndarray, mixes: np.ndarray) -> None:
    """At a donor keep + weight * recipients is 1; a copy makes an affine combination."""
    table, messages = schedule.rows, schedule.messages
    moves = messages.moves
    taken = np.bincount(table.message[mixes], table.weight[mixes], minlength=len(messages))
    given = np.bincount(table.message[puts], table.weight[puts], minlength=len(messages))
    kept = table.keep[puts]
    moving = moves[table.message[puts]]
    refuse("mass kept", moving == (kept == -1), puts, "only a message that moves mass has a keep")
    # While a moving message is in flight, whoever has not taken it yet is unknown.
    settled = moving & ~messages.in_flight[table.message[puts]]
    balance = kept + table.weight[puts] * taken[table.message[puts]]
    lost = settled & (np.abs(balance - 1) > _TOLERANCE)
    refuse("mass conserved", lost, puts, "keep + weight * recipients must be 1")
    moved = moves[table.message[mixes]]
    shrunk = moved & (table.keep[mixes] != 1)
    refuse("mass conserved", shrunk, mixes, "a recipient of moved mass keeps all of its own")
    blend = table.keep[mixes] + table.weight[mixes] * given[table.message[mixes]]
    skew = ~moved & (np.abs(blend - 1) > _TOLERANCE)
    refuse("affine", skew, mixes, "keep + weight * (sum of PUT weights) must be 1")
