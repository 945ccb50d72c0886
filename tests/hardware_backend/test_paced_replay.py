"""A paced replay holds every row until its time and changes no number."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from recorded_schedules import all_reduce, asynchronous_server

from elastic_consistency.execution import execute
from elastic_consistency.hardware_backend import pacer, parity, replay
from elastic_consistency.hardware_backend.order import Part
from elastic_consistency.hardware_backend.pacer import Pacer
from elastic_consistency.hardware_backend.processes.rank_process import Progress
from elastic_consistency.optimization.update_rules import SGD
from elastic_consistency.schedule import Op


@pytest.mark.parametrize("schedule", [asynchronous_server(3, 8), all_reduce(3, 6)])
def test_no_row_runs_before_its_time(quadratic, schedule):
    expected = execute(schedule, quadratic, SGD(0.1), seeds=(0,))

    replayed = replay(schedule, quadratic, SGD(0.1), seeds=(0,), ranks=2, pace=0.02)

    assert replayed.lateness.shape == schedule.rows.time.shape
    assert np.all(replayed.lateness >= 0)
    assert parity(replayed, expected) <= 1e-15


def test_a_long_pause_gives_signs_of_life(monkeypatch):
    """100 s of scheduled silence on a clock of its own: no nap is longer than a fifth second."""
    now, naps = [0.0], []

    def sleep(seconds):
        naps.append((seconds, progress.state()))
        now[0] += seconds

    monkeypatch.setattr(pacer, "time", SimpleNamespace(monotonic=lambda: now[0], sleep=sleep))
    progress = Progress()
    paced = Pacer(np.array([0.0, 50.0]), 2.0, progress)

    paced.await_row(1, due=True)

    assert sum(seconds for seconds, _ in naps) == pytest.approx(100.0)
    assert max(seconds for seconds, _ in naps) <= 0.2
    assert len({state for _, state in naps}) == len(naps)  # the parent sees each nap
    assert all(waiting for _, (_, waiting, _) in naps)
    assert paced.lateness[1] == pytest.approx(0.0, abs=1e-9)


def test_a_row_that_waits_for_a_late_message_is_late_itself(quadratic):
    """All rows at time 0, but the gradient of worker 0 takes 0.3 s.

    It begins after the server has read the model, hence after the server's clock has started.
    """
    from faulty_tasks import Sabotage

    schedule = asynchronous_server(2, 2)
    rows = replace(schedule.rows, time=np.zeros(len(schedule.rows)))
    slow = Sabotage(quadratic, "nap", worker=0, after=0)

    replayed = replay(replace(schedule, rows=rows), slow, SGD(0.1), seeds=(0,), ranks=2, pace=1.0)

    first_add = np.flatnonzero(schedule.rows.op == Op.ADD)[0]
    assert replayed.lateness[first_add] >= 0.3


def test_a_row_of_two_ranks_is_as_late_as_on_the_later_one(quadratic, monkeypatch):
    """A rank that did not run a row says nothing of it."""
    models = ({0: np.zeros((1, 12))}, {})
    told = (np.array([0.1, 0.4, np.nan, np.nan]), np.array([0.3, 0.2, 0.5, np.nan]))
    parts = [Part(own, {}, lateness) for own, lateness in zip(models, told, strict=True)]
    monkeypatch.setitem(replay.__globals__, "run_ranks", lambda *_words, **_options: parts)

    replayed = replay(asynchronous_server(1, 1), quadratic, SGD(0.1), seeds=(0,), pace=1.0)

    expected = [0.3, 0.4, 0.5, np.nan]
    assert np.array_equal(replayed.lateness, expected, equal_nan=True)


def test_without_a_pace_no_lateness_is_told(quadratic):
    replayed = replay(asynchronous_server(2, 2), quadratic, SGD(0.1), seeds=(0,))

    assert np.isnan(replayed.lateness).all()


@pytest.mark.parametrize("pace", [-1.0, float("inf"), float("nan")])
def test_time_must_not_run_backwards(quadratic, pace):
    with pytest.raises(ValueError, match="pace must be"):
        replay(asynchronous_server(2, 2), quadratic, SGD(0.1), seeds=(0,), pace=pace)
