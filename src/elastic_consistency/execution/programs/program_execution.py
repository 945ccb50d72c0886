"""A program in the place of the executor: rows in, measurements out."""

from typing import final

import numpy as np

from elastic_consistency.execution.divergence import DivergenceError
from elastic_consistency.execution.probes.watch import Moment, Watch
from elastic_consistency.execution.programs.piece import Piece
from elastic_consistency.execution.programs.program import ADDS, STEPS, Do, Program, among
from elastic_consistency.execution.programs.tiles import Tiles
from elastic_consistency.schedule import Rows, Schedule


@final
class ProgramExecution:
    """Runs a program chunk by chunk and hands what it saw to the probes.

    Args:
        schedule: The schedule.
        program: Its program.
        watches: What the probes ask for.
        tiles: The replicates at work.
    """

    def __init__(
        self, schedule: Schedule, program: Program, watches: tuple[Watch, ...], tiles: Tiles
    ) -> None:
        self._program, self._watches, self._tiles = program, watches, tiles
        self._time = schedule.rows.time
        self._done = 0
        self.model = tiles.model

    def run(self, first: int, rows: Rows) -> None:
        """Execute `rows`, which begin at row `first` of the schedule.

        Raises:
            DivergenceError: If a model is no longer finite.
        """
        last = int(np.searchsorted(self._program.row, first + len(rows)))
        begin, self._done = self._done, last
        piece = self._tiles.run(begin, last)
        for number, squares in enumerate(piece.squares):
            if squares is not None:
                self._report_gaps(number, begin, squares)
        self._report_looks(piece)
        if piece.stopped is not None:
            self._done = piece.stopped + 1
            raise self._divergence(int(self._program.replica[piece.stopped]))

    def refuse_infinity(self, replica: int) -> None:
        """Raise DivergenceError if the replica's model is not finite."""
        if not self._tiles.is_finite(replica):
            raise self._divergence(replica)

    def _report_gaps(self, number: int, begin: int, squares: np.ndarray) -> None:
        moments = self._tiles.moments.of_watch[number]
        skipped = int(np.searchsorted(moments, begin))
        moments = moments[skipped : skipped + len(squares)]
        report = self._watches[number].gaps
        assert report is not None
        report(self._times(moments), self._program.job[moments], squares)

    def _report_looks(self, piece: Piece) -> None:
        program, moments_of = self._program, self._tiles.moments.of_watch
        for number, before, values in piece.looks:
            watch = self._watches[number]
            if watch.moment is Moment.STEPPED:
                time = float(self._time[program.row[before - 1]])
                count = int(np.searchsorted(moments_of[number], before))
                watch.looked(time, count, values)
            else:
                time = float(self._times(np.array([before]))[0])
                watch.looked(time, int(program.job[before]), values)

    def _times(self, instructions: np.ndarray) -> np.ndarray:
        """Time of the GRADIENT or ADD row of each instruction; APPLY names its STEP row."""
        program = self._program
        return self._time[program.row[instructions] - (program.do[instructions] == Do.APPLY)]

    def _divergence(self, replica: int) -> DivergenceError:
        done = self._program.do[: self._done]
        adding = np.flatnonzero(among(done, ADDS))
        last = adding[-1] if len(adding) else None
        job, worker = (
            (-1, -1)
            if last is None
            else (int(self._program.job[last]), int(self._program.worker[last]))
        )
        return DivergenceError(job, worker, replica, int(np.count_nonzero(among(done, STEPS))))
