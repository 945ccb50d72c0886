"""Block-coordinate updates and PIAG."""

from math import log, sqrt

import numpy as np

from elastic_consistency.schedule import Op
from elastic_consistency.schedule.influence import compute_influence, largest_gap
from elastic_consistency.simulator import Cluster, Until, simulate
from elastic_consistency.simulator.delays import Constant, Exponential
from elastic_consistency.simulator.protocols import (
    AsynchronousServer,
    BlockCoordinate,
    IncrementalAggregate,
)


def test_blocks_are_chosen_uniformly():
    """Hoeffding, false-alarm rate 1e-6 over all blocks; finds 0.022."""
    blocks, jobs = 4, 16_000
    schedule = simulate(BlockCoordinate((1,) * blocks), Cluster.alike(8, Exponential(1.0)),
                        until=Until(jobs=jobs), seed=1)  # fmt: skip

    for block in range(blocks):
        part = np.mean(schedule.jobs.block == block)
        assert abs(part - 1 / blocks) <= sqrt(log(2 * blocks / 1e-6) / (2 * jobs))


def test_a_block_is_updated_when_the_server_would_update_the_model():
    cluster, until = Cluster.alike(4, Exponential(1.0)), Until(jobs=120)

    blocks = simulate(BlockCoordinate((1, 1)), cluster, until=until, seed=1)

    plain = simulate(AsynchronousServer(), cluster, until=until, seed=1)
    assert np.array_equal(blocks.rows.time, plain.rows.time)
    assert np.array_equal(blocks.rows.op, plain.rows.op)
    assert largest_gap(compute_influence(blocks).started_difference()) <= 3


def test_a_block_sees_only_the_jobs_that_were_about_it():
    schedule = simulate(BlockCoordinate((1, 1)), Cluster.alike(3, Exponential(1.0)),
                        until=Until(jobs=60), seed=1)  # fmt: skip

    views = compute_influence(schedule).views

    for block in range(2):
        assert not views[:, block, schedule.jobs.block != block].any()


def test_piag_equals_a_table_of_latest_gradients(follow):
    """Independent loop: the table of n gradients, one replaced at each arrival."""
    n, step_size = 3, 0.1
    schedule = simulate(IncrementalAggregate(), Cluster.alike(n, Exponential(1.0)),
                        until=Until(jobs=80), seed=4)  # fmt: skip

    replicas, _, _ = follow(schedule, lambda x: x, step_size)

    rows, x, read, table = schedule.rows, 1.0, {}, {}
    for op, job in zip(rows.op, rows.job, strict=True):
        if op == Op.READ:
            read[job] = x
        elif op == Op.ENCODE:
            table[schedule.jobs.worker[job]] = read[job]
            if len(table) == n:
                x -= step_size * sum(table.values()) / n
    assert abs(replicas[0] - x) <= 1e-12


def test_piag_with_one_worker_is_gradient_descent():
    schedule = simulate(IncrementalAggregate(), Cluster.alike(1, Constant(1.0)),
                        until=Until(jobs=10), seed=0)  # fmt: skip

    assert np.array_equal(compute_influence(schedule).views[:, 0], np.tri(10, k=-1))


def test_piag_shares_count_the_steps():
    schedule = simulate(IncrementalAggregate(), Cluster.alike(4, Exponential(1.0)),
                        until=Until(jobs=60), seed=0)  # fmt: skip

    influence = compute_influence(schedule)
    np.testing.assert_allclose(influence.final, influence.shares, atol=1e-12)
    steps = int((schedule.rows.op == Op.STEP).sum())
    assert np.isclose(schedule.jobs.share.sum(), steps)
