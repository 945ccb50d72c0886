"""The three array libraries, and rules driven by hand."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import array_api_strict
import numpy as np
import pytest
import torch

sys.path.insert(0, str(Path(__file__).parent))  # for oracle_cases, which test files share


@dataclass(frozen=True)
class Library:
    """One array library: how to get arrays into it and out of it."""

    name: str
    namespace: Any

    def array(self, values, dtype=np.float64):
        return self.namespace.asarray(np.array(values, dtype=dtype))

    def numpy(self, array):
        assert type(array) is type(self.array(0.0)), "the result left its library"
        return np.asarray(array)


LIBRARIES = (Library("numpy", np), Library("torch", torch), Library("strict", array_api_strict))


@pytest.fixture(params=LIBRARIES, ids=lambda library: library.name)
def library(request) -> Library:
    return request.param


@pytest.fixture(scope="session")
def libraries() -> tuple[Library, ...]:
    return LIBRARIES


def _drive(rule, start, gradients, staleness=None):
    """Every model after x_0 of one worker whose updates are stepped one at a time."""
    x, models = start, []
    of_worker, of_replica = rule.worker_state(x), rule.replica_state(x)
    for number, gradient in enumerate(gradients):
        update, of_worker = rule.encode(of_worker, gradient, x, x)
        scale = 1.0 if staleness is None else rule.scale(staleness[number])
        x, of_replica = rule.step(x, scale * update, of_replica)
        models.append(x)
    return models


@pytest.fixture(scope="session")
def drive():
    """Run a rule on given gradients: drive(rule, x_0, gradients, staleness) -> models."""
    return _drive


@pytest.fixture(scope="session")
def draws():
    """Uniforms of one job: draws(seed, n_replicates) -> (width -> (R, width) array)."""

    def make(seed, n_replicates):
        return lambda width: np.random.default_rng(seed).random((n_replicates, width))

    return make
