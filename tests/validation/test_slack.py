"""The slack of a bound, effect by effect, adds up to its margin and lies where theory says."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings

from elastic_consistency.bounds import get
from elastic_consistency.optimization.compression import ErrorFeedback, Scaling
from elastic_consistency.optimization.oracles import Linear, Quadratic
from elastic_consistency.optimization.update_rules import SGD, HeavyBall
from elastic_consistency.validation import Effect
from elastic_consistency.validation.adversaries import (
    late_messages,
    server_schedule,
    straggler_order,
)
from elastic_consistency.validation.slack import slack_by_effect, slack_of
from elastic_consistency.validation.small_study import SmallStudy, judge_exactly
from elastic_consistency.validation.strategies import quadratics, server_schedules, studies

FEW = settings(max_examples=settings().max_examples // 3)
SLOPE = Linear(np.ones(1))
IN_TURN = server_schedule([k % 4 for k in range(200)], n_workers=4)


def _by_effect(study, name, **values):
    return {part.effect: part for part in slack_of(study, get(name), values=values)}


@FEW
@given(study=studies(schedule=server_schedules(), oracle=quadratics(noise=True)))
def test_the_parts_add_up_to_the_margin(study):
    bound = get("nonconvex_single_step")
    verdict = judge_exactly(study, bound)
    assume(verdict.bound_value is not None)

    parts = slack_of(study, bound)

    rounding = 1e-9 * verdict.bound_value
    assert math.fsum(p.slack for p in parts) == pytest.approx(verdict.margin, abs=rounding)
    assert math.fsum(p.used for p in parts) == pytest.approx(verdict.estimate.value)


def test_an_attained_gap_has_no_slack_in_any_effect():
    """Error feedback on n workers in turn: (n - 1) M for the delay and n B_ef for the codec."""
    study = SmallStudy(IN_TURN, SLOPE, SGD(1.0), ErrorFeedback(Scaling(0.25)))

    parts = _by_effect(study, "server_error_feedback_gap")

    assert parts.keys() == {Effect.COMPRESSION, Effect.DELAY}
    assert parts[Effect.DELAY].used == pytest.approx(3)
    assert parts[Effect.COMPRESSION].used == pytest.approx(4 * 0.5 / (1 - 0.5), rel=1e-6)
    assert [part.slack for part in parts.values()] == pytest.approx([0, 0], abs=1e-5)


def test_momentum_is_told_from_delay():
    study = SmallStudy(server_schedule([0] * 300, n_workers=1), SLOPE, HeavyBall(1.0, 0.5))

    parts = _by_effect(study, "heavy_ball_gap")

    assert parts.keys() == {Effect.MOMENTUM}
    assert parts[Effect.MOMENTUM].used == pytest.approx(1)


def test_late_messages_use_all_that_is_set_aside_for_delay():
    study = SmallStudy(late_messages(4, 6, lambda *_: 2), SLOPE, SGD(1.0))

    (part,) = slack_of(study, get("message_passing_gap"), values={"tau": 2})

    assert (part.effect, part.allowed, part.used) == (Effect.DELAY, 1.5, 1.5)


def test_the_slack_of_a_convergence_theorem_is_told_by_effect():
    """Noise alone: sequential SGD far along, E|grad f|^2 = alpha L sigma^2 / (2 - alpha L).

    NC1 sets L alpha sigma^2 aside for it. The straggler's delay and the start are told apart.
    """
    problem = Quadratic(np.array([1.0]), variance=1.0, initial=np.array([0.0]))
    sequential = SmallStudy(server_schedule([0] * 400, n_workers=1), problem, SGD(0.25))
    late = SmallStudy(server_schedule(straggler_order(4, 60), n_workers=4), problem, SGD(0.25))

    noise = _by_effect(sequential, "nonconvex_single_step")[Effect.NOISE]
    assert noise.allowed == pytest.approx(0.25)
    assert noise.used == pytest.approx(0.25 / 1.75, rel=0.02)
    # From the minimiser nothing but noise moves anything: the delay only makes it larger.
    parts = _by_effect(late, "nonconvex_single_step")
    assert Effect.INITIAL_DISTANCE not in parts
    assert parts[Effect.DELAY].used == 0
    assert parts[Effect.NOISE].used > noise.used


def test_what_is_removed_in_turn_is_subtracted_in_turn():
    parts = slack_by_effect((), 10.0, [(Effect.NOISE, 7.0), (Effect.DELAY, 2.0)])

    assert {part.effect: part.used for part in parts} == {
        Effect.NOISE: 3.0,
        Effect.DELAY: 5.0,
        Effect.INITIAL_DISTANCE: 2.0,
    }


def test_a_bound_that_says_nothing_has_no_slack():
    with pytest.raises(ValueError, match=r"heavy_ball_gap says nothing here: .*mu needs a value"):
        slack_of(SmallStudy(IN_TURN, SLOPE, SGD(1.0)), get("heavy_ball_gap"))
