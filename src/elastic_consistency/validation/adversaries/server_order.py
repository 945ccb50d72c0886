"""A server on which the adversary decides whose update arrives next."""

from collections.abc import Sequence

from elastic_consistency.schedule import SERVER, Recorder, Schedule


def server_schedule(order: Sequence[int], *, n_workers: int) -> Schedule:
    """Asynchronous server: exchange k, at second k + 1, is with worker order[k].

    All workers read at time 0. In an exchange the worker's update is applied and it reads
    again. At the end every worker delivers what it holds, in the order of their numbers. These
    are all the schedules that delays can make of an asynchronous server without latency.

    Args:
        order: Workers, each in 0 .. n_workers - 1; may be empty.
        n_workers: n.
    """
    clock = [0.0]
    record = Recorder(lambda: clock[0], n_workers=n_workers, hosts=(SERVER,))
    held = [_read(record, worker) for worker in range(n_workers)]
    for worker in order:
        clock[0] += 1
        _apply(record, held[worker])
        held[worker] = _read(record, worker)
    for job in held:
        clock[0] += 1
        _apply(record, job)
    return record.finish()


def _read(record: Recorder, worker: int) -> int:
    job = record.job(worker)
    record.read(job, 0)
    record.gradient(job)
    record.begin(job)
    return job


def _apply(record: Recorder, job: int) -> None:
    record.encode(job)
    record.add(0, job=job)
    record.step(0)
    record.drop(job=job, share=1.0)


def straggler_order(n_workers: int, steps: int) -> list[int]:
    """Worker 0 holds its first view while the others take turns for `steps` exchanges."""
    return [1 + k % (n_workers - 1) for k in range(steps)]
