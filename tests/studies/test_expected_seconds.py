"""How long a study takes is the cost of one run times the number of runs."""

from dataclasses import replace

import pytest

from elastic_consistency.simulator.protocols import LocalSgd
from elastic_consistency.studies import expected_seconds as module
from elastic_consistency.studies.expected_seconds import (
    Cost,
    cost_of,
    seconds_of_advice,
    seconds_of_comparison,
    seconds_of_simulation,
    seconds_of_study,
)


@pytest.fixture
def _known_costs(monkeypatch):
    """A schedule costs 10 s and its execution 1 s."""
    monkeypatch.setattr(module, "cost_of", lambda *_: Cost(10.0, 1.0))


@pytest.mark.usefixtures("_known_costs")
def test_every_run_of_a_study_is_counted(study):
    """Two contenders, 3 + 1 schedules, 3 + 1 x 2 executions each; 5 causes on 3 schedules.

    The judged run has 16 x 60 gradients, an execution 3 x 160.
    """
    compared = 2 * (4 * 10 + 5 * 1)

    assert seconds_of_comparison(study) == compared
    assert seconds_of_advice(study) == compared + 5 * 3 * 10
    assert seconds_of_study(study) == pytest.approx(compared + 150 + 960 / 480)
    assert seconds_of_study(replace(study, certificate=None)) == compared + 150


def test_work_on_a_schedule_is_scaled_to_the_whole(study, monkeypatch):
    """12 of 160 gradients, as below; what is done with the schedule is part of it."""
    jobs = []
    monkeypatch.setattr(module, "_seconds_of", lambda work: work() or 3.0)

    seconds = seconds_of_simulation(
        study, study.contenders[0], lambda schedule: jobs.append(len(schedule.jobs))
    )

    assert seconds == pytest.approx(3 * 160 / 12)
    assert jobs == [12, 12]


def test_a_pilot_is_scaled_to_the_whole(study, monkeypatch):
    """A pilot has three gradients a worker at least: 12 of 160."""
    jobs = []

    def timed(work):
        jobs.append(work())
        return 3.0

    monkeypatch.setattr(module, "_seconds_of", timed)

    cost = cost_of(study, study.contenders[0])

    assert cost == Cost(pytest.approx(3 * 160 / 12), pytest.approx(3 * 160 / 12))
    schedule, run = jobs
    assert len(schedule.jobs) == 12
    assert run.loss.shape[1] == study.seeds.replicates


def test_a_pilot_keeps_nothing(study, tmp_path):
    from elastic_consistency.studies.on_disk.finished_work import FinishedWork

    kept = replace(study, finished=FinishedWork(tmp_path / "parts"))

    assert seconds_of_comparison(kept) > 0
    assert kept.finished.count() == 0


def test_a_pilot_that_is_shorter_than_a_round_is_the_whole(study):
    """Twenty local steps of four workers are eighty gradients; a pilot would have twelve."""
    contender = replace(study.contenders[0], protocol=LocalSgd(20), jobs=160)

    cost = module.cost_of(study, contender)

    assert cost.executing > 0
