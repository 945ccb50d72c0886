"""Where the points of a sweep run: here, on processes, on a Dask cluster, or as jobs of Slurm."""

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import final

from elastic_consistency.cli.failures import BadInputError, RunFailedError


@final
@dataclass(frozen=True, slots=True)
class PoolChoice:
    """What was asked for.

    Attributes:
        jobs: Processes of this machine, >= 1; 1 uses none.
        dask: Address of a Dask scheduler.
        slurm: Partition of Slurm.
        minutes: Time limit of a job of Slurm, > 0.
    """

    jobs: int = 1
    dask: str | None = None
    slurm: str | None = None
    minutes: int = 60

    def __post_init__(self) -> None:
        if self.jobs < 1:
            raise BadInputError(f"--jobs must be a number >= 1, got {self.jobs}")
        if self.minutes < 1:
            raise BadInputError(f"--slurm-minutes must be a number >= 1, got {self.minutes}")
        if (self.jobs > 1) + (self.dask is not None) + (self.slurm is not None) > 1:
            raise BadInputError("--jobs, --dask and --slurm exclude each other.")

    @property
    def is_here(self) -> bool:
        """Whether it is this machine that works, so that its speed is known."""
        return self.dask is None and self.slurm is None


@contextmanager
def pool_of(choice: PoolChoice, folder: Path) -> Iterator[Executor | None]:
    """The executor that was chosen; None runs one point after the other.

    Args:
        choice: What was asked for.
        folder: For the files of Slurm's jobs.
    """
    if choice.dask is not None:
        with _dask(choice.dask) as pool:
            yield pool
    elif choice.slurm is not None:
        with _slurm(choice.slurm, choice.minutes, folder) as pool:
            yield pool
    elif choice.jobs > 1:
        with _processes(choice.jobs) as pool:
            yield pool
    else:
        yield None


def _processes(jobs: int) -> Executor:
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    from elastic_consistency.hardware_backend.processes.ranks import start_fork_server

    start_fork_server()
    # Forking a process with threads, as numpy has, may deadlock.
    return ProcessPoolExecutor(jobs, mp_context=get_context("forkserver"))


@contextmanager
def _dask(address: str) -> Iterator[Executor]:
    try:
        from distributed import Client
    except ModuleNotFoundError as error:
        raise _missing("--dask", "dask") from error
    try:
        client = Client(address)
    except (OSError, ValueError) as error:
        raise BadInputError(
            f"--dask must be the address of a Dask scheduler that answers, got {address!r}: {error}"
        ) from error
    with client:
        yield client.get_executor()


def _slurm(partition: str, minutes: int, folder: Path) -> Executor:
    from elastic_consistency.studies.sweeps.slurm import slurm_executor

    try:
        return slurm_executor(folder, partition=partition, minutes=minutes)
    except ModuleNotFoundError as error:
        raise _missing("--slurm", "submitit") from error
    except RuntimeError as error:
        raise RunFailedError(f"--slurm does not work on this machine: {error}") from error


def _missing(option: str, package: str) -> RunFailedError:
    return RunFailedError(f"{option} needs {package}: pip install 'elastic-consistency[sweep]'")
