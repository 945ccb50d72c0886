"""Real asynchronous runs are recorded as schedules that mean what happened."""

import multiprocessing
from collections import defaultdict
from itertools import pairwise

import numpy as np
import pytest
from faulty_tasks import InStep, Sabotage

from elastic_consistency.execution import execute
from elastic_consistency.hardware_backend import RanksError, parity, replay
from elastic_consistency.hardware_backend.live import (
    Hogwild,
    LiveAllReduce,
    LivePairwise,
    LivePushSum,
    LiveServer,
    read_record,
    run_live,
)
from elastic_consistency.optimization.compression import ErrorFeedback, TopK
from elastic_consistency.optimization.update_rules import SGD, HeavyBall, StalenessAwareSGD
from elastic_consistency.schedule import Op
from elastic_consistency.schedule.staleness import in_flight_at_steps

SIZES = (3, 4, 5)
PROTOCOLS = {
    "server": (LiveServer(), ()),
    "server with tickets": (LiveServer(tickets=True), ()),
    "all-reduce": (LiveAllReduce(), ()),
    "SGP": (LivePushSum(), ()),
    "OSGP": (LivePushSum(overlap=2), ()),
    "pairwise": (LivePairwise(), ()),
    "Hogwild": (Hogwild(), SIZES),
}
PAUSES = (0.002, 0.004, 0.03)
READ_PAUSE = 0.03
SKEWS = (0.0, 1.5, -2.0, 0.7)


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    return tmp_path_factory.mktemp("records")


@pytest.fixture(scope="module", params=PROTOCOLS)
def live(request, quadratic_of_module, records):
    """One run of each protocol, with a straggler and with clocks that are seconds apart."""
    protocol, sizes = PROTOCOLS[request.param]
    return request.param, run_live(
        protocol,
        quadratic_of_module,
        SGD(0.05),
        n_workers=3,
        jobs=25,
        seed=7,
        pauses=PAUSES,
        block_sizes=sizes,
        clock_skews=SKEWS,
        folder=records,
    )


def test_the_recorded_schedule_is_valid(live):
    _, run = live

    run.schedule.check()

    assert not run.schedule.messages.in_flight.any()
    assert not np.isnan(run.schedule.jobs.share).any()


def test_executing_the_recorded_schedule_gives_the_models_that_were_trained(
    live, quadratic_of_module
):
    """Whatever order was recorded, it is the order that happened."""
    name, run = live

    executed = execute(run.schedule, quadratic_of_module, SGD(0.05), seeds=(run.seed,))

    tolerance = 1e-13 if name == "all-reduce" else 0.0  # a collective sums in its own order
    for ours, theirs in zip(run.models, executed.models, strict=True):
        assert np.linalg.norm(ours - theirs) <= tolerance * np.linalg.norm(theirs)


def test_a_live_run_can_be_replayed(live, quadratic_of_module):
    _, run = live
    executed = execute(run.schedule, quadratic_of_module, SGD(0.05), seeds=(run.seed,))

    replayed = replay(run.schedule, quadratic_of_module, SGD(0.05), seeds=(run.seed,), ranks=2)

    assert parity(replayed, executed) <= 1e-13


def test_influence_equals_share(live):
    _, run = live

    influence = run.schedule.influence()

    assert np.allclose(influence.final, influence.shares, rtol=0, atol=1e-12)


def test_mass_is_conserved(live):
    _, run = live

    assert run.masses.sum() == pytest.approx(len(run.masses), abs=1e-12)


def test_clocks_that_are_seconds_apart_are_aligned(live, records):
    """The promised error holds, however loaded the machine: all ranks share its one true clock."""
    name, run = live
    n_ranks = 4 if name.startswith("server") else 3

    for rank in range(1, n_ranks):
        head, _ = read_record(records / f"rank{rank}.jsonl")
        assert abs(head["clock_offset_s"] - (SKEWS[0] - SKEWS[rank])) <= head["clock_error_s"]
        assert 0 < head["clock_error_s"] <= run.clock_error


def test_causality_moves_no_time_further_than_two_clocks_may_be_wrong(live):
    _, run = live

    rounding = 1e-9
    assert run.shift <= 2 * run.clock_error + rounding


def test_times_are_real(live):
    """A gradient takes its pause: at least half the mean."""
    _, run = live
    rows, jobs = run.schedule.rows, run.schedule.jobs
    encode = rows.op == Op.ENCODE

    taken = rows.time[encode] - jobs.begin[rows.job[encode]]

    slack = 2 * run.clock_error + run.shift
    assert np.all(taken >= 0.5 * np.array(PAUSES)[rows.worker[encode]] - slack)


def test_every_worker_does_its_jobs(live):
    name, run = live
    per_worker = np.bincount(run.schedule.jobs.worker, minlength=3)

    if name.startswith("server"):
        assert per_worker.sum() == 25
        assert per_worker.min() >= 1  # everybody gets one at the start
    else:
        assert per_worker.tolist() == [25, 25, 25]


@pytest.mark.parametrize("tickets", [False, True])
def test_staleness_at_a_server_sums_to_jobs_in_flight(quadratic, tickets):
    """Exact for any timing: the sum over updates equals the sum over steps."""
    n, jobs = 3, 25
    run = run_live(LiveServer(tickets=tickets), quadratic, SGD(0.1), n_workers=n, jobs=jobs, seed=3)

    staleness = run.schedule.staleness().steps.sum()

    # The server hands a new job out with every update it applies, as without latency.
    assert staleness == in_flight_at_steps(run.schedule).sum()
    assert staleness == (n - 1) * jobs - n * (n - 1) // 2


@pytest.fixture(scope="module")
def slow_readers(quadratic_of_module, tmp_path_factory):
    """Three workers that all compute their k-th gradient before anybody writes it.

    Then worker 0 writes at once and reads on for a third of a second; the others write in the
    midst of that. For no view to be torn, in each of seven rounds both must be kept from it for
    longer than a quarter of a second, or worker 0 from reading.
    """
    barrier = multiprocessing.get_context("forkserver").Barrier(3)
    folder = tmp_path_factory.mktemp("slow_readers")
    return folder, run_live(
        Hogwild(read_pause=READ_PAUSE),
        InStep(quadratic_of_module, barrier, 4 * READ_PAUSE),
        SGD(0.01),
        n_workers=3,
        jobs=8,
        seed=0,
        block_sizes=(1,) * 12,
        folder=folder,
    )


def test_reads_of_shared_memory_are_torn(slow_readers):
    """Some job reads blocks of different versions; a lock around the model would prevent it."""
    rows = slow_readers[1].schedule.rows
    versions, seen = np.zeros(12, int), {}

    for op, job, block in zip(rows.op, rows.job, rows.block, strict=True):
        if op == Op.STEP:
            versions[block] += 1
        elif op == Op.READ:
            seen.setdefault(job, []).append(versions[block])

    torn = sum(len(set(read)) > 1 for read in seen.values())
    assert torn > 0
    assert versions.tolist() == [24] * 12


def test_every_access_to_a_shared_block_has_its_turn(slow_readers):
    """24 jobs read, add to and step each block once: the turns are 0 to 71, none twice."""
    turns = defaultdict(list)

    for rank in range(3):
        for entry in read_record(slow_readers[0] / f"rank{rank}.jsonl")[1]:
            if entry.op in (Op.READ, Op.ADD, Op.STEP):
                turns[entry.block].append(entry.turn)

    assert {block: sorted(own) for block, own in turns.items()} == {
        block: list(range(72)) for block in range(12)
    }


def test_torn_reads_are_executed_as_they_happened(slow_readers, quadratic):
    run = slow_readers[1]

    executed = execute(run.schedule, quadratic, SGD(0.01), seeds=(0,))

    assert np.array_equal(run.models[0], executed.models[0])


def test_a_slow_reader_pauses_between_blocks(slow_readers):
    """A sleep never ends early, so this holds under any load."""
    for rank in range(3):
        _, entries = read_record(slow_readers[0] / f"rank{rank}.jsonl")
        for before, after in pairwise(entries):
            if before.op is Op.READ and after.op is Op.READ:
                assert after.job == before.job
                assert after.time - before.time >= READ_PAUSE


@pytest.mark.parametrize("pause", [-0.1, float("inf"), float("nan")])
def test_a_read_pause_is_a_number_of_seconds(pause):
    with pytest.raises(ValueError, match=r"Hogwild.read_pause must be a finite number"):
        Hogwild(read_pause=pause)


def test_a_server_knows_the_staleness_that_a_rule_weighs(quadratic):
    rule = StalenessAwareSGD(0.1)
    run = run_live(LiveServer(), quadratic, rule, n_workers=3, jobs=30, seed=1)

    executed = execute(run.schedule, quadratic, rule, seeds=(1,))

    assert np.array_equal(run.models[0], executed.models[0])
    assert run.schedule.staleness().steps.max() > 0


def test_a_rule_that_weighs_unknown_staleness_is_refused(quadratic):
    with pytest.raises(ValueError, match="does not know the staleness"):
        run_live(Hogwild(), quadratic, StalenessAwareSGD(0.1), n_workers=2, jobs=3, seed=1)


def test_error_feedback_and_momentum_run_live(quadratic):
    rule, codec = HeavyBall(0.05, 0.5), ErrorFeedback(TopK(2))
    run = run_live(LiveServer(), quadratic, rule, codec=codec, n_workers=2, jobs=20, seed=1)

    executed = execute(run.schedule, quadratic, rule, codec=codec, seeds=(1,))

    assert np.array_equal(run.models[0], executed.models[0])


@pytest.mark.parametrize(("name", "after"), [("server", 0), ("OSGP", 3), ("pairwise", 3)])
def test_a_worker_that_dies_ends_the_run_with_an_error(quadratic, name, after):
    """At a server one gradient each is certain, the others may do the rest."""
    sabotage = Sabotage(quadratic, "kill", worker=1, after=after)

    with pytest.raises(RanksError, match="was killed by SIGKILL"):
        run_live(PROTOCOLS[name][0], sabotage, SGD(0.1), n_workers=3, jobs=30, seed=1)


def test_what_was_recorded_before_a_death_is_kept(quadratic, tmp_path):
    """Every rank's record, the killed one's included, up to the last operation."""
    sabotage = Sabotage(quadratic, "kill", worker=0, after=4)

    with pytest.raises(RanksError):
        run_live(LiveServer(), sabotage, SGD(0.1), n_workers=1, jobs=30, seed=1, folder=tmp_path)

    (_, server), (_, killed) = (read_record(tmp_path / f"rank{k}.jsonl") for k in range(2))
    assert [entry.op for entry in killed] == [Op.ENCODE] * 4
    assert [entry.job for entry in killed] == [0, 1, 2, 3]
    assert [entry.job for entry in server if entry.op is Op.ADD] == [0, 1, 2, 3]
    assert [entry.job for entry in server if entry.op is Op.READ] == [0, 1, 2, 3, 4]


def test_a_full_disk_is_told(quadratic, tmp_path):
    (tmp_path / "rank1.jsonl").symlink_to("/dev/full")

    with pytest.raises(RanksError, match=r"rank 1: OSError: .*No space left on device"):
        run_live(LiveServer(), quadratic, SGD(0.1), n_workers=2, jobs=5, seed=1, folder=tmp_path)


@pytest.mark.parametrize("protocol", [LivePairwise(), LivePushSum()])
def test_one_worker_cannot_meet_anybody(quadratic, protocol):
    with pytest.raises(ValueError, match="at least 2 workers, got 1"):
        run_live(protocol, quadratic, SGD(0.1), n_workers=1, jobs=1, seed=0)


def test_pauses_name_every_worker(quadratic):
    with pytest.raises(ValueError, match="must name 3 workers, got 1"):
        run_live(LiveServer(), quadratic, SGD(0.1), n_workers=3, jobs=1, seed=0, pauses=(0.1,))
