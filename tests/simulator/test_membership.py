"""Workers that come and go where there is no server: what is lost, what waits, what goes on."""

from dataclasses import replace
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elastic_consistency.schedule import Op, ScheduleError
from elastic_consistency.simulator import (
    Cluster,
    Crash,
    FaultScript,
    Graph,
    LateStart,
    Link,
    OnePeerExponential,
    Payload,
    StallError,
    Until,
    Worker,
    simulate,
)
from elastic_consistency.simulator.delays import Constant
from elastic_consistency.simulator.protocols import (
    AsynchronousElasticAveraging,
    BlockCoordinate,
    ElasticAveraging,
    Gossip,
    LocalSgd,
    MessagePassing,
    Order,
    PairwiseAveraging,
    SharedMemory,
)
from elastic_consistency.simulator.protocols.fault_restatement import absences
from elastic_consistency.validation.strategies import unreliable_clusters

PAYLOAD = Payload(2.0, 1.0)
EASGD, AEASGD = ElasticAveraging, AsynchronousElasticAveraging


def _run(protocol, laws, faults, jobs, **arguments):
    cluster = replace(Cluster.of_laws([Constant(s) for s in laws]), faults=FaultScript(faults))
    schedule = simulate(protocol, cluster, until=Until(jobs=jobs), seed=0, **arguments)
    schedule.check()
    protocol.restate(schedule)
    return schedule


def _times(schedule, op, worker):
    rows = schedule.rows
    return rows.time[(rows.op == op) & (rows.worker == worker)].tolist()


def _protocols_of(n):
    pair = [PairwiseAveraging(Graph.ring(n))] if n > 1 else []
    even = [PairwiseAveraging(Graph.ring(n), bipartite=True)] if n % 2 == 0 else []
    return st.sampled_from(
        [
            Gossip(OnePeerExponential(n), lag=1),
            Gossip(Graph.ring(n)),
            MessagePassing(1),
            MessagePassing(0, 0.3, 0.5),
            *pair,
            *even,
            LocalSgd(2),
            SharedMemory((1, 2), Constant(0.25), Constant(0.5)),
            BlockCoordinate((1, 2)),
            EASGD(1 / n),
            EASGD(0.5 / n, Order.STEP_THEN_EXCHANGE),
            AEASGD(0.5, 2),
            AEASGD(0.5, 2, Order.STEP_THEN_EXCHANGE),
        ]
    )


@st.composite
def _runs(draw):
    cluster = draw(unreliable_clusters(max_workers=4))
    link = draw(st.sampled_from((Link(), Link(0.5), Link(2.0))))
    protocol = draw(_protocols_of(cluster.n_workers))
    until = Until(jobs=draw(st.integers(8, 30)))
    # Some of them need links between workers that are alike where these share a bandwidth.
    cluster = replace(cluster, fabric=link, fabric_bandwidth_bytes_per_s=inf)
    return protocol, simulate(protocol, cluster, until=until, seed=1, payload=PAYLOAD)


@settings(max_examples=150)
@given(_runs())
def test_a_worker_that_is_not_there_has_no_job_and_nobody_waits_for_it(run):
    """Whatever the faults: the run ends, its schedule is valid, and the absent are silent."""
    protocol, schedule = run

    schedule.check()
    protocol.restate(schedule)
    rows, jobs = schedule.rows, schedule.jobs
    assert not np.isnan(jobs.share).any()
    first, last = np.full(len(jobs), len(rows)), np.zeros(len(jobs), int)
    for row in np.flatnonzero(np.isin(rows.op, (Op.READ, Op.GRADIENT, Op.ENCODE))):
        first[rows.job[row]] = min(first[rows.job[row]], row)
        last[rows.job[row]] = row
    for worker, begin, end in absences(schedule):
        own = jobs.worker == worker
        assert not (own & (first < end) & (last >= begin)).any()


def _masses(schedule):
    """Sum of the masses of replicas and of messages in flight, after each row.

    Written for this test: a message takes 1 - keep from its donor, and a recipient `weight`.
    """
    rows = schedule.rows
    mass = np.ones(len(schedule.metadata.hosts))
    sent, left = {}, {}
    for k in range(len(rows)):
        replica, message = int(rows.replica[k]), int(rows.message[k])
        if rows.op[k] == Op.PUT:
            sent[message] = mass[replica]
            left[message] = (1 - rows.keep[k]) * mass[replica]
            mass[replica] *= rows.keep[k]
        elif rows.op[k] == Op.MIX:
            taken = rows.weight[k] * sent[message]
            left[message] -= taken
            mass[replica] = rows.keep[k] * mass[replica] + taken
        yield mass.sum() + sum(left.values()), mass.min()


@settings(max_examples=60)
@given(unreliable_clusters(max_workers=5), st.integers(0, 2), st.booleans())
def test_gossip_never_loses_mass(cluster, lag, ring):
    n = cluster.n_workers
    protocol = Gossip(Graph.ring(n) if ring else OnePeerExponential(n), lag=lag)

    schedule = simulate(protocol, cluster, until=Until(jobs=30), seed=1, payload=PAYLOAD)

    for total, least in _masses(schedule):
        assert total == pytest.approx(n, abs=1e-9)
        assert least > 0


def test_gossip_goes_on_without_the_crashed_and_takes_it_back():
    """Rounds of 1 s; node 0 dies at 2.5 s, is back at 5.5 s, and opens round 6, at once."""
    schedule = _run(Gossip(Graph.ring(4)), [1] * 4, (Crash(0, 2.5, 3.0),), 34)

    assert _times(schedule, Op.READ, 0) == [0, 1, 2, 5.5, 7, 8]
    assert _times(schedule, Op.READ, 2) == [0, 1, 2, 3, 4, 5, 6, 7, 8]
    lost = np.flatnonzero(schedule.jobs.share == 0)
    assert schedule.jobs.worker[lost].tolist() == [0]
    assert schedule.jobs.round[lost].tolist() == [2]
    assert schedule.jobs.round[schedule.jobs.worker == 0].tolist() == [0, 1, 2, 6, 7, 8]


def test_who_is_back_waits_for_what_is_due_from_before_the_crash():
    """lag 1: node 1 has sent round 0 at 1 s and is away from 1.25 s to 1.5 s.

    Round 1 is open, so that it is back for round 2, for which the slow node 0 must first have
    sent it the message of round 0, at 4 s.
    """
    faults = (Crash(1, 1.25, 0.25),)

    schedule = _run(Gossip(OnePeerExponential(2), lag=1), [4, 1], faults, 6)

    assert _times(schedule, Op.READ, 1) == [0, 1, 4]


def test_a_node_keeps_the_weight_of_an_absent_neighbour():
    """On a ring of 4 every weight is 1/3: alone among two, a node keeps 2/3 instead of 1/3."""
    schedule = _run(Gossip(Graph.ring(4)), [1] * 4, (Crash(0, 2.5),), 24)

    rows = schedule.rows
    put = rows.op == Op.PUT
    late = put & (rows.time > 2.5)
    assert np.allclose(rows.keep[put & (rows.time < 2.5)], 1 / 3)
    kept = {w: rows.keep[late & (rows.worker == w)].tolist() for w in (1, 2, 3)}
    assert kept[1] == pytest.approx([2 / 3] * len(kept[1]))
    assert kept[3] == pytest.approx([2 / 3] * len(kept[3]))
    assert kept[2] == pytest.approx([1 / 3] * len(kept[2]))


def test_messages_to_the_dead_stay_in_flight_with_their_mass():
    """Node 1 dies at 1.25 s, as what node 0 sent at 1 s is on its way to it: a half of 1."""
    cluster = Cluster.alike(2, Constant(1.0), link=Link(0.5))
    cluster = replace(cluster, faults=FaultScript((Crash(1, 1.25),)))

    schedule = simulate(Gossip(OnePeerExponential(2)), cluster, until=Until(jobs=6), seed=0)

    assert schedule.messages.in_flight.tolist() == [True, False]
    total, least = list(_masses(schedule))[-1]
    assert (total, least) == (pytest.approx(2), 0.5)


def test_a_restatement_finds_weight_that_is_kept_without_reason():
    schedule = _run(Gossip(Graph.ring(4)), [1] * 4, (Crash(0, 2.5, 3.0),), 24)
    keep = schedule.rows.keep.copy()
    row = np.flatnonzero(schedule.rows.op == Op.PUT)[0]
    keep[row] += 0.25
    forged = replace(schedule, rows=replace(schedule.rows, keep=keep))

    with pytest.raises(ScheduleError, match="W_ii"):
        Gossip(Graph.ring(4)).restate(forged)


def test_message_passing_does_not_wait_for_the_dead_and_the_returned_catches_up():
    """lag 0: all in step; worker 0 dies at 1.5 s, is back at 3.25 s, and joins round 4 at 4 s."""
    schedule = _run(MessagePassing(0), [1] * 3, (Crash(0, 1.5, 1.75),), 16)

    assert _times(schedule, Op.READ, 1) == [0, 1, 2, 3, 4, 5]
    assert _times(schedule, Op.READ, 0) == [0, 1, 4, 5]
    rows = schedule.rows
    adds = rows.op == Op.ADD
    # What came while it was away it applies as it is back, in order of arrival: two rounds of 2.
    missed = rows.job[adds & (rows.replica == 0) & (rows.time == 3.25)]
    assert schedule.jobs.round[missed].tolist() == [1, 1, 2, 2]


def test_an_update_is_over_when_only_the_dead_have_not_applied_it():
    schedule = _run(MessagePassing(0), [1] * 3, (Crash(0, 1.5),), 12)

    rows, jobs = schedule.rows, schedule.jobs
    uses = np.bincount(rows.job[rows.op == Op.ADD], minlength=len(jobs))
    lost = (jobs.worker == 0) & (jobs.round == 1)
    assert uses.tolist() == np.where(jobs.round == 0, 3, np.where(lost, 0, 2)).tolist()
    assert jobs.share.tolist() == np.where(lost, 0, 1 / 3).tolist()


def test_a_pair_of_which_one_is_away_is_no_pair():
    """Two nodes; the second joins at 2.5 s: until then the first steps alone."""
    schedule = _run(PairwiseAveraging(Graph.ring(2)), [1, 1], (LateStart(1, 2.5),), 8)

    rows = schedule.rows
    assert rows.time[rows.op == Op.PUT][::2].tolist() == [3.0, 3.5, 4.0, 4.5, 5.0, 5.5]
    assert rows.time[(rows.op == Op.STEP) & (rows.replica == 0)].tolist()[:3] == [1, 2, 3]


def test_nobody_asks_who_is_away_while_somebody_else_is_there():
    """On a triangle without node 2, nodes 0 and 1 meet before each of their steps."""
    schedule = _run(PairwiseAveraging(Graph.ring(3)), [1, 1, 1], (Crash(2, 0.5),), 23)

    rows = schedule.rows
    assert (rows.op == Op.STEP).sum() == 22
    assert (rows.op == Op.PUT).sum() == 2 * 22


def test_who_crashes_between_asking_and_answer_averages_with_nobody():
    """Both ask at 1 s and have the answer at 2 s; node 0 dies at 1.5 s, and node 1 steps alone."""
    cluster = Cluster.alike(2, Constant(1.0), link=Link(0.5))
    cluster = replace(cluster, faults=FaultScript((Crash(0, 1.5, 8.0),)))
    protocol = PairwiseAveraging(Graph.ring(2))

    schedule = simulate(protocol, cluster, until=Until(jobs=4), seed=0)

    protocol.restate(schedule)
    assert (schedule.rows.op == Op.PUT).sum() == 0
    assert schedule.jobs.share.tolist() == [0, 0.5, 0.5, 0.5]


def test_local_sgd_averages_those_who_are_left_and_copies_for_those_who_come():
    """Windows of two 1 s steps; worker 0 dies in the second and is back for the fourth."""
    schedule = _run(LocalSgd(2), [1] * 3, (Crash(0, 3.5, 1.5),), 22)

    rows, jobs = schedule.rows, schedule.jobs
    by_window = {
        w: sorted(jobs.share[(jobs.round // 2 == w) & (jobs.worker != 0)]) for w in range(4)
    }
    thirds, halves = [1 / 3] * 4, [1 / 2] * 4
    assert by_window == {0: thirds, 1: halves, 2: halves, 3: thirds}
    assert jobs.share[(jobs.worker == 0) & (jobs.round // 2 == 1)].tolist() == [0, 0]
    copies = np.bincount(rows.message[rows.op == Op.PUT]) == 1
    assert copies.sum() == 1
    assert _times(schedule, Op.READ, 0) == [0, 1, 2, 3, 6, 7]


def test_a_model_that_everybody_has_lost_is_a_stall():
    """Local steps have changed every replica, and nobody is left who could copy one."""
    faults = (Crash(0, 1.5, 1.0), Crash(1, 1.75, 1.0))

    with pytest.raises(StallError, match="waits for nobody"):
        _run(LocalSgd(2), [1, 1], faults, 12)


@pytest.mark.parametrize("at_s", [1.75, 2.25], ids=["before the first block", "after it"])
def test_an_update_that_is_being_written_is_written_to_its_end(at_s):
    """Read 0.5 s, compute 1 s, write two blocks of 0.5 s each, until 2.5 s; then read anew."""
    protocol = SharedMemory((1, 1), Constant(0.25), Constant(0.5))

    schedule = _run(protocol, [1], (Crash(0, at_s, 0.25),), 2)

    assert schedule.jobs.share.tolist() == [1, 1]
    assert schedule.rows.time[schedule.rows.op == Op.ADD].tolist() == [2, 2.5, 4.5, 5]


@pytest.mark.parametrize(("at_s", "reads"), [(0.375, 1), (1.0, 2)], ids=["reading", "computing"])
def test_what_is_being_read_or_computed_is_lost(at_s, reads):
    protocol = SharedMemory((1, 1), Constant(0.25), Constant(0.5))

    schedule = _run(protocol, [1], (Crash(0, at_s, 1.0),), 2)

    assert schedule.jobs.share.tolist() == [0, 1]
    assert ((schedule.rows.op == Op.READ) & (schedule.rows.job == 0)).sum() == reads


def test_a_block_is_lost_with_its_worker_and_nothing_else():
    schedule = _run(BlockCoordinate((1, 1)), [1, 1], (Crash(0, 1.5, 1.0),), 8)

    assert (schedule.jobs.share == 0).tolist() == [False, False, True, *[False] * 5]


def test_elastic_averaging_goes_on_with_the_others():
    """Rounds of 1 s without latency; worker 0 dies at 1.5 s and is back at 3.25 s."""
    schedule = _run(EASGD(0.25), [1] * 3, (Crash(0, 1.5, 1.75),), 17)

    rows = schedule.rows
    centre = (rows.op == Op.MIX) & (rows.replica == 0)
    assert rows.keep[centre].tolist() == [0.25, 0.5, 0.5, 0.5, 0.25, 0.25]
    assert rows.time[centre].tolist() == [1, 2, 3, 4, 5, 6]


def test_a_member_that_dies_after_it_has_sent_is_taken_out_of_the_sum():
    """Worker 0 is ready at 1 s, dies at 2 s, and the round of the others ends at 3 s."""
    schedule = _run(EASGD(0.25), [1, 3, 3], (Crash(0, 2.0),), 5)

    rows = schedule.rows
    used = rows.message[(rows.op == Op.MIX) & (rows.replica == 0)]
    first = rows.replica[(rows.op == Op.PUT) & (rows.message == used[0])]
    assert first.tolist() == [2, 3]
    assert schedule.jobs.share.tolist() == [0, 0.25, 0.25, 0.25, 0.25]


def test_an_answer_waits_for_the_worker_that_asked():
    """Asked at 1 s over 1 s each way; away from 1.5 s to 9 s: the answer is taken at 9 s."""
    machine = Worker(Constant(1.0), uplink=Link(1.0), downlink=Link(1.0))
    cluster = Cluster((machine,), faults=FaultScript((Crash(0, 1.5, 7.5),)))
    protocol = AEASGD(0.5)

    schedule = simulate(protocol, cluster, until=Until(jobs=2), seed=0)

    protocol.restate(schedule)
    rows = schedule.rows
    assert rows.time[rows.op == Op.MIX].tolist() == [2, 9, 11, 12]
    assert schedule.jobs.share.tolist() == [0, 0.5]
    assert schedule.jobs.begin.tolist() == [0, 9]


def test_nobody_begins_before_an_answer_from_before_the_crash_is_there():
    """Asked at 1 s over 1 s each way; away from 1.25 s to 1.5 s: the next job begins at 3 s."""
    machine = Worker(Constant(1.0), uplink=Link(1.0), downlink=Link(1.0))
    cluster = Cluster((machine,), faults=FaultScript((Crash(0, 1.25, 0.25),)))

    schedule = simulate(AEASGD(0.5), cluster, until=Until(jobs=2), seed=0)

    assert schedule.jobs.begin.tolist() == [0, 3]


@pytest.mark.parametrize("order", Order)
def test_elastic_averaging_leaves_the_sum_of_all_replicas(order, follow):
    """Sum over replicas = (n + 1) x0 - step size * (sum of all gradients that count)."""
    faults = (Crash(0, 2.5, 1.75), LateStart(2, 3.5), Crash(1, 4.25, 1.0))
    for protocol in (EASGD(0.25, order), AEASGD(0.25, 2, order)):
        schedule = _run(protocol, [1, 1.25, 0.75], faults, 25)

        x, _, _ = follow(schedule, lambda view: 1.0, 0.125)

        counted = (schedule.jobs.share > 0).sum()
        assert (schedule.jobs.share == 0).sum() > 0
        assert x.sum() == pytest.approx(4 - 0.125 * counted)
