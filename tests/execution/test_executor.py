"""What the executor holds, refuses and names."""

import numpy as np
import pytest

from elastic_consistency.execution import DivergenceError, Execution, execute
from elastic_consistency.execution.executor import Executor
from elastic_consistency.execution.probes import Loss
from elastic_consistency.execution.quantities import Quantity, Sequence
from elastic_consistency.execution.trace import TraceWriter
from elastic_consistency.optimization.oracles import Linear, Quadratic
from elastic_consistency.optimization.update_rules import SGD
from elastic_consistency.schedule import Recorder


def test_memory_holds_only_what_is_in_flight(server):
    schedule = server(4, 400)
    oracle = Quadratic(np.ones(3), 1.0)
    executor = Executor(schedule.metadata, oracle, SGD(0.1), seeds=(0,), start=oracle.start()[None])
    staleness = iter(schedule.staleness().steps.tolist())
    for rows in schedule.chunks(7):
        executor.execute(rows, staleness)
        assert len(executor._gradients) <= 4
        assert len(executor._updates) <= 4
        assert len(executor._views) <= 1

    assert not executor._gradients
    assert not executor._updates


def test_divergence_stops_the_run_and_keeps_what_was_measured(server):
    oracle = Quadratic(np.array([1.0]), 0.0)
    execution = Execution(server(1, 3000), oracle, SGD(30.0), seeds=(0,), probes=(Loss(),))

    with pytest.raises(
        DivergenceError, match=r"not finite after step \d+ \(last update: job \d+ of worker 0\)"
    ) as caught:
        for _ in execution.chunks(64):
            pass

    # |1 - 30|^k overflows at k = 308 / log10(29) = 211; the executor looks every 16 steps.
    assert 211 <= caught.value.step <= 240
    kept = execution.measurement()["loss"]
    assert kept.count > 100


def test_blocks_that_do_not_fit_the_oracle_are_refused():
    record = Recorder(lambda: 0.0, n_workers=1, hosts=(-1,), block_sizes=(2, 3))

    with pytest.raises(ValueError, match=r"block_sizes must add up .* 4, got 5"):
        execute(record.finish(), Linear(np.ones(4)), SGD(0.1), seeds=(0,))


def test_no_seed_is_refused(server):
    with pytest.raises(ValueError, match="at least one seed"):
        execute(server(1, 1), Linear(np.ones(4)), SGD(0.1), seeds=())


def test_an_unknown_trace_is_named_with_those_that_exist(server):
    measured = execute(server(1, 1), Linear(np.ones(1)), SGD(0.1), seeds=(0,), probes=(Loss(),))

    with pytest.raises(KeyError, match=r"no trace 'gap'.*loss"):
        measured["gap"]


def test_block_by_block_equals_the_whole_model(server):
    """One worker that reads and writes two blocks one after the other is sequential SGD."""
    oracle = Quadratic(np.linspace(0.2, 1.0, 5), 0.3)
    record = Recorder(lambda: 0.0, n_workers=1, hosts=(-1,), block_sizes=(2, 3))
    for _ in range(10):
        job = record.job(0)
        for block in range(2):
            record.read(job, 0, block=block)
        record.gradient(job)
        record.begin(job)
        for block in (1, 0):
            record.encode(job, block=block)
            record.add(0, job=job, block=block)
            record.step(0, block=block)
        record.drop(job=job, share=1.0)
    torn = record.finish()
    torn.check()

    in_blocks = execute(torn, oracle, SGD(0.1), seeds=(0,))
    whole = execute(server(1, 10), oracle, SGD(0.1), seeds=(0,))

    assert np.array_equal(in_blocks.models[0], whole.models[0])


def test_a_view_of_blocks_is_divided_by_the_mass_like_one_of_the_whole_model():
    """Half of the model and of its mass is away: every view of the rest is the whole start."""
    oracle = Quadratic(np.array([1.0, 0.5, 0.25]), initial=np.array([4.0, -2.0, 8.0]))
    record = Recorder(lambda: 0.0, n_workers=2, hosts=(0, 1), block_sizes=(2, 1))
    message = record.message(moves=True)
    record.put(message, replica=0, weight=0.5, keep=0.5)
    job = record.job(0)
    for block in range(2):
        record.read(job, 0, block=block)
    record.gradient(job)
    record.begin(job)
    record.encode(job)
    record.add(0, job=job)
    record.step(0)
    record.drop(job=job, share=0.5)
    record.mix(1, message, keep=1.0)
    record.drop(message=message)
    schedule = record.finish()
    schedule.check()

    start = oracle.start()
    measured = execute(schedule, oracle, SGD(0.25), seeds=(0,))

    expected = start / 2 - 0.25 * oracle.mean_gradient(start[None])[0]
    assert measured.models[0][0].tolist() == (expected / 0.5).tolist()
    assert measured.models[1][0].tolist() == (1.5 * start / 1.5).tolist()


def push_sum_pair(n_rounds):
    """Two workers step, then push half of model and mass to the other."""
    record = Recorder(lambda: 0.0, n_workers=2, hosts=(0, 1))
    for _ in range(n_rounds):
        for worker in range(2):
            job = record.job(worker)
            record.read(job, worker)
            record.gradient(job)
            record.begin(job)
            record.encode(job)
            record.add(worker, job=job)
            record.step(worker)
            record.drop(job=job, share=0.5)
        for worker in range(2):
            message = record.message(moves=True)
            record.put(message, replica=worker, weight=0.5, keep=0.5)
            record.mix(1 - worker, message, keep=1.0)
            record.drop(message=message)
    return record.finish()


def test_push_sum_conserves_mass_and_mean():
    schedule = push_sum_pair(20)
    schedule.check()
    oracle = Linear(np.array([1.0]))
    executor = Executor(schedule.metadata, oracle, SGD(0.1), seeds=(0,), start=np.zeros((1, 1)))
    for rows in schedule.chunks():
        executor.execute(rows, iter(schedule.staleness().steps.tolist()))

    assert executor.total_mass() == pytest.approx(2.0, abs=1e-14)
    # 40 unit gradients, each with share 1/2, at step .1
    assert float(executor.mean_model()[0, 0]) == pytest.approx(-0.1 * 40 / 2, rel=1e-12)
    assert float(executor.model(0)[0, 0]) != float(executor.model(1)[0, 0])


def test_a_trace_keeps_evenly_spread_points_and_exact_totals():
    writer = TraceWriter("x", Quantity.GAP, Sequence.STARTED, keep=8)
    for k in range(1000):
        writer.add(float(k), k, [float(k), 0.0])
    trace = writer.finish()

    steps = np.diff(trace.position)
    assert len(trace.position) < 16
    assert (steps == steps[0]).all()
    assert trace.mean.tolist() == [499.5, 0.0]
    assert trace.last.tolist() == [999.0, 0.0]
    assert trace.peak == pytest.approx(999 / np.sqrt(2))
    assert trace.count == 1000
