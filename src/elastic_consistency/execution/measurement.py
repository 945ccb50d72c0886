"""Executing a whole schedule, and what comes out of it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from array_api_compat import array_namespace

from elastic_consistency.execution.engine import Engine, program_of
from elastic_consistency.execution.executor import Executor
from elastic_consistency.execution.probes.base import AbstractObserver, AbstractProbe, Context
from elastic_consistency.execution.programs.memory_plan import MemoryPlan, plan_memory
from elastic_consistency.execution.programs.program_execution import ProgramExecution
from elastic_consistency.execution.programs.tiles import Tiles
from elastic_consistency.execution.trace import Trace
from elastic_consistency.optimization.compression import AbstractCodec
from elastic_consistency.optimization.oracles import AbstractOracle
from elastic_consistency.optimization.update_rules import AbstractRule
from elastic_consistency.schedule import Rows, Schedule

Array = Any


@final
@dataclass(frozen=True, slots=True, eq=False)
class Measurement:
    """What the probes saw and what the replicas became.

    Attributes:
        traces: By name.
        models: Final (R, d) model of each replica, in the library of the execution.
        seeds: One a replicate.
        digest: Digest of the schedule.
    """

    traces: dict[str, Trace]
    models: tuple[Array, ...]
    seeds: tuple[int, ...]
    digest: str

    def __getitem__(self, name: str) -> Trace:
        if name not in self.traces:
            raise KeyError(f"no trace {name!r}; measured were {sorted(self.traces)}")
        return self.traces[name]


@final
class Execution:
    """One execution of one schedule, chunk by chunk, so that a caller can show progress.

    Args:
        schedule: What to execute; it is not checked again here.
        oracle: The problem.
        rule: The update rule.
        seeds: One seed a replicate.
        codec: Compression of updates; none by default.
        probes: What to measure.
        start: (R, d) or (d,) first model, of any array library; the oracle's by default.
        engine: How to execute; it changes the speed and nothing else.
    """

    def __init__(
        self,
        schedule: Schedule,
        oracle: AbstractOracle,
        rule: AbstractRule,
        *,
        seeds: tuple[int, ...],
        codec: AbstractCodec | None = None,
        probes: tuple[AbstractProbe, ...] = (),
        start: Array | None = None,
        engine: Engine = Engine.FASTEST,
    ) -> None:
        if not seeds:
            raise ValueError("Execution.seeds must hold at least one seed, got ().")
        context = Context(schedule, oracle, rule)
        self._schedule, self._seeds = schedule, tuple(seeds)
        self._observers = [probe.start(context) for probe in probes]
        start = _replicated(oracle.start() if start is None else start, len(seeds))
        self._executor = Executor(
            schedule.metadata,
            oracle,
            rule,
            seeds=self._seeds,
            start=start,
            codec=codec,
            observers=_by_operation(probes, self._observers),
            keep_views=any(probe.needs_view for probe in probes),
        )
        #: What the execution will need at its peak; None when rows are executed one by one.
        self.memory_plan: MemoryPlan | None = None
        self._program = self._translated(oracle, rule, codec, start, engine)

    def _translated(
        self,
        oracle: AbstractOracle,
        rule: AbstractRule,
        codec: AbstractCodec | None,
        start: Array,
        engine: Engine,
    ) -> ProgramExecution | None:
        if engine is Engine.ROWS:
            return None
        asked = [observer.watch() for observer in self._observers]
        watches = tuple(watch for watch in asked if watch)
        found = None
        if len(watches) == len(asked):
            found = program_of(self._schedule, oracle, rule, codec, start, watches, engine)
        if found is not None:
            program, compiled = found
            self.memory_plan = plan_memory(program, oracle, rule, start, watches)
            tiles = Tiles(
                program,
                oracle,
                rule,
                seeds=self._seeds,
                start=start,
                watches=watches,
                compiled=compiled,
            )
            return ProgramExecution(self._schedule, program, watches, tiles)
        if engine is not Engine.FASTEST:
            raise ValueError(f"Engine.{engine.name} cannot express this execution.")
        return None

    def chunks(self, size: int = 8192) -> Iterator[Rows]:
        """Execute; yield each chunk of rows after it was executed.

        Raises:
            DivergenceError: If a model is no longer finite. What was measured stays available.
        """
        # Overflow is not worth a warning here: the executor looks for it and stops.
        with np.errstate(over="ignore", invalid="ignore"):
            for observer in self._observers:
                observer.open(self._executor)
        run = self._program.run if self._program else self._run_rows()
        first = 0
        for rows in self._schedule.chunks(size):
            with np.errstate(over="ignore", invalid="ignore"):
                run(first, rows)
            first += len(rows)
            yield rows
        state = self._program or self._executor
        for replica in range(len(self._schedule.metadata.hosts)):
            state.refuse_infinity(replica)

    def _run_rows(self) -> Callable[[int, Rows], None]:
        staleness = iter(self._schedule.staleness().steps.tolist())
        return lambda first, rows: self._executor.execute(rows, staleness)

    def measurement(self) -> Measurement:
        """What was measured so far."""
        traces = {t.name: t for observer in self._observers for t in observer.traces()}
        state = self._program or self._executor
        models = tuple(state.model(r) for r in range(len(self._schedule.metadata.hosts)))
        return Measurement(traces, models, self._seeds, self._schedule.digest())


def execute(
    schedule: Schedule, oracle: AbstractOracle, rule: AbstractRule, **options: Any
) -> Measurement:
    """Execute a schedule and return what was measured; see Execution for the options."""
    execution = Execution(schedule, oracle, rule, **options)
    for _ in execution.chunks():
        pass
    return execution.measurement()


def _by_operation(
    probes: tuple[AbstractProbe, ...], observers: list[AbstractObserver]
) -> dict[int, tuple[AbstractObserver, ...]]:
    watchers: dict[int, tuple[AbstractObserver, ...]] = {}
    for probe, observer in zip(probes, observers, strict=True):
        for op in probe.watches:
            watchers[int(op)] = (*watchers.get(int(op), ()), observer)
    return watchers


def _replicated(start: Array, count: int) -> Array:
    """(R, d) copies of a (d,) start; a (R, d) start is taken as it is."""
    if start.ndim == 2:
        return start
    return array_namespace(start).stack([start] * count)
