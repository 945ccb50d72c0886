"""Tiles: replicates that run side by side while their arrays fit into the cache."""

from itertools import pairwise
from typing import final

import numpy as np

from elastic_consistency.execution.probes.watch import Watch
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
            for part in _parts(oracle, start)
        ]

    def run(self, first: int, last: int) -> Piece:
        """Do some instructions for all replicates."""
        return together([run.run(first, last) for run in self._runs])

    def model(self, replica: int) -> Array:
        """(R, d) copy of the present model of a replica."""
        return np.concatenate([run.model(replica) for run in self._runs])

    def is_finite(self, replica: int) -> bool:
        """Whether the present model of a replica is finite."""
        return all(run.is_finite(replica) for run in self._runs)


def _parts(oracle: AbstractOracle, start: Array) -> list[slice]:
    """Replicates of each tile; one tile where a batch might round differently."""
    count, d = start.shape
    if not is_elementwise(oracle):
        return [slice(0, count)]
    size = max(1, TILE // d)
    # Tiles of nearly equal size: a last one of a single replicate would cost as much as a full.
    n_tiles = -(-count // size)
    ends = [count * k // n_tiles for k in range(n_tiles + 1)]
    return [slice(first, last) for first, last in pairwise(ends)]
