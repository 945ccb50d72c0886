"""What a study file can minimise."""

from pathlib import Path

import numpy as np
import pytest

from elastic_consistency.optimization.oracles import (
    GemanMcClure,
    LeastSquares,
    LogisticRegression,
    breast_cancer,
)
from elastic_consistency.studies.files import StudyFileError, load_study
from elastic_consistency.studies.run_study import run_study

STUDY = (Path(__file__).parent / "small.toml").read_text()
BEGIN, END = STUDY.index("[problem]"), STUDY.index("[links.lan]")
DIGITS = 'kind = "logistic_regression"\ndata = "digits"\nbatch = 1\nridge = 1\n'
LIBSVM = "+1 1:0.5 3:1\n-1 2:1\n+1 1:1 2:0.25\n-1 3:2\n"


@pytest.fixture
def study_with(tmp_path):
    """The study whose table `problem` has these lines."""

    def load(lines: str, modules=()):
        path = tmp_path / "study.toml"
        path.write_text(f"{STUDY[:BEGIN]}[problem]\n{lines}\n{STUDY[END:]}")
        return load_study(path, modules=modules)

    return load


def test_logistic_regression_on_data_that_ship(study_with):
    lines = 'kind = "logistic_regression"\ndata = "breast_cancer"\nbatch = 8\nridge = 0.1'

    oracle = study_with(lines).oracle

    features = breast_cancer().features
    lengths = np.linalg.norm(features, axis=1, keepdims=True)
    assert isinstance(oracle, LogisticRegression)
    assert np.allclose(oracle.features, features / lengths)
    assert (oracle.batch, oracle.ridge, oracle.shards) == (8, 0.1, None)


def test_least_squares_on_a_file(study_with, tmp_path):
    (tmp_path / "rows.svm").write_text(LIBSVM)
    lines = 'kind = "least_squares"\nbatch = 1\nridge = 0.5\nunit_length = false\n'

    oracle = study_with(f'{lines}data = "{tmp_path / "rows.svm"}"').oracle

    rows = np.array([[0.5, 0, 1], [0, 1, 0], [1, 0.25, 0], [0, 0, 2]])
    assert isinstance(oracle, LeastSquares)
    assert np.array_equal(oracle.rows, rows)
    expected = np.linalg.solve(rows.T @ rows / 4 + 0.5 * np.eye(3), rows.T @ oracle.responses / 4)
    assert np.allclose(oracle.minimiser(), expected)


@pytest.mark.parametrize(
    ("shards", "sizes"),
    [
        ('{ kind = "by_size", sizes = [500, 69] }', [500, 69]),
        ('{ kind = "iid" }', [285, 284]),
        ('{ kind = "by_label" }', [285, 284]),
    ],
)
def test_data_are_parted_between_the_workers(study_with, shards, sizes):
    lines = 'kind = "logistic_regression"\ndata = "breast_cancer"\nbatch = 8\nridge = 0.1'

    oracle = study_with(f"{lines}\nshards = {shards}").oracle

    assert [len(members) for members in oracle.shards.members] == sizes
    assert oracle.constants().heterogeneity > 0


def test_a_small_concentration_makes_workers_unlike(study_with):
    lines = 'kind = "logistic_regression"\ndata = "digits"\nbatch = 8\nridge = 0.1\n'

    def spread(concentration):
        kind = f'{{ kind = "dirichlet", concentration = {concentration} }}'
        return study_with(f"{lines}shards = {kind}").oracle.constants(1.0).heterogeneity

    assert spread(0.01) > 4 * spread(100.0)


def test_a_loss_that_is_not_convex(study_with):
    lines = 'kind = "geman_mcclure"\nnoise_variance = 0.1\nstart = [0.5, -0.5]'

    oracle = study_with(lines).oracle

    assert isinstance(oracle, GemanMcClure)
    assert (oracle.variance, oracle.start().tolist()) == (0.1, [0.5, -0.5])


def test_a_network_is_run_on_estimated_constants_and_not_certified(study_with, tmp_path):
    lines = (
        'kind = "multilayer_perceptron"\ndata = "breast_cancer"\nhidden = [4]\nbatch = 8\nseed = 1'
    )
    study = study_with(f"{lines}\n[certificate]\ngradients = 9\nreplicates = 2")
    constants = study.oracle.constants()

    outcome = run_study(study, tmp_path, ranks=0)

    assert "smoothness" in constants.estimated
    assert 0 < constants.smoothness < np.inf
    assert outcome.infimum == 0
    assert outcome.certification is None
    assert "minimiser, which is not known" in outcome.uncertified
    start, end = outcome.contenders[0].over_time.mean[[0, -1]]
    assert end < start


def test_an_oracle_from_elsewhere_needs_the_flag(study_with, tmp_path, monkeypatch):
    (tmp_path / "my_oracles_for_a_test.py").write_text(
        "from dataclasses import dataclass\n"
        "from elastic_consistency.optimization.oracles import AbstractOracle, Constants\n"
        "@dataclass(frozen=True)\n"
        "class MyParabola(AbstractOracle):\n"
        "    steepness: float\n"
        "    dimension = 1\n"
        "    draws_per_job = 0\n"
        "    def start(self): import numpy as np; return np.ones(1)\n"
        "    def gradient(self, view, draws, worker): return self.steepness * view\n"
        "    def mean_gradient(self, x): return self.steepness * x\n"
        "    def loss(self, x): return self.steepness * (x[:, 0] ** 2) / 2\n"
        "    def minimiser(self): return 0 * self.start()\n"
        "    def constants(self, radius=float('inf')):\n"
        "        s = self.steepness\n"
        "        return Constants(s, s, 0.0, (s * radius) ** 2, 0.0, radius)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    lines = 'kind = "my_parabola"\nsteepness = 3.0'

    with pytest.raises(StudyFileError, match=r"problem\.kind must be one of"):
        study_with(lines)

    assert study_with(lines, modules=("my_oracles_for_a_test",)).oracle.steepness == 3.0


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ('kind = "logistic_regression"', r"problem\.data must be given"),
        (
            'kind = "least_squares"\ndata = "brest"\nbatch = 1\nridge = 0',
            r"problem\.data must be one of breast_cancer, .*; got 'brest', which does not exist",
        ),
        (
            f'{DIGITS}shards = {{ kind = "by_size", sizes = [1] }}',
            r"problem\.shards\.sizes must name 2 workers, got 1",
        ),
        (
            f'{DIGITS}shards = {{ kind = "iid", concentration = 1.0 }}',
            r"problem\.shards\.concentration must not be given for iid",
        ),
        (
            f'{DIGITS}shards = {{ kind = "dirichlt" }}',
            r"problem\.shards\.kind must be .*, got 'dirichlt'",
        ),
        (
            'kind = "quadratic"\nspectrum = [1.0]\nnoise_variance = 0\nstart = [1.0, 2.0]',
            r"problem is refused: Quadratic\.initial",
        ),
        (
            'kind = "quadratic"\nspectrum = [-1.0]\nnoise_variance = 0\nstart = [1.0]',
            r"problem\.spectrum\[0\] must be greater than or equal to 0, got -1.0",
        ),
        (
            'kind = "geman_mcclure"\nnoise_varance = 1',
            r"problem\.noise_varance is no field.*'noise_variance'",
        ),
        ("batch = 3", r"problem\.kind must be one of .*, got None"),
    ],
)
def test_a_mistake_is_named_with_its_place(study_with, lines, told):
    with pytest.raises(StudyFileError, match=told) as caught:
        study_with(lines)

    assert "\n" not in str(caught.value)
