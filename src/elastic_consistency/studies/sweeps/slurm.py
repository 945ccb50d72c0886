"""Points of a sweep as jobs of Slurm, through submitit, behind the interface of an executor."""

from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from threading import Event, Thread
from typing import Any, final


@final
class JobExecutor(Executor):
    """An executor whose work are jobs that can only be asked whether they are done.

    Args:
        submit: Starts a call as a job; a job has done(), result() and cancel().
        ask_every_s: Seconds from one look at the jobs to the next, > 0.
    """

    def __init__(self, submit: Callable[..., Any], *, ask_every_s: float = 5.0) -> None:
        self._submit, self._ask_every_s = submit, ask_every_s
        self._waiting: list[tuple[Any, Future[Any]]] = []
        self._closed = Event()
        self._asking: Thread | None = None

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Start a job; the future holds its result when it is done."""
        future: Future[Any] = Future()
        self._waiting.append((self._submit(fn, *args, **kwargs), future))
        if self._asking is None:
            self._asking = Thread(target=self._ask, daemon=True)
            self._asking.start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002
        """Look at the jobs no longer, and cancel those that are not done."""
        self._closed.set()
        if self._asking is not None and wait:
            self._asking.join()
        for job, future in self._waiting:
            if not future.done() or cancel_futures:
                job.cancel()

    def _ask(self) -> None:
        while True:
            for job, future in list(self._waiting):
                if not future.done() and job.done():
                    _settle(job, future)
            if self._closed.wait(self._ask_every_s):
                return


def slurm_executor(
    folder: Path, *, partition: str, minutes: int, cluster: str = "slurm"
) -> JobExecutor:
    """Slurm's queue as an executor.

    Args:
        folder: For the logs and the calls of the jobs; all machines must see it.
        partition: Of the cluster.
        minutes: Time limit of one job, > 0.
        cluster: "slurm"; submitit also knows "local" and "debug", which need no Slurm.

    Raises:
        ModuleNotFoundError: If submitit is missing.
        RuntimeError: If this machine cannot submit jobs to Slurm.
    """
    import submitit

    queue = submitit.AutoExecutor(folder=folder, cluster=cluster)
    queue.update_parameters(timeout_min=minutes, cpus_per_task=1, name="elastic-sweep")
    if cluster == "slurm":
        queue.update_parameters(slurm_partition=partition)
    return JobExecutor(queue.submit, ask_every_s=5.0 if cluster == "slurm" else 0.05)


def _settle(job: Any, future: Future[Any]) -> None:
    try:
        future.set_result(job.result())
    except Exception as error:  # noqa: BLE001  (whatever the job raised is the caller's to see)
        if not future.done():
            future.set_exception(error)
