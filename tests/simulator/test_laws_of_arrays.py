"""A user's delay law may hold arrays, which have neither a hash nor one truth value."""

from dataclasses import dataclass

import numpy as np
import pytest

from elastic_consistency.simulator import Cluster, Link, Until, Worker, simulate
from elastic_consistency.simulator.delays import AbstractDelayLaw, Empirical
from elastic_consistency.simulator.protocols import AllReduce, AsynchronousServer
from elastic_consistency.simulator.provenance import provenance_of


@dataclass(frozen=True)
class Measured(AbstractDelayLaw):
    """Each of `seconds` is as likely as any other."""

    seconds: np.ndarray

    def quantile(self, u):
        return self.seconds[np.minimum((u * len(self.seconds)).astype(int), len(self.seconds) - 1)]

    def mean(self):
        return float(self.seconds.mean())

    def variance(self):
        return float(self.seconds.var())


TIMES = ((1.0, 2.0), (1.0, 3.0), (1.0, 2.0), (1.0, 2.0))


def _cluster(law):
    links = [Link(0.5, law(t)) for t in TIMES]
    workers = zip(TIMES, links, strict=True)
    return Cluster(
        tuple(Worker(law(t), uplink=link, downlink=links[0]) for t, link in workers),
        fabric=Link(0.5, law(TIMES[0])),
    )


@pytest.mark.parametrize("protocol", [AsynchronousServer(), AllReduce()])
def test_it_draws_what_the_same_law_of_tuples_draws(protocol):
    of_tuples = simulate(protocol, _cluster(Empirical), until=Until(jobs=40), seed=3)
    of_arrays = simulate(
        protocol, _cluster(lambda t: Measured(np.array(t))), until=Until(jobs=40), seed=3
    )

    for column in ("time", "op", "job", "replica"):
        ours, theirs = getattr(of_arrays.rows, column), getattr(of_tuples.rows, column)
        assert np.array_equal(ours, theirs, equal_nan=True)


def test_its_provenance_holds_every_number():
    """NumPy's own text leaves out the middle of more than a thousand numbers."""
    many = np.arange(2000.0)
    told = provenance_of((Measured(many), Measured(many.copy()), Measured(many[::-1])))

    assert [run["times"] for run in told] == [2, 1]
    assert told[0]["value"] == {"type": "Measured", "seconds": many.tolist()}
    assert provenance_of(np.array([[1, 2], [3, 4]])) == [[1, 2], [3, 4]]
