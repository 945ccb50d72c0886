"""Where time goes, by hand and by theorem."""

from dataclasses import replace

import pytest

from elastic_consistency.simulator import Cluster, Link, Payload, PeerLink, Until, Worker, simulate
from elastic_consistency.simulator.delays import Constant, Exponential
from elastic_consistency.simulator.protocols import AllReduce, AsynchronousServer
from elastic_consistency.studies.summaries.inert import inert_sentences
from elastic_consistency.studies.summaries.schedule_summary import staleness_by_worker, summarise

LINK = Link(latency_s=0.25)


def _unequal(link: Link) -> Cluster:
    """Gradients take one second on worker 0 and three on worker 1."""
    workers = (Worker(Constant(t), uplink=link, downlink=link) for t in (1.0, 3.0))
    return Cluster(tuple(workers))


def test_a_round_keeps_the_fast_worker_waiting():
    """Two rounds of 3 s: the fast worker computes 1 s and waits 2 s in each."""
    fast, slow = summarise(
        simulate(AllReduce(), _unequal(Link()), until=Until(jobs=4), seed=0)
    ).workers

    assert (fast.compute_s, fast.wait_s, fast.idle_s) == (2.0, 4.0, 0.0)
    assert (slow.compute_s, slow.wait_s) == (6.0, 0.0)
    assert fast.utilisation == pytest.approx(1 / 3)


def test_an_asynchronous_worker_pulls_computes_and_sends():
    """Each exchange of worker 0 takes .25 down, 1 of computation and .25 up."""
    schedule = simulate(AsynchronousServer(), _unequal(LINK), until=Until(jobs=5), seed=0)

    fast, slow = summarise(schedule).workers

    assert (fast.jobs, slow.jobs) == (3, 2)
    assert (fast.pull_s, fast.compute_s, fast.wait_s) == (0.75, 3.0, 0.75)
    assert slow.mean_compute_s == 3.0


def test_the_phases_of_a_worker_add_up_to_the_run(cluster):
    summary = summarise(simulate(AsynchronousServer(), cluster, until=Until(jobs=60), seed=3))

    for worker in summary.workers:
        whole = worker.pull_s + worker.compute_s + worker.wait_s + worker.idle_s
        assert whole == pytest.approx(summary.duration_s)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_mean_staleness_without_latency_is_exact(n):
    """Sum of staleness = (n - 1) T - n (n - 1) / 2 when the run is drained."""
    jobs = 40
    cluster = Cluster.alike(n, Exponential(1.0))

    summary = summarise(simulate(AsynchronousServer(), cluster, until=Until(jobs=jobs), seed=1))

    assert summary.mean_staleness * jobs == pytest.approx((n - 1) * jobs - n * (n - 1) / 2)
    assert summary.largest_in_flight == n - 1


def test_staleness_by_worker_covers_every_update(cluster):
    schedule = simulate(AsynchronousServer(), cluster, until=Until(jobs=50), seed=0)

    by_worker = staleness_by_worker(schedule)

    assert sum(len(steps) for steps in by_worker) == 50
    assert by_worker[0].max() == max(steps.max() for steps in by_worker)


def test_the_99th_percentile_leaves_one_update_in_a_hundred_above_it(cluster):
    """Of K sorted figures it lies .99 (K - 1) places from the first, on the line between two."""
    schedule = simulate(AsynchronousServer(), cluster, until=Until(jobs=350), seed=2)
    steps = sorted(schedule.staleness().steps.tolist())

    found = summarise(schedule)

    place, rest = divmod(99 * (len(steps) - 1), 100)
    expected = steps[place] + rest / 100 * (steps[place + 1] - steps[place])
    assert found.p99_staleness == pytest.approx(expected)
    assert found.mean_staleness < found.p99_staleness < found.largest_staleness == steps[-1]


def test_what_no_contender_has_a_use_for_is_told():
    """A server has no use for links between workers, an all-reduce none for those to it."""
    link = Link(0.25)
    apart = Cluster((Worker(Constant(1.0), uplink=link, downlink=link),) * 2, fabric=Link(0.5))
    crowded = replace(apart, fabric_bandwidth_bytes_per_s=1e6)
    until, payload = Until(jobs=8), Payload.uncompressed(1e6)

    server, ring = (
        summarise(simulate(protocol, apart, until=until, seed=1))
        for protocol in (AsynchronousServer(), AllReduce())
    )
    shared = summarise(
        simulate(AsynchronousServer(), crowded, until=until, seed=1, payload=payload)
    )

    assert server.inert == ("links between workers",)
    assert ring.inert == ("links to the server",)
    assert inert_sentences([server, ring]) == ()
    assert inert_sentences([server, shared]) == (
        "set without effect on any contender: links between workers",
    )
    assert "shared bandwidth between workers" in shared.inert
    assert "size of the model" in shared.inert


def test_a_network_that_is_one_is_of_use_in_one_of_its_roles():
    """Whoever writes the same link for everything has not set anything in vain."""
    link = Link(0.25)
    worker, farther = Worker(Constant(1.0), uplink=link, downlink=link), Link(0.5)
    one = Cluster((worker, replace(worker, slowdown=2.0)), fabric=link)
    several = (
        replace(one, workers=(worker, replace(worker, downlink=farther))),
        replace(one, exceptions=(PeerLink(0, 1, farther),)),
    )

    def inert(protocol, cluster):
        return summarise(simulate(protocol, cluster, until=Until(jobs=8), seed=1)).inert

    assert inert(AsynchronousServer(), one) == inert(AllReduce(), one) == ()
    for cluster in several:
        assert inert(AsynchronousServer(), cluster) == ("links between workers",)
        assert inert(AllReduce(), cluster) == ("links to the server",)


@pytest.mark.parametrize("jobs", [7, 10, 30, 100])
def test_a_worker_that_is_never_idle_has_no_remainder_of_rounding(jobs):
    """Alone at a server it pulls, computes and sends in turn; the parts make the whole."""
    worker = Worker(Constant(0.3), uplink=Link(0.07), downlink=Link(0.011))

    schedule = simulate(AsynchronousServer(), Cluster((worker,)), until=Until(jobs=jobs), seed=0)

    assert summarise(schedule).workers[0].idle_s == 0
