"""Invariants of jobs: read, differentiated, encoded, used, dropped, in this order."""

import numpy as np

from elastic_consistency.schedule.errors import nowhere, refuse, repeated
from elastic_consistency.schedule.ops import ABSENT, Op
from elastic_consistency.schedule.table import Schedule

_USES = (Op.ADD, Op.PUT)
_LIFE = (Op.READ, Op.GRADIENT, Op.ENCODE, Op.ADD, Op.PUT, Op.DROP)
_OR_MESSAGE = (Op.ADD, Op.PUT, Op.DROP)  # rows that need not name a job
_TOLERANCE = 1e-12
Span = tuple[np.ndarray, np.ndarray, np.ndarray]


def check_jobs(schedule: Schedule) -> None:
    """Raise ScheduleError unless every job lives as it must."""
    lives = _Lives(schedule)
    lives.check_order()
    lives.check_blocks()
    lives.check_uses()
    lives.check_end()
    check_net_weights(schedule)
    check_one_at_a_time(lives)
    check_crashes(schedule)


class _Lives:
    """First and last rows of each operation by job."""

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        self.table = schedule.rows
        self.n_jobs = len(schedule.jobs)
        self._by_op = {op: self._rows_of_one(op) for op in _LIFE}
        self._spans = {op: self._span_of_one(op) for op in _LIFE}
        self.read, self.gradient = self._spans[Op.READ], self._spans[Op.GRADIENT]
        self.encode, self.drop = self._spans[Op.ENCODE], self._spans[Op.DROP]

    def _rows_of_one(self, op: Op) -> np.ndarray:
        rows = np.flatnonzero(self.table.op == op)
        return rows[self.table.job[rows] != ABSENT] if op in _OR_MESSAGE else rows

    def _rows(self, *ops: Op) -> np.ndarray:
        if len(ops) == 1:
            return self._by_op[ops[0]]
        return np.sort(np.concatenate([self._by_op[op] for op in ops]), kind="stable")

    def _span_of_one(self, op: Op) -> Span:
        rows = self._by_op[op]
        job = self.table.job[rows]
        first, last = np.full(self.n_jobs, -1), np.full(self.n_jobs, -1)
        last[job] = rows
        first[job[::-1]] = rows[::-1]
        return np.bincount(job, minlength=self.n_jobs), first, last

    def _span(self, *ops: Op) -> Span:
        """Number of rows, first row and last row by job; -1 for none."""
        count, first, last = self._spans[ops[0]]
        for op in ops[1:]:
            more, begin, end = self._spans[op]
            if len(self._by_op[op]):
                # -1 is the largest of all once it is read as unsigned.
                first = np.minimum(first.view(np.uint64), begin.view(np.uint64)).view(np.int64)
                count, last = count + more, np.maximum(last, end)
        return count, first, last

    def check_order(self) -> None:
        """READ+, then at once GRADIENT, then everything else; the worker is the job's own."""
        table, jobs = self.table, self.schedule.jobs
        own = self._rows(Op.READ, Op.GRADIENT, Op.ENCODE)
        stranger = jobs.worker[table.job[own]] != table.worker[own]
        refuse("job worker", stranger, own, "the worker must be the one of the job")
        refuse("job read", self.read[0] == 0, nowhere(self.n_jobs), "every job needs a READ")
        count, first, last = self.gradient
        refuse("job gradient", count > 1, last, "a job has one GRADIENT")
        late = (count == 1) & (first != self.read[2] + 1)
        refuse("job gradient", late, first, "GRADIENT must follow the job's last READ at once")
        count, first, _ = self._span(Op.ENCODE, *_USES)
        early = (count > 0) & ((self.gradient[0] == 0) | (first < self.gradient[1]))
        refuse("job order", early, first, "a job is used only after its GRADIENT")

    def check_blocks(self) -> None:
        """A view covers every block once; a job with its own block encodes and sends only that."""
        declared = self.schedule.jobs.block
        rows = self._rows(Op.ENCODE, *_USES)
        own = declared[self.table.job[rows]]
        foreign = (own != ABSENT) & (self.table.block[rows] != own)
        refuse("job block", foreign, rows, "a job with its own block must name that block")
        self._once(Op.ENCODE)
        total = self._once(Op.READ)
        # A job in flight at the end, or lost, may have been cut in the middle of its READs.
        complete = (self.gradient[0] > 0) | ((self.drop[0] > 0) & (self.schedule.jobs.share != 0))
        partial = complete & (total < self.schedule.metadata.n_blocks)
        refuse("READ all", partial, self.read[2], "READ must cover every block")

    def _once(self, op: Op) -> np.ndarray:
        """(J,) blocks covered by the rows of `op`, none of them twice."""
        rows, blocks = self._rows(op), self.schedule.metadata.n_blocks
        job, block = self.table.job[rows], self.table.block[rows]
        covered = np.where(block == ABSENT, blocks, 1)
        total = np.bincount(job, covered, minlength=self.n_jobs)
        twice = total[job] > blocks
        if blocks > 1:  # with one block, twice is too much already
            twice |= repeated(job * (blocks + 1) + block + 1)
        refuse(f"{op.name} once", twice, rows, f"{op.name} covers each block at most once")
        return total

    def check_uses(self) -> None:
        """A block is encoded before it is used."""
        table, blocks = self.table, self.schedule.metadata.n_blocks
        encodes, uses = self._rows(Op.ENCODE), self._rows(*_USES)
        when = np.full((self.n_jobs, blocks), len(table))
        job, block = table.job[encodes], table.block[encodes]
        whole = block == ABSENT
        when[job[whole], :] = encodes[whole, None]
        when[job[~whole], block[~whole]] = encodes[~whole]
        job, block = table.job[uses], table.block[uses]
        needed = np.where(block == ABSENT, when[job].max(axis=1), when[job, np.maximum(block, 0)])
        refuse("encode first", needed > uses, uses, "a block is used only after its ENCODE")

    def check_end(self) -> None:
        """DROP comes last and once, or the job is declared in flight; shares are settled."""
        share = self.schedule.jobs.share
        in_flight = np.isnan(share)
        count, first, last = self.drop
        refuse("job drop", count > 1, last, "a job is dropped once")
        open_ended = (count == 0) & ~in_flight
        refuse(
            "job alive",
            open_ended,
            nowhere(self.n_jobs),
            "a job at the end must be declared in flight",
        )
        unsettled = (count == 1) & in_flight
        refuse("job share", unsettled, first, "DROP of a job settles its share")
        refuse("job share", np.isinf(share), nowhere(self.n_jobs), "a share must be finite")
        _, _, latest = self._span(Op.READ, Op.GRADIENT, Op.ENCODE, *_USES)
        refuse("job drop", (count == 1) & (latest > first), latest, "a dropped job is never used")
        used, _, _ = self._span(*_USES)
        unused = (count == 1) & (share != 0) & (used == 0)
        refuse("job share", unused, first, "a job that nobody used has share 0")


def check_net_weights(schedule: Schedule) -> None:
    """The net ADD weight of a job at a replica is equal over the job's blocks."""
    table, blocks = schedule.rows, schedule.metadata.n_blocks
    rows = np.flatnonzero((table.op == Op.ADD) & (table.job != ABSENT))
    if blocks == 1 or not len(rows):
        return
    pair = table.job[rows] * len(schedule.metadata.hosts) + table.replica[rows]
    _, pair = np.unique(pair, return_inverse=True)
    block = table.block[rows]
    whole = block == ABSENT
    net = np.zeros((pair.max() + 1, blocks))
    np.add.at(net, (pair[~whole], block[~whole]), table.weight[rows[~whole]])
    np.add.at(net, pair[whole], table.weight[rows[whole], None])
    declared = schedule.jobs.block[table.job[rows]]
    ended = ~np.isnan(schedule.jobs.share[table.job[rows]])  # else cut in the middle of its ADDs
    uneven = (np.ptp(net, axis=1)[pair] > _TOLERANCE) & (declared == ABSENT) & ended
    refuse("net weight", uneven, rows, "net ADD weight must be equal over a job's blocks")


def check_one_at_a_time(lives: _Lives) -> None:
    """A job begins after its first READ and ends at its last ENCODE; a worker has one at a time."""
    table, jobs = lives.table, lives.schedule.jobs
    start = table.time[lives.read[1]]
    encoded = lives.encode[0] > 0
    refuse("begin", encoded & ~(jobs.begin >= start), lives.encode[1], "begin must follow READ")
    early = encoded & (table.time[lives.encode[1]] < jobs.begin)
    refuse("begin", early, lives.encode[1], "ENCODE must not come before begin")
    dropped = np.where(lives.drop[0] > 0, table.time[lives.drop[1]], np.inf)
    end = np.where(encoded, table.time[lives.encode[2]], dropped)
    for row in np.flatnonzero(table.op == Op.CRASH):
        lost = (jobs.worker == table.worker[row]) & (jobs.begin <= table.time[row])
        end[lost] = np.minimum(end[lost], table.time[row])
    began = np.flatnonzero(~np.isnan(jobs.begin))
    order = began[_by_worker(jobs.worker[began], jobs.begin[began], end[began])]
    after, before = order[1:], order[:-1]
    overlap = (jobs.worker[after] == jobs.worker[before]) & (jobs.begin[after] < end[before])
    refuse("one at a time", overlap, lives.read[1][after], "a worker computes one job at a time")


def _by_worker(worker: np.ndarray, begin: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Order by worker, then begin, then end."""
    # Two bytes are sorted by counting, and a worker's jobs nearly always are in order.
    order = np.argsort((worker & 0xFFFF).astype(np.uint16), kind="stable")
    if worker.max(initial=0) > 0xFFFF:
        order = order[np.argsort((worker[order] >> 16).astype(np.uint16), kind="stable")]
    same = worker[order[1:]] == worker[order[:-1]]
    later = begin[order[1:]] > begin[order[:-1]]
    return order if (later | ~same).all() else np.lexsort((end, begin, worker))


def check_crashes(schedule: Schedule) -> None:
    """A crashed worker reads, differentiates and encodes nothing until it restarts."""
    table = schedule.rows
    crashes = np.flatnonzero(table.op == Op.CRASH)
    if not len(crashes):
        return
    restarts = [(a.row, a.worker) for a in schedule.metadata.annotations if a.kind == "restart"]
    active = np.isin(table.op, (Op.READ, Op.GRADIENT, Op.ENCODE))
    for row in crashes:
        worker = table.worker[row]
        back = min((r for r, w in restarts if w == worker and r > row), default=len(table))
        dead = np.arange(row + 1, back)
        zombie = active[dead] & (table.worker[dead] == worker)
        refuse("crash", zombie, dead, f"worker {worker} has crashed and not restarted")
