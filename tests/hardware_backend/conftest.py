"""Makes the modules of this folder importable in the processes that the tests start."""

import os
import socket
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import psutil
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from elastic_consistency.hardware_backend import replay, run_ranks
from elastic_consistency.hardware_backend.live import run_live
from elastic_consistency.hardware_backend.processes import ranks as processes
from elastic_consistency.optimization.oracles import Quadratic

PATIENCE = 900.0  # s
_LONGEST = 1200  # s that a test may take on a machine that hardly lets it run


def pytest_collection_modifyitems(items):
    """Tests of real processes are not ended where others are; see `patience`."""
    for item in items:
        here = Path(__file__).parent in item.path.parents
        if here and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(_LONGEST))


@pytest.fixture(scope="session", autouse=True)
def patience():
    """Ranks that get little of a loaded machine do not hang: only tests about hanging say less."""
    with pytest.MonkeyPatch.context() as patch:
        for function in (replay, run_live, run_ranks):
            patch.setitem(function.__kwdefaults__, "timeout", PATIENCE)
        for seconds in ("_BIRTH", "_DEATH"):
            patch.setattr(processes, seconds, PATIENCE)
        yield


@pytest.fixture
def long_last_words(monkeypatch):
    """Survivors that notice a failure by themselves get all the time to say so."""
    monkeypatch.setattr(processes, "_LAST_WORDS", PATIENCE)


@pytest.fixture
def quadratic() -> Quadratic:
    """A noisy quadratic in 12 dimensions; NumPy and torch agree on it bit for bit."""
    return Quadratic(np.linspace(0.1, 1.0, 12), variance=0.5)


@pytest.fixture(scope="module")
def quadratic_of_module() -> Quadratic:
    """The same, for fixtures that outlive one test."""
    return Quadratic(np.linspace(0.1, 1.0, 12), variance=0.5)


@pytest.fixture(scope="session")
def data_parallel_runs():
    """(plain, resumed) of every rank by number of ranks; see training_tasks."""
    from training_tasks import CODECS, data_parallel_with

    from elastic_consistency.hardware_backend import run_ranks

    hooks = ("", "torch", *CODECS)
    return {n: run_ranks(data_parallel_with, [hooks] * n) for n in (2, 3)}


@pytest.fixture
def free_port() -> int:
    """A port below those that the system hands out by itself."""
    for port in range(20_000 + os.getpid() % 5_000, 30_000):
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    raise OSError("no port from 20000 to 30000 is free")


@pytest.fixture
def no_process_left():
    """After the test every process that it started is gone, but for multiprocessing's servers."""
    before = _ranks()
    yield
    assert _ranks() - before == set()


def _ranks() -> set[int]:
    """Ranks are children of the fork server, which is a child of this process."""
    ranks = set[int]()
    for server in psutil.Process().children():
        with suppress(psutil.NoSuchProcess):  # it may end meanwhile
            ranks |= {rank.pid for rank in server.children(recursive=True)}
    return ranks
