"""Every knob of a cluster bites, or is listed as inert, or is refused; for each protocol."""

from dataclasses import fields, replace

import pytest

from elastic_consistency.simulator import (
    BackgroundTraffic,
    Clock,
    Cluster,
    Crash,
    FaultScript,
    GilbertElliott,
    LateStart,
    Link,
    Partition,
    Payload,
    PeerLink,
    RandomCrashes,
    SharedHost,
    Until,
    Worker,
    simulate,
)
from elastic_consistency.simulator.delays import Constant, Exponential, Preemption
from elastic_consistency.simulator.inert import PARTS

N = 4
LINK = Link(0.05, Exponential(0.02), 1e6)
BASE = Cluster.alike(N, Exponential(1.0), link=LINK)
BUSY = BackgroundTraffic(0.9, Exponential(0.5), Exponential(2.0))


def _worker(**changes):
    return replace(BASE, workers=(replace(BASE.workers[0], **changes), *BASE.workers[1:]))


def _faults(*faults, **arguments):
    return replace(BASE, faults=FaultScript(faults, **arguments))


def _everywhere(**changes):
    return Cluster.alike(N, Exponential(1.0), link=replace(LINK, **changes))


#: By the field that it sets; the name of the part that may be inert, if it may.
KNOBS = {
    "compute": (_worker(compute=Exponential(1.1)), ""),
    "preemption": (_worker(compute=Preemption(Exponential(1), Constant(1), Constant(2))), ""),
    "slowdown": (_worker(slowdown=2.0), ""),
    "clock": (_worker(clock=Clock(offset_s=3.0, drift=1e-3)), ""),
    "uplink": (_worker(uplink=Link(0.5)), "links to the server"),
    "downlink": (_worker(downlink=Link(0.5)), "links to the server"),
    "fabric": (replace(BASE, fabric=Link(0.5)), "links between workers"),
    "exceptions": (
        replace(BASE, exceptions=tuple(PeerLink(0, k, Link(2.0)) for k in (1, 2, 3))),
        "links between workers",
    ),
    "latency_s": (_everywhere(latency_s=0.3), "links"),
    "jitter": (_everywhere(jitter=Exponential(0.3)), "links"),
    "bandwidth_bytes_per_s": (_everywhere(bandwidth_bytes_per_s=5e4), "links"),
    "loss": (_everywhere(loss=0.4), "links"),
    "bursts": (_everywhere(loss=GilbertElliott(0.5, 0.3)), "links"),
    "background": (_everywhere(background=BUSY), "links"),
    "server_bandwidth_bytes_per_s": (
        replace(BASE, server_bandwidth_bytes_per_s=2e4),
        "shared port of the server",
    ),
    "fabric_bandwidth_bytes_per_s": (
        replace(BASE, fabric_bandwidth_bytes_per_s=2e4),
        "shared bandwidth between workers",
    ),
    "shared_hosts": (replace(BASE, shared_hosts=(SharedHost((0, 1, 2), 0.5),)), "shared hosts"),
    "crash": (_faults(Crash(1, 2.0, 3.0)), ""),
    "random crashes": (_faults(RandomCrashes(2, Exponential(3.0), Exponential(2.0))), ""),
    "late start": (_faults(LateStart(0, 4.0)), ""),
    "partition": (_faults(Partition((0, 1), 1.0, 15.0)), "partitions"),
    "lost_acknowledgements": (_faults(lost_acknowledgements=0.5), "lost acknowledgements"),
}


_MEMBERS = frozenset({"crash", "random crashes", "late start"})
_FABRIC = frozenset({"fabric_bandwidth_bytes_per_s"})
_PORT = frozenset({"server_bandwidth_bytes_per_s"})
#: What each protocol cannot do; none of it is ignored.
REFUSED = {
    "AllReduce": _FABRIC,
    "LocalSgd": _FABRIC,
    "LossyBroadcast": _MEMBERS | _FABRIC,
    "CrashFaults": _MEMBERS | _FABRIC,
    "Layerwise": _MEMBERS | _FABRIC | {"shared_hosts"},
    "PairwiseAveraging": _FABRIC,
    "EnergyMatchingServer": _MEMBERS | _PORT,
}


def _run(protocol, cluster):
    return simulate(protocol, cluster, until=Until(jobs=60), seed=1, payload=Payload(1e4, 1e4))


def _without_remark(schedule):
    """That there is a partition is told in every schedule, even where nothing crosses it."""
    metadata = schedule.metadata
    kept = tuple(remark for remark in metadata.annotations if remark.kind != "partition")
    return replace(schedule, metadata=replace(metadata, annotations=kept))


@pytest.fixture(scope="module")
def plain(protocol):
    """What each protocol does on the cluster that all knobs start from."""
    return _run(protocol, BASE)


@pytest.mark.parametrize("knob", KNOBS)
def test_a_knob_bites_or_is_inert_or_is_refused(protocol, plain, knob):
    cluster, part = KNOBS[knob]
    if knob in REFUSED.get(type(protocol).__name__, ()):
        with pytest.raises(ValueError, match="give it a cluster without"):
            _run(protocol, cluster)
        return

    schedule = _run(protocol, cluster)

    schedule.check()
    protocol.restate(schedule)
    inert = schedule.metadata.provenance["inert"]
    listed = [name for name in inert if part and name.startswith(part)]
    bites = _without_remark(schedule).digest() != plain.digest()
    assert set(inert) <= set(PARTS)
    assert bites or listed
    if part != "links":  # there both kinds of link are changed, and one may be in use
        assert not (bites and listed)


def test_all_fields_of_a_cluster_are_knobs():
    """A new field must come with a line here."""
    of_workers = {field.name for field in fields(Worker)}
    of_clusters = {field.name for field in fields(Cluster)} - {"workers", "faults"}
    of_links = {field.name for field in fields(Link)} - {"resend_s"}

    assert of_workers | of_clusters | of_links <= KNOBS.keys()
