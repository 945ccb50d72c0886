"""Verdicts on the contraction of codecs: attained by the worst vectors, on runs, and with draws."""

from dataclasses import dataclass, replace
from typing import final

import numpy as np
import pytest
from hypothesis import assume, given

from elastic_consistency.bounds import get
from elastic_consistency.execution.quantities import Quantity
from elastic_consistency.optimization.compression import (
    QSGD,
    AbstractCodec,
    ErrorFeedback,
    RandomK,
    ScaledSign,
    Scaling,
    TopK,
)
from elastic_consistency.optimization.oracles import Linear, Quadratic
from elastic_consistency.optimization.update_rules import SGD
from elastic_consistency.validation import Method, Outcome, judge
from elastic_consistency.validation.adversaries import server_schedule, torn_updates
from elastic_consistency.validation.contraction import is_deterministic, measured_contraction
from elastic_consistency.validation.small_study import SmallStudy
from elastic_consistency.validation.strategies import (
    assert_bound_holds,
    codecs,
    server_schedules,
    studies,
)

GAMMA = get("codec_contraction")
WORST = {
    "TopK": (TopK(2), np.ones(6)),
    "one bit": (ScaledSign(), np.eye(6)[2]),
    "scaling": (Scaling(0.5), np.arange(6.0)),
}


def _judged(codec, vectors, *, error_rate=1e-6, **options):
    figure = measured_contraction(codec, vectors, confidence=1 - error_rate, **options)
    stated = {"gamma": codec.contraction(vectors.shape[1])}
    return judge(figure, GAMMA, stated, error_rate=error_rate)


@pytest.mark.parametrize("name", WORST)
def test_the_worst_vector_attains_what_a_codec_states(name):
    codec, vector = WORST[name]

    verdict = _judged(codec, vector[None])

    assert verdict.outcome is Outcome.CONSISTENT
    assert verdict.tightness == pytest.approx(1)
    assert verdict.margin == pytest.approx(0, abs=1e-12)
    assert [term.effect.value for term in verdict.terms] == ["compression"]


@pytest.mark.parametrize("codec", [RandomK(2), RandomK(2, unbiased=True), QSGD(2)])
def test_a_codec_that_draws_is_judged_by_an_interval(codec):
    """E of the ratio is gamma for RandomK at any vector; for QSGD it stays below.

    False alarms: 1e-6 by the method; the mean of 2,000 ratios errs by less than 2 % of itself.
    """
    vectors = np.random.default_rng(0).normal(size=(3, 6))

    verdict = _judged(codec, vectors, replicates=2000, largest=20.0)

    assert verdict.estimate.method is Method.EMPIRICAL_BERNSTEIN
    assert verdict.outcome is not Outcome.VIOLATED
    assert verdict.estimate.value == pytest.approx(verdict.bound_value, rel=0.15) or isinstance(
        codec, QSGD
    )


@pytest.mark.parametrize(("codec", "stated"), [(TopK(2), 0.6), (RandomK(2), 0.5)])
def test_a_codec_that_states_too_little_is_violated(codec, stated):
    """Both leave 2/3 of a flat vector, RandomK in expectation."""
    figure = measured_contraction(codec, np.ones((1, 6)), replicates=4000)

    assert judge(figure, GAMMA, {"gamma": stated}, error_rate=0.01).outcome is Outcome.VIOLATED


@given(study=studies(schedule=server_schedules(), codec=codecs()))
def test_no_run_leaves_out_more_than_its_codec_states(study):
    assume(study.codec.contraction(study.oracle.dimension) > 0)

    assert_bound_holds(GAMMA, study)


@final
@dataclass(frozen=True, slots=True)
class Greedy(AbstractCodec):
    """Keeps one coordinate and says that it keeps two."""

    @property
    def linear(self):
        return False

    def encode(self, state, vector, draws):
        return TopK(1).encode(state, vector, draws)

    def contraction(self, d):
        return TopK(2).contraction(d)

    def wire_bytes(self, d, itemsize):
        return TopK(1).wire_bytes(d, itemsize)


@pytest.mark.parametrize("feedback", [True, False])
def test_a_run_finds_a_codec_that_states_too_little(feedback):
    codec = ErrorFeedback(Greedy()) if feedback else Greedy()
    problem = Quadratic(np.array([1.0, 1.0, 1.0]))
    study = SmallStudy(server_schedule([0] * 6, n_workers=1), problem, SGD(0.25), codec)

    with pytest.raises(AssertionError, match=r"contraction measured .* beyond the bound"):
        assert_bound_holds(GAMMA, study)


def test_what_is_held_back_counts_with_error_feedback():
    """Constant gradient (1, .9): TopK(1) sends 1, then 1.8 of (1, 1.8), whose share is 1/4.24."""
    slope, feedback = Linear(np.array([1.0, 0.9])), ErrorFeedback(TopK(1))
    study = SmallStudy(server_schedule([0], n_workers=1), slope, SGD(0.25), feedback)

    first, second = 0.81 / 1.81, 1 / (1 + 1.8**2)
    assert study.measure(GAMMA).value == pytest.approx(max(first, second))
    plain = replace(study, codec=TopK(1))
    assert plain.measure(GAMMA).value == pytest.approx(first)
    assert plain.measure(GAMMA).quantity is Quantity.CONTRACTION


def test_what_cannot_be_measured_is_refused():
    problem = Quadratic(np.ones(2))
    blocks = SmallStudy(torn_updates(2), problem, SGD(0.25), ErrorFeedback(TopK(1)))

    with pytest.raises(ValueError, match="must encode whole gradients"):
        blocks.measure(GAMMA)
    with pytest.raises(ValueError, match=r"SmallStudy\.codec must be deterministic"):
        SmallStudy(server_schedule([], n_workers=1), problem, SGD(0.25), QSGD(2))


@pytest.mark.parametrize(
    ("codec", "draws"), [(TopK(1), False), (ErrorFeedback(ScaledSign()), False), (QSGD(2), True)]
)
def test_codecs_that_draw_are_told_from_those_that_do_not(codec, draws):
    assert is_deterministic(codec, 3) is not draws
