"""The interpreter of a schedule: it executes rows in order, on arrays of any library."""

from collections.abc import Iterable, Iterator
from typing import Any, final

from array_api_compat import array_namespace

from elastic_consistency.execution.divergence import DivergenceError
from elastic_consistency.execution.probes.base import AbstractObserver, Event
from elastic_consistency.execution.programs.in_place_steps import sends_its_gradient
from elastic_consistency.optimization.compression import AbstractCodec, Identity
from elastic_consistency.optimization.oracles import AbstractOracle
from elastic_consistency.optimization.update_rules import AbstractRule
from elastic_consistency.random_streams import Cause, JobUniforms
from elastic_consistency.schedule import Metadata, Op, Rows

Array = Any
Blocks = list[Array]
Record = tuple[int, int, int, int, int, int, float, float, float, int]
_CHECK_EVERY = 16  # STEPs between two looks for infinities


@final
class Executor:
    """State of one execution, R replicates at a time.

    Replica r holds x as a list of blocks (R, d_block) and its mass; views share the arrays of
    the replica that they read, since a STEP makes new ones. Memory holds the views, gradients
    and updates that are in flight and nothing else.

    Args:
        metadata: Of the schedule whose rows will be executed.
        oracle: The problem.
        rule: The update rule.
        seeds: One seed a replicate.
        start: (R, d) first model of every replica; its library, dtype and device are used
            throughout.
        codec: Compression of updates.
        observers: Observers by operation.
        keep_views: Let views live until their job is dropped.
    """

    def __init__(
        self,
        metadata: Metadata,
        oracle: AbstractOracle,
        rule: AbstractRule,
        *,
        seeds: tuple[int, ...],
        start: Array,
        codec: AbstractCodec | None = None,
        observers: dict[int, tuple[AbstractObserver, ...]] | None = None,
        keep_views: bool = False,
    ) -> None:
        self._oracle, self._rule, self._codec = oracle, rule, codec or Identity()
        self._seeds = seeds
        self._samples = JobUniforms(seeds, Cause.SAMPLE, -1, oracle.draws_per_job)
        self._draws: dict[tuple[int, int], JobUniforms] = {}
        self._xp = array_namespace(start)
        self._bounds = _block_bounds(metadata.block_sizes, start.shape[1])
        self._every_block = range(len(self._bounds))
        self._start = self._split(start)
        self._x = [list(self._start) for _ in metadata.hosts]
        self._mass = [1.0 for _ in metadata.hosts]
        self._buffer: list[dict[int, Array]] = [{} for _ in metadata.hosts]
        self._replica_state: dict[int, list[Any]] = {}
        self._worker_state: dict[tuple[int, int], tuple[Any, Any]] = {}
        self._views: dict[int, list[Array | None]] = {}
        self._latest: dict[int, list[Array | None]] = {}
        self._gradients: dict[int, Blocks] = {}
        self._updates: dict[int, dict[int, Array]] = {}
        self._messages: dict[int, tuple[dict[int, Array], float]] = {}
        watchers = observers or {}
        self._watched = [watchers.get(int(op), ()) for op in Op]
        self._keep_views = keep_views or rule.needs_view
        self._steps = 0
        self._owners: dict[int, int] = {}
        self._last = (-1, -1)  # job and worker of the last ADD
        self._sends_gradient = sends_its_gradient(rule) and isinstance(self._codec, Identity)
        self._handlers = self._dispatch()

    @property
    def steps(self) -> int:
        """STEP rows executed so far."""
        return self._steps

    def model(self, replica: int) -> Array:
        """(R, d) model of a replica, divided by its mass."""
        mass = self._mass[replica]
        blocks = self._x[replica]
        return self._join(blocks if mass == 1.0 else [b / mass for b in blocks])

    def mass(self, replica: int) -> float:
        """Push-sum mass of a replica."""
        return self._mass[replica]

    def total_mass(self) -> float:
        """Mass of all replicas and of all messages in flight."""
        return sum(self._mass) + sum(mass for _, mass in self._messages.values())

    def mean_model(self) -> Array:
        """(R, d) mass-weighted mean of all replicas and of all models in flight."""
        flying = [blocks for blocks, mass in self._messages.values() if mass]
        total = [sum((x[b] for x in self._x[1:]), self._x[0][b]) for b in range(len(self._bounds))]
        for blocks in flying:
            total = [t + blocks[b] for b, t in enumerate(total)]
        return self._join([t / self.total_mass() for t in total])

    def view(self, job: int) -> Array:
        """(R, d) view of a job that is still kept."""
        return self._join(self._views[job])

    def gradient_of(self, job: int) -> Array:
        """(R, d) stochastic gradient of a job in flight."""
        return self._join(self._gradients[job])

    # What follows is for a transport that carries operands between executors, each of which
    # executes the rows of its own workers and replicas. The arithmetic stays here.

    def width(self, blocks: tuple[int, ...]) -> int:
        """Parameters in some blocks together; () means the whole model."""
        chosen = [self._bounds[b] for b in self._chosen(blocks)]
        return sum(last - first for first, last in chosen)

    def model_part(self, replica: int, blocks: tuple[int, ...]) -> Array:
        """(R, width) x of a replica, not divided by its mass."""
        return self._join([self._x[replica][b] for b in self._chosen(blocks)])

    def place_model(self, replica: int, blocks: tuple[int, ...], x: Array, mass: float) -> None:
        """Stand in for a replica that lives elsewhere, until it is placed again."""
        self._place(self._x[replica], blocks, x)
        self._mass[replica] = mass

    def update_part(self, job: int, blocks: tuple[int, ...]) -> Array:
        """(R, width) encoded update of a job."""
        return self._join([self._updates[job][b] for b in self._chosen(blocks)])

    def place_update(self, job: int, blocks: tuple[int, ...], update: Array) -> None:
        """Hold the update of a job that was encoded elsewhere."""
        self._place(self._updates.setdefault(job, {}), blocks, update)

    def message_part(self, message: int, blocks: tuple[int, ...]) -> Array:
        """(R, width) sum of the contributions PUT here so far, 0 where there are none."""
        put, _ = self._messages.get(message, ({}, 0.0))
        parts = [
            put[b] if b in put else self._xp.zeros_like(self._start[b])
            for b in self._chosen(blocks)
        ]
        return self._join(parts)

    def place_message(
        self, message: int, blocks: tuple[int, ...], vector: Array, mass: float
    ) -> None:
        """Replace a message by the sum of all contributions."""
        placed: dict[int, Array] = {}
        self._place(placed, blocks, vector)
        self._messages[message] = (placed, mass)

    def execute(self, rows: Rows, staleness: Iterator[int]) -> None:
        """Execute `rows`; `staleness` yields the steps of each ADD row, in order.

        Raises:
            DivergenceError: If a model is no longer finite.
        """
        add = int(Op.ADD)
        self.follow(
            records_of(rows, (next(staleness) if op == add else 0 for op in rows.op.tolist()))
        )

    def follow(self, records: Iterable[Record]) -> None:
        """Execute rows that `records_of` took out of their columns.

        Raises:
            DivergenceError: If a model is no longer finite.
        """
        handlers, watched = self._handlers, self._watched
        for op, worker, job, message, replica, block, weight, keep, time, stale in records:
            handlers[op](worker, job, message, replica, block, weight, keep, stale)
            if watched[op]:
                event = Event(time, op, worker, job, message, replica, stale)
                for observer in watched[op]:
                    observer.observe(event, self)

    def _dispatch(self) -> list[Any]:
        named = {
            Op.READ: self._read,
            Op.GRADIENT: self._gradient,
            Op.ENCODE: self._send_gradient if self._sends_gradient else self._encode,
            Op.ADD: self._add,
            Op.STEP: self._step,
            Op.PUT: self._put,
            Op.MIX: self._mix,
            Op.DROP: self._drop,
            Op.CRASH: self._crash,
        }
        return [named[op] for op in Op]

    def _read(self, worker, job, _message, replica, block, *_numbers) -> None:
        view = self._views.get(job)
        if view is None:
            view = self._views[job] = [None] * len(self._bounds)
        mass, x = self._mass[replica], self._x[replica]
        for b in self._covered(block):
            view[b] = x[b] if mass == 1.0 else x[b] / mass
        if self._rule.needs_view:
            self._latest[worker] = view

    def _gradient(self, worker, job, *_rest) -> None:
        view = self._views[job] if self._keep_views else self._views.pop(job)
        self._owners[job] = worker
        draws = self._samples(job)
        self._gradients[job] = self._split(self._oracle.gradient(self._join(view), draws, worker))

    def _encode(self, worker, job, _message, _replica, block, *_numbers) -> None:
        gradient = self._gradients[job]
        view = self._views.get(job, gradient)
        latest = self._latest.get(worker, gradient)
        sent = self._updates.setdefault(job, {})
        for b in self._covered(block):
            of_rule, of_codec = self._state(worker, b)
            update, of_rule = self._rule.encode(of_rule, gradient[b], view[b], latest[b])
            sent[b], of_codec = self._codec.encode(of_codec, update, self._uniforms(job, b))
            self._worker_state[worker, b] = (of_rule, of_codec)

    def _send_gradient(self, _worker, job, _message, _replica, block, *_numbers) -> None:
        """ENCODE where neither the rule nor the codec does anything."""
        gradient, sent = self._gradients[job], self._updates.setdefault(job, {})
        for b in self._covered(block):
            sent[b] = gradient[b]

    def _add(self, _worker, job, message, replica, block, weight, _keep, stale) -> None:
        source = self._updates[job] if job >= 0 else self._messages[message][0]
        buffer = self._buffer[replica]
        factor = weight * self._rule.scale(stale)
        for b in self._covered(block):
            update = source[b] if factor == 1.0 else factor * source[b]
            buffer[b] = update if b not in buffer else buffer[b] + update
        self._last = (job, self._owners.get(job, -1))

    def _step(self, worker, _job, _message, replica, block, *_numbers) -> None:
        buffer, x = self._buffer[replica], self._x[replica]
        state = self._replica_state.get(replica)
        if state is None:
            fresh = [self._rule.replica_state(start) for start in self._start]
            state = self._replica_state[replica] = fresh
        for b in self._covered(block):
            if b in buffer:
                x[b], state[b] = self._rule.step(x[b], buffer.pop(b), state[b])
        self._steps += 1
        if self._steps % _CHECK_EVERY == 0:
            self.refuse_infinity(replica)

    def _put(self, _worker, job, message, replica, block, weight, keep, _stale) -> None:
        blocks, mass = self._messages.get(message, ({}, 0.0))
        if job >= 0:
            source = self._updates[job]
        else:
            source = dict(enumerate(self._x[replica]))
            mass += weight * self._mass[replica]
        for b in self._covered(block):
            part = source[b] if weight == 1.0 else weight * source[b]
            blocks[b] = part if b not in blocks else blocks[b] + part
        self._messages[message] = (blocks, mass)
        if keep >= 0:
            self._x[replica] = [keep * x for x in self._x[replica]]
            self._mass[replica] *= keep

    def _mix(self, _worker, _job, message, replica, _block, weight, keep, _stale) -> None:
        blocks, mass = self._messages[message]
        x = self._x[replica]
        for b in range(len(self._bounds)):
            taken = blocks[b] if weight == 1.0 else weight * blocks[b]
            kept = x[b] if keep == 1.0 else keep * x[b]
            x[b] = taken if keep == 0.0 else kept + taken
        self._mass[replica] = keep * self._mass[replica] + weight * mass

    def _drop(self, _worker, job, message, *_rest) -> None:
        if job >= 0:
            for table in (self._views, self._gradients, self._updates, self._owners):
                table.pop(job, None)
        else:
            self._messages.pop(message)

    def _crash(self, worker, *_rest) -> None:
        for key in [key for key in self._worker_state if key[0] == worker]:
            del self._worker_state[key]
        self._latest.pop(worker, None)

    def refuse_infinity(self, replica: int) -> None:
        """Raise DivergenceError if the replica's model is not finite."""
        for block in self._x[replica]:
            if not bool(self._xp.isfinite(self._xp.sum(block))):
                raise DivergenceError(*self._last, replica, self._steps)

    def _state(self, worker: int, block: int) -> tuple[Any, Any]:
        if (worker, block) not in self._worker_state:
            x = self._start[block]
            pair = (self._rule.worker_state(x), self._codec.initial(x))
            self._worker_state[worker, block] = pair
        return self._worker_state[worker, block]

    def _uniforms(self, job: int, block: int) -> Any:
        def draws(width: int) -> Array:
            key = (block, width)
            if key not in self._draws:
                self._draws[key] = JobUniforms(self._seeds, Cause.CODEC, block, width)
            return self._draws[key](job)

        return draws

    def _chosen(self, blocks: tuple[int, ...]) -> Any:
        return blocks or range(len(self._bounds))

    def _place(self, table: Any, blocks: tuple[int, ...], whole: Array) -> None:
        if len(self._bounds) == 1:
            table[0] = whole
            return
        first = 0
        for b in self._chosen(blocks):
            last = first + self._bounds[b][1] - self._bounds[b][0]
            table[b] = whole[:, first:last]
            first = last

    def _covered(self, block: int) -> range:
        return self._every_block if block < 0 else range(block, block + 1)

    def _split(self, whole: Array) -> Blocks:
        if len(self._bounds) == 1:
            return [whole]
        return [whole[:, first:last] for first, last in self._bounds]

    def _join(self, blocks: Any) -> Array:
        return blocks[0] if len(blocks) == 1 else self._xp.concat(tuple(blocks), axis=1)


def records_of(rows: Rows, staleness: Iterable[int]) -> Iterator[Record]:
    """Rows one by one as plain numbers, each with its staleness in steps, 0 where it has none."""
    columns = (rows.op, rows.worker, rows.job, rows.message, rows.replica, rows.block)
    numbers = [column.tolist() for column in (*columns, rows.weight, rows.keep, rows.time)]
    return zip(*numbers, staleness, strict=True)


def _block_bounds(sizes: tuple[int, ...], d: int) -> list[tuple[int, int]]:
    """First parameter of each block and of the next.

    Raises:
        ValueError: If the blocks do not add up to the dimension of the problem.
    """
    if not sizes:
        return [(0, d)]
    if sum(sizes) != d:
        raise ValueError(
            f"Schedule.block_sizes must add up to the oracle's dimension {d}, got {sum(sizes)}."
        )
    ends = [sum(sizes[: k + 1]) for k in range(len(sizes))]
    return list(zip([0, *ends[:-1]], ends, strict=True))
