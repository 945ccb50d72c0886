"""The norm-bounded scheduler in lock-step: its test, its bound, its two ends, its record."""

from math import sqrt

import numpy as np
import pytest

from elastic_consistency.optimization.update_rules import SGD, HeavyBall
from elastic_consistency.schedule import Op
from elastic_consistency.schedule.influence import compute_influence, largest_gap
from elastic_consistency.simulator import (
    Cluster,
    Layer,
    LayerProfile,
    Link,
    Payload,
    Until,
    Worker,
    simulate,
)
from elastic_consistency.simulator.delays import Constant, Exponential
from elastic_consistency.simulator.lock_step import lock_step
from elastic_consistency.simulator.protocols import Layerwise, NormBounded, Scheduler

SIZES = (4, 40, 16)
PROFILE = LayerProfile(
    tuple(Layer(name, size, 1.0, 1.0) for name, size in zip("abc", SIZES, strict=True))
)
P = 4
CLUSTER = Cluster((Worker(Exponential(1.0)),) * P, fabric=Link(0.05, bandwidth_bytes_per_s=150.0))
PARTS = ((0, 4, 1.0), (4, 44, 0.3), (44, 60, 0.6))  # columns of each layer, and its noise


class NoisyBowl:
    """f = |x|^2 / 2 with noise that is larger in the first layers; it keeps its gradients."""

    draws_per_job = 60

    def __init__(self, scale=1.0):
        self.gradients, self.scale = [], scale

    def gradient(self, view, draws, worker):
        noise = np.sqrt(12) * (draws - 0.5)
        for low, high, size in PARTS:
            noise[:, low:high] *= self.scale * size
        self.gradients.append((view + noise)[0])
        return view + noise


def _run(threshold, oracle=None, steps=12, seed=3):
    return lock_step(
        NormBounded(PROFILE, threshold), CLUSTER, oracle or NoisyBowl(), SGD(0.05),
        start=np.zeros((1, 60)), until=Until(jobs=steps * P), seed=seed,
        payload=Payload(0.0, 240.0),
    )  # fmt: skip


def _stand_ins(schedule):
    rows = schedule.rows
    return int(((rows.op == Op.ADD) & (rows.job >= 0) & (rows.weight > 0)).sum())


@pytest.mark.parametrize("threshold", [0.3, 0.7, 0.8])
def test_a_schedule_is_valid_and_its_gap_is_within_the_bound(threshold):
    """sqrt(1 - beta^2) M (p - 1) / p at every view, M the largest norm that occurred."""
    oracle = NoisyBowl()

    schedule = _run(threshold, oracle)

    schedule.check()
    NormBounded(PROFILE, threshold).restate(schedule)
    order = schedule.rows.job[schedule.rows.op == Op.GRADIENT]
    gradients = np.zeros((len(order), 60))
    # After the last question nobody executes any more; those gradients are in no view.
    gradients[order[: len(oracle.gradients)]] = oracle.gradients
    difference = compute_influence(schedule).aggregate_difference()
    gaps = np.zeros(len(order))
    for block, (low, high, _) in enumerate(PARTS):
        gaps += np.sum((difference[:, block] @ gradients[:, low:high]) ** 2, axis=1)
    norm = np.sqrt((gradients**2).sum(axis=1).max())
    assert _stand_ins(schedule) > 0
    assert 0 < sqrt(gaps.max()) <= sqrt(1 - threshold**2) * norm * (P - 1) / P


def test_asking_for_everything_is_the_cross_barrier_scheduler():
    asked = _run(1.0)

    crossing = simulate(Layerwise(PROFILE, Scheduler.CROSS_BARRIER), CLUSTER,
                        until=Until(jobs=12 * P), seed=3, payload=Payload(0.0, 240.0))  # fmt: skip
    assert np.array_equal(asked.rows.time, crossing.rows.time)
    assert np.array_equal(asked.rows.op, crossing.rows.op)
    assert largest_gap(compute_influence(asked).aggregate_difference()) <= 1e-12


def test_the_less_is_asked_the_sooner_it_ends():
    ends = [_run(threshold).rows.time[-1] for threshold in (1.0, 0.7, 0.2)]

    assert ends[0] > ends[1] >= ends[2]


def test_every_answer_is_recorded_and_is_the_norm_share():
    oracle = NoisyBowl()

    schedule = _run(0.7, oracle, steps=5)

    order = schedule.rows.job[schedule.rows.op == Op.GRADIENT]
    gradients = dict(zip(order.tolist(), oracle.gradients, strict=False))
    assert len(schedule.metadata.decisions) > 0
    for decision in schedule.metadata.decisions:
        assert decision.question == "least norm share"
        jobs = decision.operands[1 : 1 + decision.operands[0]]
        columns = np.concatenate(
            [np.arange(*PARTS[b][:2]) for b in decision.operands[1 + len(jobs) :]]
        )
        shares = [
            np.linalg.norm(gradients[j][columns]) / np.linalg.norm(gradients[j]) for j in jobs
        ]
        assert decision.answer == pytest.approx(min(shares), rel=1e-12)


@pytest.mark.parametrize("scale", [2.0**-20, 2.0**20])
def test_the_unit_of_the_loss_decides_nothing(scale):
    """Start and noise, and so all gradients, scaled by a power of two: the same answers."""
    assert _run(0.7, NoisyBowl(scale), steps=5).digest() == _run(0.7, steps=5).digest()


def test_a_gradient_of_zero_is_never_waited_for():
    schedule = _run(0.7, NoisyBowl(0.0), steps=5)

    assert {decision.answer for decision in schedule.metadata.decisions} == {1.0}


def test_the_same_seed_gives_the_same_decisions():
    assert _run(0.7).digest() == _run(0.7).digest() != _run(0.7, seed=4).digest()


def test_it_cannot_be_run_without_values():
    with pytest.raises(TypeError, match=r"'least norm share' depends on values: .* lock_step"):
        simulate(NormBounded(PROFILE, 0.5), CLUSTER, until=Until(jobs=40), seed=0,
                 payload=Payload(0.0, 240.0))  # fmt: skip


def test_lock_step_says_what_it_refuses():
    def attempt(rule, start):
        return lock_step(NormBounded(PROFILE, 0.5), Cluster.alike(2, Constant(1.0)), NoisyBowl(),
                         rule, start=start, until=Until(jobs=4), seed=0)  # fmt: skip

    with pytest.raises(ValueError, match="one replicate, got 2"):
        attempt(SGD(0.1), np.zeros((2, 60)))
    with pytest.raises(ValueError, match="additive rule without scaling, got HeavyBall"):
        attempt(HeavyBall(0.1, 0.9), np.zeros((1, 60)))
    with pytest.raises(ValueError, match=r"NormBounded.threshold must be a number in \(0, 1\]"):
        NormBounded(PROFILE, 0.0)
