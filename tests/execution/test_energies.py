"""The energies of gradient energy matching, by hand and by theory."""

import numpy as np
import pytest

from elastic_consistency.execution import execute
from elastic_consistency.execution.probes import Energies
from elastic_consistency.optimization.oracles import Linear
from elastic_consistency.optimization.update_rules import GEM, SGD, PrintedGEM
from elastic_consistency.simulator import Cluster, Until, simulate
from elastic_consistency.simulator.delays import Constant
from elastic_consistency.simulator.protocols import EnergyMatchingServer


def run(rule, *, n_workers, jobs, ahead=False, momentum=0.9):
    cluster = Cluster.alike(n_workers, Constant(1.0))
    schedule = simulate(EnergyMatchingServer(ahead=ahead), cluster, until=Until(jobs=jobs), seed=0)
    probes = (Energies(momentum),)
    return execute(schedule, Linear(np.array([1.0])), rule, seeds=(0,), probes=probes)


def test_three_commits_of_plain_steps_by_hand():
    """One worker, gradient 1, step .5: m = -.5, -.95, -1.355. The last pull but one is 0, 0,
    -.5, the models are -.5, -1, -1.5, and so the motions .5, 1, 1."""
    measured = run(SGD(0.5), n_workers=1, jobs=3)

    proxy = measured["energy_proxy"].values[:, 0]
    np.testing.assert_allclose(proxy, np.array([0.5, 0.95, 1.355]) ** 2 / 2, rtol=1e-12)
    central = measured["energy_central"].values[:, 0]
    np.testing.assert_allclose(central, np.array([0.5, 1.0, 1.0]) ** 2 / 2, rtol=1e-12)
    assert measured["share_above_proxy"].values[:, 0].tolist() == [0.0, 1.0, 0.0]


@pytest.mark.parametrize("n_workers", [1, 2, 5])
def test_printed_matching_makes_both_energies_equal_for_equal_signs(n_workers):
    """A constant gradient moves everybody one way, so pi solves its energy equation."""
    measured = run(PrintedGEM(0.01), n_workers=n_workers, jobs=60 * n_workers)

    central = measured["energy_central"].values[-20:, 0]
    np.testing.assert_allclose(central, measured["energy_proxy"].values[-20:, 0], rtol=1e-6)


def test_a_clamp_at_zero_leaves_the_central_energy_above_the_proxy():
    """pi = 0 cannot undo what others did: nobody commits, yet the model has moved."""
    rule = GEM(0.01, clamp=(0.0, 0.0))
    still = run(rule, n_workers=2, jobs=10, ahead=True)

    assert not still["energy_central"].values.any()
    assert not still["share_above_proxy"].values.any()
