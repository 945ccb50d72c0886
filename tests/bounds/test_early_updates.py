"""Message passing: what comes from a round not yet begun must be held back."""

import pytest

from elastic_consistency.bounds import get
from elastic_consistency.bounds.requirements import Requirement
from elastic_consistency.execution.quantities import Sequence
from elastic_consistency.schedule import Recorder
from elastic_consistency.validation.gaps import aligned_gap, view_difference


class TwoNodes:
    """Records rounds of two nodes that add each other's updates when they are told to."""

    def __init__(self):
        self.now = 0.0
        self.record = Recorder(lambda: self.now, n_workers=2, hosts=(0, 1))
        self.jobs = []

    def read(self, node, step):
        self.now += 1.0
        job = self.record.job(node, round=step)
        self.record.read(job, node)
        self.record.gradient(job)
        self.record.begin(job)
        self.jobs.append(job)
        return job

    def end(self, job):
        self.now += 1.0
        self.record.encode(job)

    def add(self, node, *jobs):
        for job in jobs:
            self.record.add(node, job=job, weight=0.5)
        self.record.step(node)

    def finish(self):
        for job in self.jobs:
            self.record.drop(job=job, share=0.5)
        schedule = self.record.finish()
        schedule.check()
        return schedule


def fast_peer(*, held_back):
    """Node 0 ends round 1 before node 1 begins it; nothing that node 1 may miss is missing."""
    nodes = TwoNodes()
    first, second = nodes.read(0, 0), nodes.read(1, 0)
    nodes.end(first)
    nodes.end(second)
    for node in (0, 1):
        nodes.add(node, first, second)
    early = nodes.read(0, 1)
    nodes.end(early)
    nodes.add(0, early)
    if not held_back:
        nodes.add(1, early)
    late = nodes.read(1, 1)
    nodes.end(late)
    nodes.add(1, *([early, late] if held_back else [late]))
    nodes.add(0, late)
    return nodes.finish()


@pytest.mark.parametrize(("held_back", "gap"), [(True, 0.0), (False, 0.5)])
def test_an_early_update_opens_a_gap_where_the_constant_is_zero(held_back, gap):
    schedule = fast_peer(held_back=held_back)

    measured = aligned_gap(view_difference(schedule, Sequence.AGGREGATE))

    assert get("message_passing_gap").evaluate({"p": 2, "tau": 0, "M": 1}) == 0
    assert measured == gap


def test_without_holding_back_the_gap_is_that_of_one_more_round():
    """(p - 1)(tau + 1) M / p for messages in order, attained."""
    measured = aligned_gap(view_difference(fast_peer(held_back=False), Sequence.AGGREGATE))

    assert measured == (2 - 1) * (0 + 1) / 2


@pytest.mark.parametrize(
    "name", ["message_passing_gap", "message_passing_noise_gap", "message_drop_gap", "crash_gap"]
)
def test_the_constants_of_messages_say_that_they_need_it(name):
    assert Requirement.HELD_BACK in get(name).requirements
    assert Requirement.HELD_BACK in get(name).derivation.requirements()
