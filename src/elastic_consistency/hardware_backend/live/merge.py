"""The logs of all ranks become one schedule, in an order that causality allows."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import Any, final

from elastic_consistency.hardware_backend.live.log import Entry, Log
from elastic_consistency.schedule import Op, Recorder, Schedule

_STAGES = {Op.READ: 0, Op.ENCODE: 1, Op.ADD: 2, Op.PUT: 2, Op.DROP: 3}
_OF_MESSAGES = {Op.PUT: 0, Op.ADD: 1, Op.MIX: 1}


@final
@dataclass(frozen=True, slots=True, eq=False)
class Merged:
    """A recorded schedule, and how far times were moved to keep causes before effects.

    Attributes:
        schedule: The schedule; its clock starts at the first event.
        shift: Largest change of a time, s; no more than the clocks' error if all is well.
    """

    schedule: Schedule
    shift: float


def merge(
    logs: list[Log],
    *,
    n_workers: int,
    hosts: tuple[int, ...],
    block_sizes: tuple[int, ...],
    seed: int,
    provenance: dict[str, Any],
) -> Merged:
    """Sort all entries by time, but never an effect before its cause.

    Causes: the earlier entries of the same rank; the stages of a job; the PUTs of a message
    before its uses; the turns at a shared block. GRADIENT rows follow from the last READ of a
    job, and DROP rows of messages from their last use: nobody logs them.

    Raises:
        ValueError: If causes and effects form a circle: the logs contradict each other.
    """
    entries = [entry for log in logs for entry in log.entries]
    order = _causal_order(entries, _edges(logs, entries))
    start = min((entry.time for entry in entries), default=0.0)
    writer = _Writer(logs, start, n_workers, hosts, block_sizes, seed, provenance)
    for number in order:
        writer.write(entries[number])
    return Merged(writer.finish(), writer.shift)


def _edges(logs: list[Log], entries: list[Entry]) -> list[tuple[int, int]]:
    edges: list[tuple[int, int]] = []
    first = 0
    for log in logs:
        numbers = range(first, first + len(log.entries))
        edges += pairwise(numbers)
        first += len(log.entries)
    jobs: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    messages: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    shared: dict[tuple[int, int], dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for number, entry in enumerate(entries):
        if entry.job >= 0:
            jobs[entry.job][_STAGES[entry.op]].append(number)
        if entry.message >= 0:
            messages[entry.message][_OF_MESSAGES[entry.op]].append(number)
        if entry.turn >= 0:
            shared[entry.replica, entry.block][entry.turn].append(number)
    for groups in (*jobs.values(), *messages.values(), *shared.values()):
        edges += _between_stages(groups)
    return edges


def _between_stages(groups: dict[int, list[int]]) -> Iterable[tuple[int, int]]:
    stages = [groups[stage] for stage in sorted(groups)]
    for earlier, later in pairwise(stages):
        yield from ((a, b) for a in earlier for b in later)


def _causal_order(entries: list[Entry], edges: list[tuple[int, int]]) -> list[int]:
    after: dict[int, list[int]] = defaultdict(list)
    waits_for = [0] * len(entries)
    for cause, effect in edges:
        after[cause].append(effect)
        waits_for[effect] += 1
    ready = [(entry.time, k) for k, entry in enumerate(entries) if waits_for[k] == 0]
    heapify(ready)
    order: list[int] = []
    while ready:
        _, number = heappop(ready)
        order.append(number)
        for effect in after[number]:
            waits_for[effect] -= 1
            if waits_for[effect] == 0:
                heappush(ready, (entries[effect].time, effect))
    if len(order) < len(entries):
        raise ValueError(
            f"Logs must be free of circles, got {len(entries) - len(order)} entries that wait "
            "for each other."
        )
    return order


@final
class _Writer:
    """Writes entries with a recorder whose clock never runs backwards."""

    def __init__(
        self,
        logs: list[Log],
        start: float,
        n_workers: int,
        hosts: tuple[int, ...],
        block_sizes: tuple[int, ...],
        seed: int,
        provenance: dict[str, Any],
    ) -> None:
        self._start, self._now, self.shift = start, 0.0, 0.0
        self._recorder = Recorder(
            lambda: self._now,
            n_workers=n_workers,
            hosts=hosts,
            block_sizes=block_sizes,
            seed=seed,
            provenance=provenance,
        )
        self._workers = {job: worker for log in logs for job, worker in log.workers.items()}
        self._begins = {job: time for log in logs for job, time in log.begins.items()}
        self._moved = {message for log in logs for message in log.moved}
        self._numbers: dict[int, int] = {}
        self._free: dict[int, float] = defaultdict(float)
        self._read_at: dict[int, float] = {}
        entries = [entry for log in logs for entry in log.entries]
        self._reads = Counter(entry.job for entry in entries if entry.op is Op.READ)
        self._uses = Counter(entry.message for entry in entries if entry.op in (Op.ADD, Op.MIX))
        rounds = {job: round for log in logs for job, round in log.rounds.items()}
        for job in range(len(self._workers)):
            self._recorder.job(self._workers[job], round=rounds.get(job, -1))

    def write(self, entry: Entry) -> None:
        time = entry.time - self._start
        self.shift = max(self.shift, self._now - time)
        self._now = max(self._now, time)
        if entry.op is Op.ENCODE:
            self._begin(entry.job)
        if entry.op is Op.READ:
            self._read(entry)
        elif entry.op is Op.ENCODE:
            self._recorder.encode(entry.job, block=entry.block)
        elif entry.op is Op.STEP:
            self._recorder.step(entry.replica, block=entry.block)
        elif entry.op is Op.DROP:
            self._recorder.drop(job=entry.job, share=entry.share)
        elif entry.op is Op.PUT:
            self._put(entry)
        else:
            self._use(entry)

    def finish(self) -> Schedule:
        return self._recorder.finish()

    def _read(self, entry: Entry) -> None:
        self._read_at[entry.job] = self._now
        self._recorder.read(entry.job, entry.replica, block=entry.block)
        self._reads[entry.job] -= 1
        if self._reads[entry.job] == 0:
            self._recorder.gradient(entry.job)

    def _put(self, entry: Entry) -> None:
        self._recorder.put(
            self._number(entry.message),
            job=entry.job,
            replica=entry.replica,
            block=entry.block,
            weight=entry.weight,
            keep=entry.keep,
        )

    def _use(self, entry: Entry) -> None:
        message, weight = self._number(entry.message), entry.weight
        if entry.op is Op.MIX:
            self._recorder.mix(entry.replica, message, keep=entry.keep, weight=weight)
        else:
            self._recorder.add(
                entry.replica, job=entry.job, message=message, block=entry.block, weight=weight
            )
        if message >= 0:
            self._uses[entry.message] -= 1
            if self._uses[entry.message] == 0:
                self._recorder.drop(message=message)

    def _begin(self, job: int) -> None:
        """A job begins after its READ, when its worker is free, and before it was encoded."""
        worker = self._workers[job]
        begun = self._begins[job] - self._start
        settled = min(max(begun, self._read_at[job], self._free[worker]), self._now)
        self.shift = max(self.shift, abs(settled - begun))
        self._recorder.begin(job, settled)
        self._free[worker] = self._now

    def _number(self, message: int) -> int:
        if message < 0:
            return message
        if message not in self._numbers:
            self._numbers[message] = self._recorder.message(moves=message in self._moved)
        return self._numbers[message]
