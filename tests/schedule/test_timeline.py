"""The Perfetto trace: lanes are named, spans close, arrows have two ends."""

from collections import Counter

import pytest
from perfetto.protos.perfetto.trace import perfetto_trace_pb2

from elastic_consistency.schedule.timeline import save_timeline


@pytest.fixture
def draw(tmp_path):
    def parse(schedule):
        count = save_timeline(schedule, tmp_path / "x.pftrace")
        trace = perfetto_trace_pb2.Trace()
        trace.ParseFromString((tmp_path / "x.pftrace").read_bytes())
        assert len(trace.packet) == count
        return trace.packet

    return parse


def lanes(packets):
    return {
        p.track_descriptor.uuid: p.track_descriptor.name
        for p in packets
        if p.HasField("track_descriptor")
    }


def events(packets):
    return [p for p in packets if p.HasField("track_event")]


@pytest.mark.parametrize("name", ["server", "pairwise", "push_sum", "blocks"])
def test_every_event_lies_on_a_named_lane(handmade, draw, name):
    packets = draw(handmade[name])

    assert all(lanes(packets).values())
    assert {p.track_event.track_uuid for p in events(packets)} <= set(lanes(packets))


def test_workers_and_hosts_have_their_lanes(handmade, draw):
    names = set(lanes(draw(handmade["server"])).values())

    assert names == {
        "server, replica 0", "worker 0", "worker 0, messages", "worker 1", "worker 1, messages",
    }  # fmt: skip


@pytest.mark.parametrize("name", ["server", "pairwise", "push_sum"])
def test_spans_close_on_their_lane(handmade, draw, name):
    balance = Counter()
    for packet in events(draw(handmade[name])):
        event = packet.track_event
        balance[event.track_uuid] += {event.TYPE_SLICE_BEGIN: 1, event.TYPE_SLICE_END: -1}.get(
            event.type, 0
        )

    assert not any(balance.values())


@pytest.mark.parametrize("name", ["server", "pairwise", "push_sum", "blocks"])
def test_arrows_that_end_somewhere_begin_somewhere(handmade, draw, name):
    found = events(draw(handmade[name]))
    begun = {flow for p in found for flow in p.track_event.flow_ids}
    ended = {flow for p in found for flow in p.track_event.terminating_flow_ids}

    assert ended
    assert ended <= begun


def test_computations_are_drawn_from_begin_to_encode(handmade, draw):
    found = events(draw(handmade["server"]))
    begins = {
        p.track_event.name: p.timestamp for p in found if p.track_event.name.startswith("compute")
    }

    jobs = handmade["server"].jobs
    assert begins == {f"compute {k}": round(t * 1e9) for k, t in enumerate(jobs.begin)}


def test_a_message_is_in_flight_from_put_to_mix(handmade, draw):
    found = events(draw(handmade["push_sum"]))
    spans = [p.timestamp for p in found if "in flight" in p.track_event.name]

    assert spans == [0]
    assert [p.timestamp for p in found if p.track_event.name == "mix message 0"] == [10**9]
