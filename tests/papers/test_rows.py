"""The rows that are exact or cheap: their figures are those of theory, their verdicts known."""

import math

import numpy as np
import pytest

from elastic_consistency.validation.papers.catalogue import CLAIMS, find
from elastic_consistency.validation.papers.claim import Effort
from elastic_consistency.validation.papers.finding import PaperVerdict

REPRODUCED, IN_SHAPE = PaperVerdict.REPRODUCED, PaperVerdict.IN_SHAPE
REFUTED, HARDWARE = PaperVerdict.NOT_REPRODUCED, PaperVerdict.NEEDS_HARDWARE


def _find(name):
    claim = find(name)
    finding = claim.experiment(Effort(), claim.value)
    figures = {measured.name: measured.estimate.value for measured in finding.measured}
    return finding.verdict, figures


@pytest.mark.parametrize(
    ("name", "worst", "stated"),
    [
        ("constant-shared-memory", 7, math.sqrt(2) * 7),
        ("constant-server", 30, 30),
        ("constant-message-passing", 4.375, 4.375),
        ("constant-crash", 0.375, 0.375),
        ("constant-crash-substitution", math.sqrt(20) / 8, 1.5),
        ("constant-elastic-variance", math.sqrt(7 / 8), 3.0),
        ("constant-elastic-norm-beta", 0.6 * 7 / 8, 0.6 * 7 / 8),
        ("constant-error-feedback", 18.4868, math.sqrt(1.1 * 0.9 / 0.1**3)),
    ],
)
def test_a_system_stays_within_the_stated_constant(name, worst, stated):
    verdict, figures = _find(name)

    assert verdict is REPRODUCED
    assert figures["worst B found"] == pytest.approx(worst, rel=1e-5)
    assert figures["stated B"] == pytest.approx(stated, rel=1e-9)


@pytest.mark.parametrize("name", ["constant-top-k", "constant-one-bit"])
def test_searched_worst_cases_stay_below_the_sharp_constants(name):
    verdict, figures = _find(name)

    assert verdict is REPRODUCED
    assert figures["worst B found"] < figures["sharp B, derived here"] < figures["stated B"]


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("error-feedback-curve", REPRODUCED),
        ("error-feedback-attained", REPRODUCED),
        ("top-k-residual", REPRODUCED),
        ("top-k-condition", REPRODUCED),
        ("bounded-delay-rate", IN_SHAPE),
        ("staleness-mean", REPRODUCED),
        ("sampled-clients", REPRODUCED),
        ("training-hours", REPRODUCED),
        ("latency", IN_SHAPE),
        ("gem-oscillation", REPRODUCED),
        ("resnet-accuracy", HARDWARE),
        ("gem-alexnet", HARDWARE),
    ],
)
def test_a_cheap_row_has_its_verdict(name, verdict):
    assert _find(name)[0] is verdict


def test_dynsgd_weighs_by_ln_n_over_n_minus_1_and_not_as_stated():
    verdict, figures = _find("dynsgd-weight")

    assert verdict is REFUTED
    assert figures["mean weight"] == pytest.approx(math.log(8) / 7, rel=0.01)


def test_waiting_for_clients_takes_15_and_42_57_seconds():
    _, figures = _find("sampled-clients")

    assert figures["free, s"] == pytest.approx(15)
    assert figures["barrier, s"] == pytest.approx(60 - 50 * 0.9**10, rel=1e-4)


def test_energy_matching_moves_at_n_over_n_plus_1():
    _, figures = _find("gem-oscillation")

    expected = [n / (n + 1) for n in (1, 2, 5, 10)]
    assert list(figures.values()) == pytest.approx(expected, rel=1e-3)


def test_time_complexity_is_met_whatever_the_speeds():
    verdict, figures = _find("rennala-time")

    assert verdict is IN_SHAPE
    assert all(0.25 <= ratio <= 4 for ratio in figures.values())


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_every_row_has_a_verdict(claim):
    finding = claim.experiment(Effort(), claim.value)

    assert finding.verdict in PaperVerdict
    assert finding.scale
    assert finding.features or finding.verdict is HARDWARE


def test_there_are_at_least_25_rows_and_their_names_differ():
    names = [claim.name for claim in CLAIMS]

    assert len(names) >= 25
    assert len(set(names)) == len(names)
    assert np.all([claim.value.place and claim.value.text for claim in CLAIMS])
