"""One tiny study and its report, made once."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from elastic_consistency.optimization.oracles import LogisticRegression
from elastic_consistency.report.advice_page import advice_page
from elastic_consistency.report.drawing import Figure
from elastic_consistency.report.page import report_figures, write_report
from elastic_consistency.report.schedule_page import figures_of, schedule_page
from elastic_consistency.simulator import Cluster, Worker
from elastic_consistency.simulator.delays import Exponential
from elastic_consistency.simulator.protocols import AllReduce, AsynchronousServer
from elastic_consistency.studies.advice.ranking import advise
from elastic_consistency.studies.comparison.runs import schedule_of
from elastic_consistency.studies.outcome import StudyOutcome
from elastic_consistency.studies.progress import Progress
from elastic_consistency.studies.run_study import run_study
from elastic_consistency.studies.study import Certificate, Contender, Seeds, Study


@pytest.fixture(scope="session")
def small_study() -> Study:
    """A study of a second; names and data need escaping."""
    rng = np.random.default_rng(3)
    features = rng.normal(size=(20, 4)) / 2
    workers = (Worker(Exponential(0.1), slowdown=8.0), *(Worker(Exponential(0.1)),) * 3)
    return Study(
        name="a <b>bold</b> study",
        cluster=Cluster(workers),
        oracle=LogisticRegression(features, rng.integers(0, 2, 20), 2, batch=2, ridge=0.1),
        contenders=(
            Contender("R&D <async>", AsynchronousServer(), 120),
            Contender("synchronous", AllReduce(), 120),
        ),
        data='twenty "points"',
        target=0.3,
        step_shares=(1 / 2, 1 / 8),
        seeds=Seeds(timing=(0, 1), tuning=(10,), replicates=2),
        certificate=Certificate(jobs=50, replicates=8),
    )


@pytest.fixture(scope="session")
def reported(small_study, tmp_path_factory) -> tuple[StudyOutcome, Path]:
    """The outcome, and the folder of its report."""
    folder = tmp_path_factory.mktemp("report")
    outcome = run_study(small_study, folder, ranks=0)
    return write_report(outcome, folder), folder


@pytest.fixture(scope="session")
def page(reported) -> str:
    """The page as text."""
    return (reported[1] / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def without_certificate(reported) -> StudyOutcome:
    """The same outcome of a study that no bound speaks about."""
    return replace(reported[0], certification=None, uncertified="no theorem fits")


@pytest.fixture(scope="session")
def figures(reported) -> tuple[Figure, ...]:
    """Every figure of the report, drawn once more."""
    return report_figures(reported[0])


@pytest.fixture(scope="session")
def advice_html(small_study, tmp_path_factory) -> Path:
    """The page of advice on the same study."""
    path = tmp_path_factory.mktemp("advice") / "advice.html"
    path.write_text(advice_page(advise(small_study, Progress()), small_study), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def schedule_html(small_study, tmp_path_factory) -> Path:
    """The page of one schedule."""
    path = tmp_path_factory.mktemp("schedule") / "schedule.html"
    schedule = schedule_of(small_study, small_study.contenders[0], 0)
    path.write_text(schedule_page(figures_of(schedule, "one <schedule>")), encoding="utf-8")
    return path
