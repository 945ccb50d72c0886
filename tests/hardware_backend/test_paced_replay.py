"""A paced replay holds every row until its time and changes no number."""

from dataclasses import replace

import numpy as np
import pytest
from recorded_schedules import all_reduce, asynchronous_server

from elastic_consistency.execution import execute
from elastic_consistency.hardware_backend import parity, replay
from elastic_consistency.optimization.update_rules import SGD
from elastic_consistency.schedule import Op


@pytest.mark.parametrize("schedule", [asynchronous_server(3, 8), all_reduce(3, 6)])
def test_no_row_runs_before_its_time(quadratic, schedule):
    expected = execute(schedule, quadratic, SGD(0.1), seeds=(0,))

    replayed = replay(schedule, quadratic, SGD(0.1), seeds=(0,), ranks=2, pace=0.02)

    assert replayed.lateness.shape == schedule.rows.time.shape
    assert np.all(replayed.lateness >= 0)
    assert parity(replayed, expected) <= 1e-15


def test_a_pause_longer_than_the_timeout_is_no_hang(quadratic):
    """4.5 s of scheduled silence, with 3 s of patience."""
    schedule = asynchronous_server(2, 1)

    replayed = replay(schedule, quadratic, SGD(0.1), seeds=(0,), ranks=2, pace=4.5, timeout=3.0)

    assert np.all(replayed.lateness >= 0)


def test_a_row_that_waits_for_a_late_message_is_late_itself(quadratic):
    """All rows at time 0, but the gradient of worker 0 takes 0.3 s."""
    from faulty_tasks import Sabotage

    schedule = asynchronous_server(2, 2)
    rows = replace(schedule.rows, time=np.zeros(len(schedule.rows)))
    slow = Sabotage(quadratic, "nap", worker=0, after=0)

    replayed = replay(replace(schedule, rows=rows), slow, SGD(0.1), seeds=(0,), ranks=2, pace=1.0)

    first_add = np.flatnonzero(schedule.rows.op == Op.ADD)[0]
    assert replayed.lateness[first_add] >= 0.3


def test_without_a_pace_no_lateness_is_told(quadratic):
    replayed = replay(asynchronous_server(2, 2), quadratic, SGD(0.1), seeds=(0,))

    assert np.isnan(replayed.lateness).all()


@pytest.mark.parametrize("pace", [-1.0, float("inf"), float("nan")])
def test_time_must_not_run_backwards(quadratic, pace):
    with pytest.raises(ValueError, match="pace must be"):
        replay(asynchronous_server(2, 2), quadratic, SGD(0.1), seeds=(0,), pace=pace)
