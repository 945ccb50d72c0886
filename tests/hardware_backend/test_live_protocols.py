"""Recorded rows show each live protocol do what its paper says, with whom and at which weight."""

from collections import defaultdict

import numpy as np
import pytest

from elastic_consistency.hardware_backend.live import (
    LiveAllReduce,
    LivePairwise,
    LivePushSum,
    run_live,
)
from elastic_consistency.optimization.update_rules import SGD
from elastic_consistency.random_streams import Cause, JobUniforms
from elastic_consistency.schedule import Op

N, JOBS, STEP, SEED = 4, 8, 0.1, 5
HOPS = (1, 2)  # 2^0 and 2^1, for ceil(log2 4) = 2


def _rows(protocol, oracle):
    """What four workers did, the last of them ten times slower than the others."""
    pauses = (0.002, 0.002, 0.002, 0.02)
    run = run_live(protocol, oracle, SGD(STEP), n_workers=N, jobs=JOBS, seed=SEED, pauses=pauses)
    table = run.schedule.rows
    columns = (table.op, table.message, table.replica, table.weight, table.keep)
    return run, list(zip(*(column.tolist() for column in columns), strict=True))


def test_an_all_reduce_is_minibatch_descent_written_out(quadratic):
    """x <- x - step * mean of the gradients; job 4 k + w is that of worker w in round k."""
    draws = JobUniforms((SEED,), Cause.SAMPLE, -1, quadratic.draws_per_job)
    x = quadratic.start()[None]
    for k in range(JOBS):
        x = x - STEP * np.mean([quadratic.gradient(x, draws(N * k + w), w) for w in range(N)], 0)

    run, _ = _rows(LiveAllReduce(), quadratic)

    assert run.schedule.jobs.round.tolist() == np.repeat(np.arange(JOBS), N).tolist()
    for model in run.models:
        assert np.allclose(model, x, rtol=1e-12, atol=0)


def test_two_that_meet_both_take_the_mean(quadratic):
    """Every gradient of an even worker has one meeting, with an odd one, before it is applied."""
    run, rows = _rows(LivePairwise(), quadratic)
    mixes = [row for row in rows if row[0] == Op.MIX]
    sender = {message: replica for op, message, replica, *_ in rows if op == Op.PUT}
    meetings = [{replica, sender[message]} for _, message, replica, *_ in mixes]

    assert {(weight, keep) for *_, weight, keep in mixes} == {(0.5, 0.5)}
    assert len(mixes) == 2 * 2 * JOBS
    assert all(len(pair) == 2 and sum(pair) % 2 == 1 for pair in meetings)
    for even in (0, 2):
        own = [op for op, _, replica, *_ in rows if replica == even]
        assert own == [Op.READ, Op.PUT, Op.MIX, Op.ADD, Op.STEP] * JOBS
    shares = run.schedule.jobs.share
    assert np.allclose(shares, 1 / N, rtol=1e-15, atol=0)


@pytest.mark.parametrize("overlap", [0, 2])
def test_push_sum_halves_and_sends_to_the_peer_of_its_step(quadratic, overlap):
    """Reference: at step k worker w keeps a half and w + 2^(k mod 2) gets the other, undivided."""
    _, rows = _rows(LivePushSum(overlap), quadratic)
    sent = _sent(rows)

    assert {(w, k) for w, k in sent.values()} == {(w, k) for w in range(N) for k in range(JOBS)}
    for op, message, replica, weight, keep in rows:
        if op == Op.PUT:
            assert (weight, keep) == (0.5, 0.5)
        elif op == Op.MIX:
            worker, step = sent[message]
            assert replica == (worker + HOPS[step % 2]) % N
            assert (weight, keep) == (1.0, 1.0)


@pytest.mark.parametrize("overlap", [0, 2])
def test_push_sum_waits_for_what_was_sent_before_its_overlap(quadratic, overlap):
    """Nobody reads for step k before it has all that was sent to it at step k - 1 - overlap."""
    _, rows = _rows(LivePushSum(overlap), quadratic)
    sent, step, taken = _sent(rows), [0] * N, defaultdict(set)

    for op, message, replica, *_ in rows:
        if op == Op.MIX:
            taken[replica].add(sent[message])
        elif op == Op.READ:
            due = range(step[replica] - overlap)
            expected = {((replica - HOPS[k % 2]) % N, k) for k in due}
            assert expected <= taken[replica]
            step[replica] += 1


def _sent(rows) -> dict[int, tuple[int, int]]:
    """Worker and step that each message was pushed by."""
    pushed, sent = [0] * N, {}
    for op, message, replica, *_ in rows:
        if op == Op.PUT:
            sent[message] = replica, pushed[replica]
            pushed[replica] += 1
    return sent
