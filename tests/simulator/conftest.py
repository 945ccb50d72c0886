"""What the tests of the simulator share."""

from collections.abc import Callable

import numpy as np
import pytest

from elastic_consistency.simulator import Cluster, Link, Payload, Worker
from elastic_consistency.simulator.delays import AbstractDelayLaw, Exponential, LogNormal


class Script(AbstractDelayLaw):
    """Delays that a test dictates, one after another, again from the start at the end."""

    def __init__(self, *seconds: float) -> None:
        self.seconds = seconds
        self.used = 0

    def quantile(self, u):
        places = np.arange(self.used, self.used + len(u)) % len(self.seconds)
        self.used += len(u)
        return np.array(self.seconds, float)[places]

    def mean(self):
        return float(np.mean(self.seconds))

    def variance(self):
        return float(np.var(self.seconds))


@pytest.fixture(scope="session")
def script() -> Callable[..., Script]:
    """script(1.0, 0.0, 200.0) is a law whose draws are these."""
    return Script


@pytest.fixture(scope="session")
def uneven_cluster() -> Cluster:
    """Three workers and links of every kind, none like another."""
    return Cluster(
        (
            Worker(Exponential(1.0), uplink=Link(0.1, Exponential(0.2), 1e6)),
            Worker(LogNormal(0.5, 1.0), slowdown=3.0, downlink=Link(0.05)),
            Worker(Exponential(0.25), uplink=Link(0.0, LogNormal(0.1, 0.5))),
        ),
        fabric=Link(0.02, Exponential(0.01), 1e6),
    )


@pytest.fixture(scope="session")
def payload() -> Payload:
    """A model of 10 kB and updates of 5 kB."""
    return Payload(1e4, 5e3)
