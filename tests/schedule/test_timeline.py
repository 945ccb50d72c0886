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


def test_models_come_first_and_each_worker_with_what_is_its_own(handmade, draw):
    ranks = {}
    for name in ("server", "push_sum"):
        for packet in draw(handmade[name]):
            if packet.HasField("track_descriptor"):
                track = packet.track_descriptor
                ranks[name, track.name] = track.sibling_order_rank

    in_order = sorted(ranks, key=lambda key: (key[0], ranks[key]))
    assert in_order == [
        ("push_sum", "worker 0"), ("push_sum", "worker 0, messages"),
        ("push_sum", "worker 0, model"), ("push_sum", "worker 1"), ("push_sum", "worker 1, model"),
        ("server", "server, model"), ("server", "worker 0"), ("server", "worker 1"),
    ]  # fmt: skip


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


def spans(packets):
    """(lane, begin [s], end [s], name) of every span, by the rules of the viewer.

    An end closes the span that was begun last on its track; packets are sorted by time, and at
    equal times they keep their order in the file.
    """
    names, stacks, found = lanes(packets), {}, []
    for packet in sorted(events(packets), key=lambda p: p.timestamp):
        event = packet.track_event
        stack = stacks.setdefault(event.track_uuid, [])
        if event.type == event.TYPE_SLICE_BEGIN:
            assert not stack, "spans of one track must not overlap"
            stack.append((packet.timestamp, event.name))
        elif event.type == event.TYPE_SLICE_END:
            begin, name = stack.pop()
            lane = names[event.track_uuid]
            found.append((lane, begin / 1e9, packet.timestamp / 1e9, name))
    return sorted(found)


def test_a_message_is_under_way_from_put_to_mix(handmade, draw):
    packets = draw(handmade["push_sum"])

    assert spans(packets) == [("worker 0, messages", 0.0, 1.0, "model to worker 1")]
    mixed = [p.timestamp for p in events(packets) if p.track_event.name == "mix message 0"]
    assert mixed == [10**9]


def test_a_wait_is_a_span_that_names_who_was_last(make_hand, draw):
    """Workers put at 1 s and 3 s and both read again at 3.5 s, when the sum has arrived."""
    hand = make_hand(2, (0, 1))
    record = hand.record
    jobs = [record.job(w) for w in range(2)]
    for worker, job in enumerate(jobs):
        record.read(job, worker)
        record.gradient(job)
        record.begin(job)
    message = record.message()
    for time, job in zip((1.0, 3.0), jobs, strict=True):
        hand.time = time
        record.encode(job)
        record.put(message, job=job, weight=0.5)
    hand.time = 3.5
    for worker in range(2):
        record.add(worker, message=message)
        record.step(worker)
    record.drop(message=message)
    for worker, job in enumerate(jobs):
        record.drop(job=job, share=0.5)
        record.read(record.job(worker), worker)

    found = spans(draw(record.finish()))

    assert [s for s in found if not s[0].endswith("model")] == [
        ("worker 0", 0.0, 1.0, "compute 0"),
        ("worker 0", 1.0, 3.5, "wait for worker 1"),
        ("worker 1", 0.0, 3.0, "compute 1"),
        ("worker 1", 3.0, 3.5, "wait for its own update"),
        ("worker 1, messages", 3.0, 3.5, "sum of 2 updates to 2 replicas"),
    ]


def test_messages_of_one_sender_that_overlap_do_not_close_each_other(make_hand, draw):
    hand = make_hand(2, (0, 1))
    record = hand.record
    messages = []
    for time in (0.0, 1.0):
        hand.time = time
        messages.append(record.message())
        record.put(messages[-1], replica=0)
    for time, message in zip((5.0, 7.0), messages, strict=True):
        hand.time = time
        record.mix(1, message, keep=0.0)
        record.drop(message=message)

    assert spans(draw(record.finish())) == [
        ("worker 0, messages", 0.0, 5.0, "model to worker 1"),
        ("worker 0, messages", 1.0, 7.0, "model to worker 1"),
    ]


def test_every_arrow_begins_once_and_ends_once(handmade, draw):
    """Else the viewer chains everything that has the same number."""
    for name in ("server", "pairwise", "push_sum", "blocks"):
        found = events(draw(handmade[name]))
        begun = Counter(flow for p in found for flow in p.track_event.flow_ids)
        ended = Counter(flow for p in found for flow in p.track_event.terminating_flow_ids)

        assert begun == ended
        assert set(begun.values()) == {1}


def test_who_is_away_suspended_or_cut_off_has_a_lane_for_it(make_hand, draw):
    hand = make_hand(2, (-1,))
    record = hand.record
    record.annotate("late start", 1, "2.0 s")
    record.annotate("partition", -1, "0.5 1.5 0")
    record.annotate("suspended", 0, "0.25")
    lost = record.job(0)
    record.read(lost, 0)
    record.gradient(lost)
    record.begin(lost)
    hand.time = 1.0
    record.drop(job=lost, share=0.0)
    record.crash(0)
    hand.time = 2.0
    record.annotate("join", 1)
    record.read(record.job(1), 0)
    hand.time = 3.0
    record.annotate("restart", 0)
    record.read(record.job(0), 0)

    assert spans(draw(record.finish())) == [
        ("worker 0", 0.0, 1.0, "compute 0, lost"),
        ("worker 0, away", 1.0, 3.0, "crashed"),
        ("worker 0, cut off", 0.5, 1.5, "cut off"),
        ("worker 0, suspended", 0.0, 0.25, "suspended"),
        ("worker 1, away", 0.0, 2.0, "not yet there"),
    ]
