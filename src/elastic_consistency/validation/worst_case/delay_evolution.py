"""Differential evolution over the speeds of a cluster."""

from collections.abc import Callable

import numpy as np

from elastic_consistency.schedule import Schedule
from elastic_consistency.simulator import Cluster, Until, simulate
from elastic_consistency.simulator.delays import Constant
from elastic_consistency.simulator.protocols import AbstractProtocol


def evolve_delays(
    objective: Callable[[Schedule], float],
    protocol: AbstractProtocol,
    n_workers: int,
    *,
    jobs: int,
    slowest: float = 200.0,
    generations: int = 15,
    seed: int = 0,
) -> tuple[Cluster, float]:
    """The cluster of constant speeds on which `objective` is largest, as far as was found.

    Args:
        objective: Figure of a schedule to be made large.
        protocol: The method.
        n_workers: n.
        jobs: Jobs of one schedule.
        slowest: Compute times lie between 1 s and this many, on a logarithmic scale.
        generations: Generations of the search.
        seed: Seed of the search.

    Source: Storn, Price (1997), doi:10.1023/A:1008202821328.
    """
    from scipy.optimize import differential_evolution  # imported late: it is slow to load

    def cluster(logarithms: np.ndarray) -> Cluster:
        return Cluster.of_laws(Constant(float(np.exp(x))) for x in logarithms)

    def loss(logarithms: np.ndarray) -> float:
        machines = cluster(logarithms)
        return -objective(simulate(protocol, machines, until=Until(jobs=jobs), seed=0))

    limits = [(0.0, float(np.log(slowest)))] * n_workers
    found = differential_evolution(
        loss, limits, maxiter=generations, popsize=6, rng=seed, polish=False, tol=0
    )
    return cluster(found.x), -float(found.fun)
