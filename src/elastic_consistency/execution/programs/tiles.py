"""Tiles: replicates that run side by side while their arrays fit into the cache.

Compiled loops take one replicate after the other, so that tiles are what threads share out.
"""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import final

import numpy as np

from elastic_consistency.execution.probes.watch import Watch
from elastic_consistency.execution.programs.compilation import n_threads
from elastic_consistency.execution.programs.compiled_run import CompiledRun
from elastic_consistency.execution.programs.in_place_gradients import is_elementwise
from elastic_consistency.execution.programs.piece import Piece, together
from elastic_consistency.execution.programs.program import Program
from elastic_consistency.execution.programs.program_run import ProgramRun
from elastic_consistency.execution.programs.segments import Moments
from elastic_consistency.optimization.oracles import AbstractOracle
from elastic_consistency.optimization.update_rules import AbstractRule

TILE = 30_000  # numbers of one array; beyond it a batch is no faster than a loop

Array = np.ndarray


@final
class Tiles:
    """All replicates of one execution of one program, a tile at a time.

    Args:
        program: What to do.
        oracle: The problem.
        rule: The update rule.
        seeds: One seed a replicate.
        start: (R, d) first model.
        watches: Who looks; see ProgramRun.
        compiled: Whether loops are compiled.
    """

    def __init__(
        self,
        program: Program,
        oracle: AbstractOracle,
        rule: AbstractRule,
        *,
        seeds: tuple[int, ...],
        start: Array,
        watches: tuple[Watch, ...],
        compiled: bool = False,
    ) -> None:
        self.moments = Moments(program, watches)
        kind = CompiledRun if compiled else ProgramRun
        self._runs = [
            kind(
                program,
                oracle,
                rule,
                seeds=seeds[part],
                start=np.ascontiguousarray(start[part]),
                watches=watches,
                moments=self.moments,
            )
            for part in _parts(oracle, start, compiled=compiled)
        ]
        self._threads = min(len(self._runs), n_threads()) if compiled else 1

    def run(self, first: int, last: int) -> Piece:
        """Do some instructions for all replicates."""
        if self._threads == 1:
            return together([run.run(first, last) for run in self._runs])

        def quietly(run: CompiledRun | ProgramRun) -> Piece:
            # Each thread has its own way with overflow; who called this has switched it off.
            with np.errstate(over="ignore", invalid="ignore"):
                return run.run(first, last)

        with ThreadPoolExecutor(self._threads) as pool:
            return together(list(pool.map(quietly, self._runs)))

    def model(self, replica: int) -> Array:
        """(R, d) copy of the present model of a replica."""
        return np.concatenate([run.model(replica) for run in self._runs])

    def is_finite(self, replica: int) -> bool:
        """Whether the present model of a replica is finite."""
        return all(run.is_finite(replica) for run in self._runs)


def _parts(oracle: AbstractOracle, start: Array, *, compiled: bool) -> list[slice]:
    """Replicates of each tile; one tile where a batch might round differently."""
    count, d = start.shape
    if not is_elementwise(oracle):
        return [slice(0, count)]
    size = max(1, TILE // d)
    # Tiles of nearly equal size: a last one of a single replicate would cost as much as a full.
    n_tiles = min(count, n_threads()) if compiled else -(-count // size)
    ends = [count * k // n_tiles for k in range(n_tiles + 1)]
    return [slice(first, last) for first, last in pairwise(ends)]
