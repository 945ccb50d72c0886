"""Clusters and links: what they cost and what they refuse."""

from math import inf

import pytest

from elastic_consistency.schedule import SERVER
from elastic_consistency.simulator import Cluster, Link, Payload, PeerLink, Until, Worker
from elastic_consistency.simulator.delays import Constant, Exponential
from elastic_consistency.simulator.network.transfers import PeerNetwork
from elastic_consistency.simulator.provenance import provenance_of

SLOW = Link(5.0)
PAIR = (Worker(Constant(1.0)), Worker(Constant(1.0)))


def test_a_transfer_takes_latency_and_jitter_and_size_over_bandwidth():
    link = Link(0.5, Exponential(0.25), 100.0)

    assert link.fixed_seconds(200.0) == 2.5
    assert link.mean_seconds(200.0) == 2.75


def test_links_have_a_direction():
    worker = Worker(Constant(1.0), uplink=Link(1.0), downlink=Link(2.0))
    cluster = Cluster((worker, worker), Link(3.0), (PeerLink(0, 1, Link(4.0)),))

    assert cluster.link(1, SERVER).latency_s == 1.0
    assert cluster.link(SERVER, 1).latency_s == 2.0
    assert cluster.link(1, 0).latency_s == 3.0
    assert cluster.link(0, 1).latency_s == 4.0


def test_a_persistent_straggler_is_slow_by_its_factor():
    assert Worker(Exponential(2.0), slowdown=3.0).mean_seconds() == 6.0


def test_one_exception_leaves_the_jitter_of_the_other_links_alone():
    """The jitter of a sender is drawn in the order of sending, whatever the links are."""
    fabric = Link(0.0, Exponential(1.0))
    plain = PeerNetwork(Cluster(PAIR * 2, fabric), 3)
    mixed = PeerNetwork(Cluster(PAIR * 2, fabric, (PeerLink(0, 3, Link(0, Exponential(2))),)), 3)

    to_one = [plain.seconds(0, 1, 0.0) for _ in range(6)]
    to_both = [mixed.seconds(0, 1 + 2 * (k % 2), 0.0) for k in range(6)]

    assert to_both[::2] == pytest.approx(to_one[::2])
    assert to_both[1::2] == pytest.approx([2 * seconds for seconds in to_one[1::2]])


def test_provenance_names_every_parameter_and_writes_equal_workers_once():
    told = provenance_of(Cluster.alike(1000, Exponential(2.0), link=Link(0.1)))

    (workers,) = told["workers"]
    assert workers["times"] == 1000
    assert workers["value"]["compute"] == {"type": "Exponential", "scale": 2.0}
    assert workers["value"]["uplink"]["bandwidth_bytes_per_s"] == "inf"
    assert told["fabric"]["latency_s"] == 0.1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Link(-1.0), "Link.latency_s must be a finite number of seconds >= 0, got -1.0."),
        (lambda: Link(inf), "Link.latency_s must be"),
        (lambda: Link(0.0, 0.1), "Link.jitter must be a delay law, got 0.1."),
        (lambda: Link(bandwidth_bytes_per_s=0.0), "Link.bandwidth_bytes_per_s must be"),
        (lambda: Worker(1.0), "Worker.compute must be a delay law, got 1.0."),
        (lambda: Worker(Constant(1.0), slowdown=0.0), "Worker.slowdown must be a finite number"),
        (lambda: Cluster(()), "Cluster.workers must be a tuple of at least one Worker"),
        (lambda: Cluster((Constant(1.0),)), "Cluster.workers must be a tuple of at least one"),
        (lambda: Cluster(PAIR, Link(), (PeerLink(0, 2, SLOW),)), "Cluster.exceptions must be"),
        (lambda: Cluster(PAIR, Link(), (PeerLink(1, 1, SLOW),)), "Cluster.exceptions must be"),
        (lambda: Cluster(PAIR, Link(), (PeerLink(0, 1, SLOW),) * 2), "one each pair"),
        (lambda: Payload(-1.0), "Payload.model_bytes must be a finite number of bytes >= 0"),
        (lambda: Payload(1.0, inf), "Payload.update_bytes must be"),
        (Until, "Until must be given jobs, time_s or both, got neither."),
        (lambda: Until(jobs=0), "Until.jobs must be a number of jobs > 0, or None, got 0."),
        (lambda: Until(time_s=0.0), "Until.time_s must be a number of seconds > 0, got 0.0."),
    ],
)
def test_a_part_says_what_it_refuses(make, message):
    with pytest.raises(ValueError, match=message):
        make()
