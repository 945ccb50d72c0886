"""Tasks and oracles that go wrong on purpose, importable in the processes of the ranks."""

import os
import signal
import time
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from elastic_consistency.optimization.oracles import AbstractOracle, Quadratic

_calls = count()


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def stop() -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


def sleep() -> None:
    time.sleep(600)


def nap() -> None:
    time.sleep(0.3)


def fail() -> None:
    raise ArithmeticError("the gradient is not to be had")


DEEDS = {"kill": kill, "stop": stop, "sleep": sleep, "nap": nap, "fail": fail}


@dataclass(frozen=True)
class _Wrapped(AbstractOracle):
    """A quadratic on whose gradients something else happens, too."""

    inner: Quadratic

    @property
    def dimension(self):
        return self.inner.dimension

    @property
    def draws_per_job(self):
        return self.inner.draws_per_job

    def start(self):
        return self.inner.start()

    def gradient(self, view, draws, worker):
        self.happen(worker)
        return self.inner.gradient(view, draws, worker)

    def happen(self, worker: int) -> None:
        raise NotImplementedError

    def mean_gradient(self, x):
        return self.inner.mean_gradient(x)

    def loss(self, x):
        return self.inner.loss(x)

    def minimiser(self):
        return None

    def constants(self, radius=float("inf")):
        return self.inner.constants(radius)


@dataclass(frozen=True)
class Sabotage(_Wrapped):
    """One worker misbehaves at the n-th gradient of its process."""

    deed: str
    worker: int
    after: int = 3

    def happen(self, worker):
        if worker == self.worker and next(_calls) == self.after:
            DEEDS[self.deed]()


@dataclass(frozen=True)
class InStep(_Wrapped):
    """Nobody gets a gradient before everybody has asked for one; then one after the other."""

    barrier: Any
    seconds: float

    def happen(self, worker):
        self.barrier.wait()
        time.sleep(worker * self.seconds)


def number_squared(rank, argument):
    """A task that needs no other rank."""
    return rank.number, argument**2


def misbehave(rank, deed):
    """A task that does one of the deeds, or "" to wait for rank 0 in vain."""
    if deed:
        DEEDS[deed]()
    rank.progress.waiting = True
    rank.store.get("never set")


def hang_for_ever(rank, argument):
    """A task whose processes only end with their parent; the file tells who they are."""
    with Path(argument).open("a") as file:
        file.write(f"{os.getpid()}\n")
    time.sleep(600)
