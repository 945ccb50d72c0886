"""Schedules written by hand, row by row, without the simulator."""

from elastic_consistency.schedule import SERVER, Recorder, Schedule


class Clock:
    """A clock that ticks when told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def tick(self, seconds: float = 1.0) -> None:
        self.now += seconds


def asynchronous_server(n_workers: int, n_jobs: int, *, order_seed: int = 0) -> Schedule:
    """Workers read at time 0 and then exchange in an order that varies from round to round."""
    clock = Clock()
    record = Recorder(clock, n_workers=n_workers, hosts=(SERVER,))
    held = {worker: _start(record, worker) for worker in range(n_workers)}
    for k in range(n_jobs):
        clock.tick()
        worker = (k * (1 + order_seed) + k * k // 3) % n_workers
        job = held[worker]
        record.encode(job)
        record.add(0, job=job)
        record.step(0)
        record.drop(job=job, share=1.0)
        held[worker] = _start(record, worker)
    return record.finish()


def all_reduce(n_workers: int, n_rounds: int) -> Schedule:
    """One replica a worker; each round sums the updates into one message that all apply."""
    clock = Clock()
    record = Recorder(clock, n_workers=n_workers, hosts=tuple(range(n_workers)))
    for k in range(n_rounds):
        jobs = [_start(record, worker, replica=worker, round=k) for worker in range(n_workers)]
        clock.tick()
        message = record.message()
        for job in jobs:
            record.encode(job)
            record.put(message, job=job, weight=1 / n_workers)
        for replica in range(n_workers):
            record.add(replica, message=message)
            record.step(replica)
        record.drop(message=message)
        for job in jobs:
            record.drop(job=job, share=1 / n_workers)
    return record.finish()


def _start(record: Recorder, worker: int, *, replica: int = 0, round: int = -1) -> int:
    job = record.job(worker, round=round)
    record.read(job, replica)
    record.gradient(job)
    record.begin(job)
    return job


def push_sum(n_workers: int, n_rounds: int) -> Schedule:
    """A step on the own replica, then half of model and mass to the next of a growing hop."""
    clock = Clock()
    record = Recorder(clock, n_workers=n_workers, hosts=tuple(range(n_workers)))
    for k in range(n_rounds):
        jobs = [_start(record, worker, replica=worker) for worker in range(n_workers)]
        clock.tick()
        for worker, job in enumerate(jobs):
            _apply(record, job, worker)
        messages = [record.message(moves=True) for _ in jobs]
        for worker, message in enumerate(messages):
            record.put(message, replica=worker, weight=0.5, keep=0.5)
        clock.tick()
        for worker, message in enumerate(messages):
            record.mix((worker + 1 + k % (n_workers - 1)) % n_workers, message, keep=1.0)
            record.drop(message=message)
    return record.finish()


def pairwise_averaging(n_workers: int, n_meetings: int) -> Schedule:
    """A worker takes a step and then averages with a peer; another pair every time."""
    clock = Clock()
    record = Recorder(clock, n_workers=n_workers, hosts=tuple(range(n_workers)))
    for k in range(n_meetings):
        worker = k % n_workers
        peer = (worker + 1 + k // n_workers % (n_workers - 1)) % n_workers
        job = _start(record, worker, replica=worker)
        clock.tick()
        there, back = record.message(), record.message()
        record.put(there, replica=worker)
        record.put(back, replica=peer)
        record.mix(peer, there, weight=0.5, keep=0.5)
        record.mix(worker, back, weight=0.5, keep=0.5)
        record.drop(message=there)
        record.drop(message=back)
        _apply(record, job, worker)
    return record.finish()


def local_steps(n_workers: int, n_rounds: int, period: int = 3) -> Schedule:
    """`period` steps on the own replica, then everybody takes the mean of all models."""
    clock = Clock()
    record = Recorder(clock, n_workers=n_workers, hosts=tuple(range(n_workers)))
    for _ in range(n_rounds):
        for _ in range(period):
            jobs = [_start(record, worker, replica=worker) for worker in range(n_workers)]
            clock.tick()
            for worker, job in enumerate(jobs):
                _apply(record, job, worker)
        message = record.message()
        for worker in range(n_workers):
            record.put(message, replica=worker, weight=1 / n_workers)
        for worker in range(n_workers):
            record.mix(worker, message, keep=0.0)
        record.drop(message=message)
    return record.finish()


def layer_wise(n_workers: int, n_rounds: int, sizes: tuple[int, ...]) -> Schedule:
    """Blocks are read one by one; each block has a message of its own, the last one first."""
    clock = Clock()
    blocks = range(len(sizes))
    record = Recorder(clock, n_workers=n_workers, hosts=tuple(range(n_workers)), block_sizes=sizes)
    for k in range(n_rounds):
        jobs = [record.job(worker, round=k) for worker in range(n_workers)]
        for worker, job in enumerate(jobs):
            for block in blocks:
                record.read(job, worker, block=block)
            record.gradient(job)
            record.begin(job)
        clock.tick()
        for block in reversed(blocks):
            message = record.message()
            for job in jobs:
                record.encode(job, block=block)
                record.put(message, job=job, block=block, weight=1 / n_workers)
            for worker in range(n_workers):
                record.add(worker, message=message, block=block)
                record.step(worker, block=block)
            record.drop(message=message)
        for job in jobs:
            record.drop(job=job, share=1 / n_workers)
    return record.finish()


def torn_server(n_workers: int, n_jobs: int, sizes: tuple[int, ...]) -> Schedule:
    """Reads and writes of blocks interleave, as on memory that nobody locks."""
    clock = Clock()
    record = Recorder(clock, n_workers=n_workers, hosts=(SERVER,), block_sizes=sizes)
    first, last = 0, len(sizes) - 1
    held = [record.job(worker) for worker in range(n_workers)]
    for job in held:
        _read_blocks(record, job, range(len(sizes)))
    for k in range(n_jobs):
        clock.tick()
        worker = k % n_workers
        job, late = held[worker], record.job(worker)
        record.encode(job)
        record.add(0, job=job, block=first)
        record.step(0, block=first)
        record.read(late, 0, block=first)
        for block in range(1, last + 1):
            record.add(0, job=job, block=block)
            record.step(0, block=block)
        record.drop(job=job, share=1.0)
        _read_blocks(record, late, range(1, last + 1))
        held[worker] = late
    return record.finish()


def subgroup_with_stand_in(n_workers: int, n_rounds: int) -> Schedule:
    """All but the last worker reduce among themselves; the last one's update comes later.

    Everybody else stands in for it with the own update, and takes that back.
    """
    clock = Clock()
    record = Recorder(clock, n_workers=n_workers, hosts=tuple(range(n_workers)))
    share, last = 1 / n_workers, n_workers - 1
    for k in range(n_rounds):
        jobs = [_start(record, worker, replica=worker, round=k) for worker in range(n_workers)]
        clock.tick()
        prompt, late = record.message(), record.message()
        for job in jobs:
            record.encode(job)
        for job in jobs[:last]:
            record.put(prompt, job=job, weight=share)
        for worker in range(n_workers):
            record.add(worker, message=prompt)
            record.add(worker, job=jobs[worker], weight=share)
            record.step(worker)
        clock.tick()
        record.put(late, job=jobs[last], weight=share)
        for worker in range(last):
            record.add(worker, job=jobs[worker], weight=-share)
            record.add(worker, message=late)
            record.step(worker)
        record.drop(message=prompt)
        record.drop(message=late)
        for job in jobs:
            record.drop(job=job, share=share)
    return record.finish()


def minibatch_server(n_workers: int, n_rounds: int) -> Schedule:
    """Several ADD and one STEP; a worker crashes, its job is lost, and it comes back."""
    clock = Clock()
    record = Recorder(clock, n_workers=n_workers, hosts=(SERVER,))
    for k in range(n_rounds):
        jobs = [_start(record, worker, round=k) for worker in range(n_workers)]
        clock.tick()
        lost = k % n_workers if k % 3 == 2 else -1
        for worker, job in enumerate(jobs):
            if worker == lost:
                record.crash(worker)
                continue
            record.encode(job)
            record.add(0, job=job, weight=1 / n_workers)
        record.step(0)
        for worker, job in enumerate(jobs):
            record.drop(job=job, share=0.0 if worker == lost else 1 / n_workers)
        if lost >= 0:
            record.annotate("restart", lost)
    return record.finish()


def _read_blocks(record: Recorder, job: int, blocks: range) -> None:
    for block in blocks:
        record.read(job, 0, block=block)
    record.gradient(job)
    record.begin(job)


def _apply(record: Recorder, job: int, replica: int) -> None:
    record.encode(job)
    record.add(replica, job=job)
    record.step(replica)
    record.drop(job=job, share=1.0)


def reduced_to_a_server(n_workers: int, n_rounds: int) -> Schedule:
    """Updates are summed on their way to a server that is alone to apply them."""
    clock = Clock()
    record = Recorder(clock, n_workers=n_workers, hosts=(SERVER,))
    for k in range(n_rounds):
        jobs = [_start(record, worker, round=k) for worker in range(n_workers)]
        clock.tick()
        message = record.message()
        for job in jobs:
            record.encode(job)
            record.put(message, job=job, weight=1 / n_workers)
        record.add(0, message=message)
        record.step(0)
        record.drop(message=message)
        for job in jobs:
            record.drop(job=job, share=1 / n_workers)
    return record.finish()


def own_update_after_the_sum(n_workers: int, n_rounds: int) -> Schedule:
    """Updates enter the sum with weight 1, as they are, and are used once more afterwards."""
    clock = Clock()
    record = Recorder(clock, n_workers=n_workers, hosts=tuple(range(n_workers)))
    for k in range(n_rounds):
        jobs = [_start(record, worker, replica=worker, round=k) for worker in range(n_workers)]
        clock.tick()
        message = record.message()
        for job in jobs:
            record.encode(job)
            record.put(message, job=job)
        for worker, job in enumerate(jobs):
            record.add(worker, message=message, weight=0.5 / n_workers)
            record.add(worker, job=job, weight=0.5)
            record.step(worker)
        record.drop(message=message)
        for job in jobs:
            record.drop(job=job, share=1 / n_workers)
    return record.finish()


def updates_and_messages(n_workers: int, n_rounds: int) -> Schedule:
    """A server takes every other update by itself and those in between out of messages."""
    clock = Clock()
    record = Recorder(clock, n_workers=n_workers, hosts=(SERVER,))
    for k in range(n_rounds):
        jobs = [_start(record, worker, round=k) for worker in range(n_workers)]
        clock.tick()
        for number, job in enumerate(jobs):
            record.encode(job)
            message = record.message() if (number + k) % 2 else None
            if message is None:
                record.add(0, job=job)
            else:
                record.put(message, job=job)
                record.add(0, message=message)
            record.step(0)
            if message is not None:
                record.drop(message=message)
            record.drop(job=job, share=1.0)
    return record.finish()
