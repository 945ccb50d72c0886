"""Every knob of a cluster bites, or is listed as inert, or is refused; for each protocol."""

from dataclasses import dataclass, fields, replace
from functools import cache

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
from elastic_consistency.simulator.protocols import AsynchronousServer

N = 4
LINK = Link(0.05, Exponential(0.02), 1e6)
BASE = Cluster.alike(N, Exponential(1.0), link=LINK)
STEADY = Cluster.alike(N, Exponential(1.0), link=replace(LINK, jitter=Constant(0.02)))
BUSY = BackgroundTraffic(0.9, Exponential(0.5), Exponential(2.0))


PAYLOAD = Payload(1e4, 1e4)


@dataclass(frozen=True)
class Knob:
    """What a field is set to, where it starts from, and how it is called where it is inert."""

    cluster: Cluster = BASE
    inert: str = ""
    start: Cluster = BASE
    payload: Payload = PAYLOAD


def _worker(**changes):
    return Knob(replace(BASE, workers=(replace(BASE.workers[0], **changes), *BASE.workers[1:])))


def _ends(**changes):
    return replace(_worker(**changes), inert="links to the server")


def _faults(*faults, inert="", **arguments):
    return Knob(replace(BASE, faults=FaultScript(faults, **arguments)), inert)


def _everywhere(**changes):
    """Both kinds of link are changed, of which one may be in use."""
    return Knob(_linked(**changes), "links")


def _linked(**changes):
    return Cluster.alike(N, Exponential(1.0), link=replace(LINK, **changes))


def _bursts(**changes):
    start = _linked(loss=BURSTS, resend_s=1.0)
    return Knob(_linked(loss=replace(BURSTS, **changes), resend_s=1.0), "links", start)


BURSTS = GilbertElliott(0.5, 0.3, loss_good=0.1, loss_bad=0.9)
ACKNOWLEDGEMENTS = {"lost_acknowledgements": 0.5, "inert": "lost acknowledgements"}
#: By the field that it sets.
KNOBS = {
    "compute": _worker(compute=Exponential(1.1)),
    "preemption": _worker(compute=Preemption(Exponential(1), Constant(1), Constant(2))),
    "slowdown": _worker(slowdown=2.0),
    "clock": _worker(clock=Clock(offset_s=3.0, drift=1e-3)),
    "uplink": _ends(uplink=Link(0.5)),
    "downlink": _ends(downlink=Link(0.5)),
    "fabric": Knob(replace(BASE, fabric=Link(0.5)), "links between workers"),
    "exceptions": Knob(
        replace(BASE, exceptions=tuple(PeerLink(0, k, Link(2.0)) for k in (1, 2, 3))),
        "links between workers",
    ),
    "latency_s": _everywhere(latency_s=0.3),
    "jitter": _everywhere(jitter=Exponential(0.3)),
    "bandwidth_bytes_per_s": _everywhere(bandwidth_bytes_per_s=5e4),
    "loss": _everywhere(loss=0.4, resend_s=1.0),
    "resend_s": Knob(
        _linked(loss=0.4, resend_s=2.0), "links", start=_linked(loss=0.4, resend_s=1.0)
    ),
    "resend_s without losses": Knob(_linked(resend_s=2.0), "time to resend"),
    "bursts": _everywhere(loss=BURSTS, resend_s=1.0),
    "good_to_bad": _bursts(good_to_bad=0.1),
    "bad_to_good": _bursts(bad_to_good=0.9),
    "loss_good": _bursts(loss_good=0.5),
    "loss_bad": _bursts(loss_bad=0.2),
    "background": _everywhere(background=BUSY),
    "server_bandwidth_bytes_per_s": Knob(
        replace(BASE, server_bandwidth_bytes_per_s=2e4), "shared port of the server"
    ),
    "fabric_bandwidth_bytes_per_s": Knob(
        replace(STEADY, fabric_bandwidth_bytes_per_s=2e4),
        "shared bandwidth between workers",
        start=STEADY,
    ),
    "shared_hosts": Knob(replace(BASE, shared_hosts=(SharedHost((0, 1, 2), 0.5),)), "shared hosts"),
    "crash": _faults(Crash(1, 2.0, 3.0)),
    "random crashes": _faults(RandomCrashes(2, Exponential(3.0), Exponential(2.0))),
    "late start": _faults(LateStart(0, 4.0)),
    "partition": _faults(Partition((0, 1), 1.0, 15.0), inert="partitions"),
    "lost_acknowledgements": _faults(**ACKNOWLEDGEMENTS, resend_s=1.0),
    "time until an update is sent again": replace(
        _faults(**ACKNOWLEDGEMENTS, resend_s=2.0),
        start=_faults(**ACKNOWLEDGEMENTS, resend_s=1.0).cluster,
    ),
    "model_bytes": Knob(payload=Payload(3e5, 1e4), inert="size of the model"),
    "update_bytes": Knob(payload=Payload(1e4, 3e5), inert="size of an update"),
    "encode_s": Knob(payload=Payload(1e4, 1e4, encode_s=0.2)),
}


_MEMBERS = frozenset({"crash", "random crashes", "late start"})
_FABRIC = frozenset({"fabric_bandwidth_bytes_per_s"})
#: What each protocol cannot do; none of it is ignored.
REFUSED = {
    "LossyBroadcast": _MEMBERS | _FABRIC,
    "CrashFaults": _MEMBERS,
    "Layerwise": _MEMBERS | {"shared_hosts"},
    "EnergyMatchingServer": _MEMBERS,
}


def _run(protocol, cluster, payload=PAYLOAD):
    return simulate(protocol, cluster, until=Until(jobs=60), seed=1, payload=payload)


def _without_remark(schedule):
    """That there is a partition is told in every schedule, even where nothing crosses it."""
    metadata = schedule.metadata
    kept = tuple(remark for remark in metadata.annotations if remark.kind != "partition")
    return replace(schedule, metadata=replace(metadata, annotations=kept))


@pytest.fixture(scope="module")
def digest_on(protocol):
    """Digest of what each protocol does on a cluster that knobs start from."""
    return cache(lambda cluster: _run(protocol, cluster).digest())


@pytest.mark.parametrize("name", KNOBS)
def test_a_knob_bites_or_is_inert_or_is_refused(protocol, digest_on, name):
    knob = KNOBS[name]
    if name in REFUSED.get(type(protocol).__name__, ()):
        with pytest.raises(ValueError, match="give it a cluster without"):
            _run(protocol, knob.cluster)
        return

    schedule = _run(protocol, knob.cluster, knob.payload)

    schedule.check()
    protocol.restate(schedule)
    inert = schedule.metadata.provenance["inert"]
    listed = [part for part in inert if knob.inert and part.startswith(knob.inert)]
    bites = _without_remark(schedule).digest() != digest_on(knob.start)
    assert set(inert) <= set(PARTS)
    assert bites or listed
    if knob.inert != "links":
        assert not (bites and listed)


def test_all_fields_of_a_cluster_are_knobs():
    """A new field must come with a line here."""
    of_workers = {field.name for field in fields(Worker)}
    of_clusters = {field.name for field in fields(Cluster)} - {"workers", "faults"}
    others = {field.name for cls in (Link, GilbertElliott, Payload) for field in fields(cls)}

    assert of_workers | of_clusters | others <= KNOBS.keys()


def test_sizes_are_inert_where_no_bandwidth_in_use_is_limited():
    """The links between workers are limited, which no server has a use for."""
    cluster = Cluster.alike(2, Constant(1.0))
    between = replace(cluster, fabric=Link(bandwidth_bytes_per_s=1e6))

    inert = _run(AsynchronousServer(), between).metadata.provenance["inert"]

    assert inert == ["links between workers", "size of the model", "size of an update"]
