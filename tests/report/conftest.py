"""One tiny study and its report, made once."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from elastic_consistency.optimization.oracles import LogisticRegression
from elastic_consistency.report.drawing import Figure
from elastic_consistency.report.page import report_figures, write_report
from elastic_consistency.simulator import Cluster, Worker
from elastic_consistency.simulator.delays import Exponential
from elastic_consistency.simulator.protocols import AllReduce, AsynchronousServer
from elastic_consistency.studies.outcome import StudyOutcome
from elastic_consistency.studies.run_study import run_study
from elastic_consistency.studies.study import Certificate, Contender, Seeds, Study


@pytest.fixture(scope="session")
def reported(tmp_path_factory) -> tuple[StudyOutcome, Path]:
    """The outcome, and the folder of its report; names and data need escaping."""
    rng = np.random.default_rng(3)
    features = rng.normal(size=(20, 4)) / 2
    workers = (Worker(Exponential(0.1), slowdown=8.0), *(Worker(Exponential(0.1)),) * 3)
    study = Study(
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
    folder = tmp_path_factory.mktemp("report")
    outcome = run_study(study, folder, ranks=0)
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
