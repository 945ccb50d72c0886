"""A crash takes what a worker held: residual, momentum and pulls; the others keep theirs."""

import numpy as np
import pytest

from elastic_consistency.execution import execute
from elastic_consistency.optimization.compression import ErrorFeedback, TopK
from elastic_consistency.optimization.oracles import Linear
from elastic_consistency.optimization.update_rules import SGD, WorkerMomentum
from elastic_consistency.schedule import Recorder

SLOPE = np.array([4.0, 3.0])
STEP_SIZE = 0.5


def _two_jobs_each(*, crash: bool):
    """Workers 0 and 1 in turn, two jobs each; worker 0 crashes between its two jobs."""
    record = Recorder(lambda: 0.0, n_workers=2, hosts=(-1,))
    for round in range(2):
        for worker in range(2):
            job = record.job(worker)
            record.read(job, 0)
            record.gradient(job)
            record.begin(job)
            record.encode(job)
            record.add(0, job=job)
            record.step(0)
            record.drop(job=job, share=1.0)
        if crash and round == 0:
            record.crash(0)
            record.annotate("restart", 0)
    schedule = record.finish()
    schedule.check()
    return schedule


@pytest.mark.parametrize(
    ("rule", "codec", "lost"),
    [
        # Sent first (4, 0); then (0, 6) with the residual (0, 3), else (4, 0) once more.
        (SGD(STEP_SIZE), ErrorFeedback(TopK(1)), (-4.0, 6.0)),
        # Sent first g; then g + g / 2 with momentum, else g once more.
        (WorkerMomentum(STEP_SIZE, 0.5), None, tuple(SLOPE / 2)),
    ],
    ids=["residual", "momentum"],
)
def test_the_state_of_the_worker_that_crashes_is_gone(rule, codec, lost):
    run = {
        crash: execute(
            _two_jobs_each(crash=crash), Linear(SLOPE), rule, seeds=(0,), codec=codec
        ).models[0][0]
        for crash in (False, True)
    }

    assert (run[True] - run[False]).tolist() == [STEP_SIZE * part for part in lost]
