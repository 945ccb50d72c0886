"""The plans of all ranks fit together, whatever the schedule and the placement."""

from collections import Counter, defaultdict

import numpy as np
import pytest
from recorded_schedules import all_reduce, asynchronous_server

from elastic_consistency.hardware_backend import Placement, lower
from elastic_consistency.hardware_backend.lowering.lower import Carry, Collect, Launch, Run
from elastic_consistency.hardware_backend.lowering.routes import Route, find_crossings
from elastic_consistency.schedule import SERVER, Op, Recorder

SCHEDULES = {"server": asynchronous_server(5, 30), "all-reduce": all_reduce(5, 6)}
EVERY = [(name, n, ordered) for name in SCHEDULES for n in (1, 2, 3, 4) for ordered in (0, 1)]


@pytest.mark.parametrize(("name", "n_ranks", "ordered"), EVERY)
def test_every_row_is_run_by_the_host_that_it_names(name, n_ranks, ordered):
    """PUT also by whoever sums in order, DROP by whoever may hold what is dropped."""
    schedule, placement = SCHEDULES[name], Placement(n_ranks)
    lowering = lower(schedule, placement, ordered=bool(ordered))
    actor = placement.ranks(schedule.rows.worker.astype(np.int64))
    runners = defaultdict(list)

    for rank in range(n_ranks):
        for step in lowering.steps(rank):
            if isinstance(step, Run):
                for row in step.rows.tolist():
                    runners[row].append(rank)

    assert set(runners) == set(range(len(schedule.rows)))
    for row, ranks in runners.items():
        assert len(set(ranks)) == len(ranks)
        if schedule.rows.op[row] == Op.DROP:
            continue
        assert actor[row] in ranks
        assert len(ranks) == 1 or (ordered and schedule.rows.op[row] == Op.PUT)


@pytest.mark.parametrize(("name", "n_ranks", "ordered"), EVERY)
def test_both_ends_agree_on_every_transfer_and_its_order(name, n_ranks, ordered):
    lowering = lower(SCHEDULES[name], Placement(n_ranks), ordered=bool(ordered))
    by_pair = defaultdict(list)
    by_group = defaultdict(list)

    for rank in range(n_ranks):
        for step in lowering.steps(rank):
            if isinstance(step, Carry):
                assert rank in (step.source, step.target)
                by_pair[step.source, step.target, rank].append(step)
            elif isinstance(step, Launch):
                assert rank in step.crossing.members
                by_group[step.crossing.members, rank].append(step.crossing)

    for (source, target, rank), steps in by_pair.items():
        assert steps == by_pair[source, target, source + target - rank]
    for (members, _), crossings in by_group.items():
        assert all(by_group[members, other] == crossings for other in members)


@pytest.mark.parametrize(("name", "n_ranks", "ordered"), EVERY)
def test_plans_never_block_for_ever(name, n_ranks, ordered):
    """Played by hand with rendezvous semantics: every rank reaches its end."""
    lowering = lower(SCHEDULES[name], Placement(n_ranks), ordered=bool(ordered))
    plans = [list(lowering.steps(rank)) for rank in range(n_ranks)]
    position, begun = [0] * n_ranks, Counter()

    moved = True
    while moved:
        moved = False
        for rank, plan in enumerate(plans):
            while position[rank] < len(plan) and _may_pass(plan[position[rank]], rank, begun):
                position[rank] += 1
                moved = True

    assert position == [len(plan) for plan in plans]


def _may_pass(step, rank, begun) -> bool:
    """Note what this step begins; a receiver passes only once its sender has begun."""
    if isinstance(step, Carry):
        key = (step.row, step.operand, step.number, step.target)
        if rank == step.source:
            begun[key] += 1
        return begun[key] > 0
    if isinstance(step, Launch):
        begun[step.crossing.message, rank] += 1
    if isinstance(step, Collect):
        crossing = step.crossing
        return all(begun[crossing.message, member] > 0 for member in crossing.members)
    return True


def _one_message(writers: tuple[int, ...], readers: tuple[int, ...]):
    """A schedule with one message from some workers to some replicas, one on each worker."""
    record = Recorder(lambda: 0.0, n_workers=4, hosts=(0, 1, 2, 3))
    message = record.message()
    for worker in writers:
        job = record.job(worker)
        record.read(job, worker)
        record.gradient(job)
        record.begin(job)
        record.encode(job)
        record.put(message, job=job)
        record.drop(job=job, share=1.0)
    for replica in readers:
        record.add(replica, message=message)
        record.step(replica)
    record.drop(message=message)
    schedule = record.finish()
    schedule.check()
    return schedule


@pytest.mark.parametrize(
    ("writers", "readers", "route"),
    [
        ((0, 1, 2, 3), (0, 1, 2, 3), Route.ALL_REDUCE),
        ((0, 2), (0, 2), Route.ALL_REDUCE),
        ((0, 1), (1, 2), Route.ALL_REDUCE),
        ((1,), (0, 2, 3), Route.BROADCAST),
        ((1,), (0, 1, 2, 3), Route.BROADCAST),
        ((0, 1, 3), (2,), Route.REDUCE),
        ((0, 1, 3), (3,), Route.REDUCE),
        ((2,), (1,), Route.SEND),
        ((2,), (1, 2), Route.SEND),
        ((2,), (2,), Route.LOCAL),
        ((0, 1), (), Route.LOCAL),
    ],
)
def test_the_route_follows_from_who_writes_and_who_reads(writers, readers, route):
    lowering = lower(_one_message(writers, readers), Placement(4))

    assert lowering.crossings[0].route is route


def test_only_partial_collectives_need_a_group_of_their_own():
    pair = (1, 3)  # ranks of workers 0 and 2

    assert lower(_one_message((0, 2), (0, 2)), Placement(4)).groups() == [pair]
    assert lower(_one_message((0, 1, 2, 3), (0, 1, 2, 3)), Placement(4)).groups() == []
    assert lower(_one_message((2,), (1,)), Placement(4)).groups() == []


def test_rare_sets_of_ranks_get_no_group_of_their_own():
    """Two subsets, one group allowed: the rarer subset's message is gathered."""
    record = Recorder(lambda: 0.0, n_workers=4, hosts=(0, 1, 2, 3))
    for workers in ((0, 1, 2), (0, 1, 2), (1, 2, 3)):
        message = record.message()
        for worker in workers:
            record.put(message, replica=worker, weight=1 / 3)
        for worker in workers:
            record.mix(worker, message, keep=0.0)
        record.drop(message=message)
    schedule = record.finish()
    schedule.check()
    ranks = Placement(4).ranks(schedule.rows.worker.astype(np.int64))

    crossings = find_crossings(schedule, ranks, n_ranks=4, ordered=False, most_groups=1)

    assert [c.route for c in crossings] == [Route.ALL_REDUCE, Route.ALL_REDUCE, Route.GATHER]


def test_a_message_is_launched_at_its_last_put_and_awaited_at_its_first_use():
    schedule = all_reduce(4, 1)
    op = schedule.rows.op

    steps = list(lower(schedule, Placement(4)).steps(1))

    (launch,) = (k for k, step in enumerate(steps) if isinstance(step, Launch))
    (collect,) = (k for k, step in enumerate(steps) if isinstance(step, Collect))
    assert steps[launch].crossing.launch == np.flatnonzero(op == Op.PUT)[-1]
    # Worker 0 lives on rank 1, so replica 0's ADD is the first use there.
    assert steps[collect].row == np.flatnonzero(op == Op.ADD)[0]
    assert launch < collect


def test_an_update_travels_once_however_often_it_is_added():
    """The elastic stand-in adds an update and takes it back later."""
    record = Recorder(lambda: 0.0, n_workers=1, hosts=(SERVER,))
    job = record.job(0)
    record.read(job, 0)
    record.gradient(job)
    record.begin(job)
    record.encode(job)
    for weight in (1.0, -1.0, 0.5):
        record.add(0, job=job, weight=weight)
        record.step(0)
    record.drop(job=job, share=0.5)

    steps = list(lower(record.finish(), Placement(2)).steps(0))

    carried = [step.operand.value for step in steps if isinstance(step, Carry)]
    assert carried == ["model of replica", "update of job"]


def test_hosts_are_dealt_round_from_the_server_on():
    assert Placement(3).ranks(np.arange(-1, 6)).tolist() == [0, 1, 2, 0, 1, 2, 0]


@pytest.mark.parametrize("n_ranks", [0, -1])
def test_a_placement_needs_a_rank(n_ranks):
    with pytest.raises(ValueError, match="n_ranks must be"):
        Placement(n_ranks)


def test_an_explicit_placement_must_know_every_host():
    with pytest.raises(ValueError, match="ranks of 4 hosts, got 2"):
        Placement(2, explicit=(0, 1)).ranks(np.array([-1, 2]))
