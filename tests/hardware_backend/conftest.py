"""Makes the modules of this folder importable in the processes that the tests start."""

import sys
from pathlib import Path

import numpy as np
import psutil
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from elastic_consistency.optimization.oracles import Quadratic


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
    return {n: run_ranks(data_parallel_with, [hooks] * n, timeout=60.0) for n in (2, 3)}


@pytest.fixture
def no_process_left():
    """After the test every process that it started is gone, but for multiprocessing's servers."""
    before = _ranks()
    yield
    assert _ranks() - before == set()


def _ranks() -> set[int]:
    """Ranks are children of the fork server, which is a child of this process."""
    servers = psutil.Process().children()
    return {rank.pid for server in servers for rank in server.children(recursive=True)}
