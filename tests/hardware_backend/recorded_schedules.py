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
