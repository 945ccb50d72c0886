"""Ringmaster: a threshold on staleness, with and without stopping."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elastic_consistency.schedule import Op
from elastic_consistency.schedule.staleness import measure_staleness
from elastic_consistency.simulator import Cluster, Until, simulate
from elastic_consistency.simulator.delays import Constant, Exponential
from elastic_consistency.simulator.protocols import AsynchronousServer, Ringmaster

SECONDS = st.sampled_from([0.0, 0.5, 1.0, 3.0, 200.0])
SCRIPTS = st.lists(st.lists(SECONDS, min_size=1, max_size=5), min_size=1, max_size=5)


@pytest.mark.parametrize("stop", [False, True])
def test_a_threshold_out_of_reach_is_the_asynchronous_server(stop, uneven_cluster, payload):
    arguments = {"until": Until(jobs=200), "seed": 1, "payload": payload}

    ringmaster = simulate(Ringmaster(10**6, stop=stop), uneven_cluster, **arguments)

    plain = simulate(AsynchronousServer(), uneven_cluster, **arguments)
    assert ringmaster.digest() == plain.digest()


@given(scripts=SCRIPTS, threshold=st.integers(1, 6), stop=st.booleans(), n_jobs=st.integers(1, 60))
def test_ringmaster_never_exceeds_its_threshold(script, scripts, threshold, stop, n_jobs):
    cluster = Cluster.of_laws(script(*seconds) for seconds in scripts)
    protocol = Ringmaster(threshold, stop=stop)

    schedule = simulate(protocol, cluster, until=Until(jobs=n_jobs), seed=0)

    assert measure_staleness(schedule).steps.max(initial=0) < threshold
    schedule.check()
    protocol.restate(schedule)


def test_stopping_frees_the_straggler_at_the_threshold():
    """One worker of 100 s next to three of 1 s, threshold 6: it starts anew after two rounds."""
    laws = [Constant(1.0)] * 3 + [Constant(100.0)]

    schedule = simulate(Ringmaster(6, stop=True), Cluster.of_laws(laws), until=Until(time_s=20.5),
                        seed=0)  # fmt: skip

    straggler = np.flatnonzero((schedule.rows.op == Op.READ) & (schedule.rows.worker == 3))
    assert schedule.rows.time[straggler].tolist() == [2.0 * k for k in range(11)]
    own = schedule.jobs.worker == 3
    assert not (schedule.jobs.share[own][:-1] == 1).any()


def test_what_is_discarded_has_share_zero_and_costs_its_computation():
    laws = [Exponential(1.0)] * 3 + [Constant(50.0)]

    schedule = simulate(Ringmaster(4), Cluster.of_laws(laws), until=Until(jobs=300), seed=0)

    assert (schedule.jobs.share[schedule.jobs.worker == 3] == 0).all()
    encoded = schedule.rows.job[schedule.rows.op == Op.ENCODE]
    assert len(encoded) == len(schedule.jobs)
