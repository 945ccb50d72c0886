"""Engines: the ways to execute a schedule, all with the same bits."""

import sys
from enum import Enum
from importlib.util import find_spec
from typing import Any

import numpy as np

from elastic_consistency.execution.probes.watch import Moment, Watch
from elastic_consistency.execution.programs.compiled_run import can_compile
from elastic_consistency.execution.programs.in_place_steps import sends_its_gradient
from elastic_consistency.execution.programs.program import Program
from elastic_consistency.execution.programs.translation import can_translate, translate
from elastic_consistency.optimization.compression import AbstractCodec, Identity
from elastic_consistency.optimization.oracles import AbstractOracle
from elastic_consistency.optimization.update_rules import AbstractRule
from elastic_consistency.schedule import ABSENT, Op, Schedule

_CALL = 1000  # numbers that NumPy could have handled while it was called
_WORTH_LOADING = 10**8  # numbers; loading compiled code takes as long, once a process
# Short models in many replicates: NumPy handles all in one call, compiled loops one after another.
_SHORT, _MANY = 200, 8


class Engine(Enum):
    """How rows are executed.

    ROWS       one by one, by the Executor: any schedule, any array library; the specification
    PROGRAM    translated into a program first: NumPy, schedules of one block
    COMPILED   a program in machine code: linear rules on built-in oracles; needs Numba, and runs
               replicates on NUMBA_NUM_THREADS threads, by default as many as there are cores
    FASTEST    COMPILED where it is possible and worth loading machine code, which takes a third of
               a second at its first use in a process, else PROGRAM, else ROWS
    """

    ROWS = "rows"
    PROGRAM = "program"
    COMPILED = "compiled"
    FASTEST = "fastest"


def program_of(
    schedule: Schedule,
    oracle: AbstractOracle,
    rule: AbstractRule,
    codec: AbstractCodec | None,
    start: Any,
    watches: tuple[Watch, ...],
    engine: Engine,
) -> tuple[Program, bool] | None:
    """The program of an execution, and whether it is compiled; None if only rows can express it.

    Raises:
        ModuleNotFoundError: If compiled loops were asked for and Numba is not there.
        ValueError: If the engine that was asked for cannot express the execution.
    """
    moments = [watch.moment for watch in watches]
    singly = all(moments.count(moment) <= 1 for moment in (Moment.ADDED, Moment.STARTED))
    simple = type(start) is np.ndarray and isinstance(codec, Identity | None)
    if not (simple and singly and sends_its_gradient(rule)):
        return None
    if not can_translate(schedule):
        return None
    compiled = _should_compile(engine, schedule, oracle, rule, start)
    eager = bool(oracle.draws_per_job) or Moment.STARTED in moments or _uses_repeat(schedule)
    program = translate(
        schedule,
        factors(schedule, rule),
        eager=eager,
        looks_at_adds=Moment.ADDED in moments,
        compiled=compiled,
    )
    return program, compiled


def factors(schedule: Schedule, rule: AbstractRule) -> np.ndarray:
    """(K,) weight times the rule's scale of each ADD row, in order."""
    weight = schedule.rows.weight[schedule.rows.op == Op.ADD]
    if type(rule).scale is AbstractRule.scale:
        return weight * 1.0
    steps, place = np.unique(schedule.staleness().steps, return_inverse=True)
    return weight * np.array([rule.scale(int(step)) for step in steps], np.float64)[place]


def _uses_repeat(schedule: Schedule) -> bool:
    """Whether a gradient is used twice, so that it is worth keeping."""
    table = schedule.rows
    used = table.job[((table.op == Op.ADD) | (table.op == Op.PUT)) & (table.job != ABSENT)]
    return bool((np.bincount(used, minlength=1) > 1).any())


def _should_compile(
    engine: Engine, schedule: Schedule, oracle: AbstractOracle, rule: AbstractRule, start: Any
) -> bool:
    possible, installed = can_compile(oracle, rule, start), numba_is_installed()
    if engine is Engine.COMPILED and not possible:
        raise ValueError("Engine.COMPILED cannot express this execution.")
    if engine is Engine.COMPILED and not installed:
        raise ModuleNotFoundError(
            "Engine.COMPILED needs Numba: pip install 'elastic-consistency[speed]'."
        )
    replicates, d = start.shape
    worth = _kernels_are_loaded() or len(schedule.jobs) * (start.size + _CALL) >= _WORTH_LOADING
    worth &= d >= _SHORT or replicates <= _MANY
    wanted = engine is Engine.COMPILED or (engine is Engine.FASTEST and worth)
    return wanted and possible and installed


def _kernels_are_loaded() -> bool:
    return "elastic_consistency.execution.programs.compiled_kernels" in sys.modules


def numba_is_installed() -> bool:
    """Whether the extra `speed` is there."""
    return find_spec("numba") is not None
