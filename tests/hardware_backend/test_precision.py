"""In single and half precision the replay stays within a bound that is derived, not measured."""

from dataclasses import replace

import numpy as np
import pytest
import recorded_schedules as recorded
import torch

from elastic_consistency.execution import execute
from elastic_consistency.hardware_backend import replay, rounding_bound
from elastic_consistency.optimization.oracles import Linear, LogisticRegression, Quadratic
from elastic_consistency.optimization.update_rules import SGD, HeavyBall

SEEDS = (1, 2, 3)
SIZES = (3, 4, 5)
SCHEDULES = {
    "server": recorded.asynchronous_server(4, 20),
    "all-reduce": recorded.all_reduce(4, 8),
    "push-sum": recorded.push_sum(4, 5),
    "pairwise averaging": recorded.pairwise_averaging(4, 12),
    "local steps": recorded.local_steps(4, 2),
    "layer-wise": recorded.layer_wise(4, 4, SIZES),
    "stand-in": recorded.subgroup_with_stand_in(4, 4),
}


def _distances(replayed, expected) -> np.ndarray:
    """(m, R) distances of the final replicas."""
    pairs = zip(replayed.models, expected.models, strict=True)
    return np.stack([np.linalg.norm(ours - theirs, axis=-1) for ours, theirs in pairs])


@pytest.fixture
def problem() -> Quadratic:
    rng = np.random.default_rng(0)
    offsets = rng.normal(size=(4, 12))
    return Quadratic(
        np.linspace(0.1, 1.0, 12),
        variance=0.3,
        optimum=rng.normal(size=12),
        offsets=offsets - offsets.mean(axis=0),
    )


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("name", SCHEDULES)
def test_low_precision_stays_within_the_derived_bound(problem, name, dtype):
    """Neither violated nor idle: the error is real, and the bound at most 1000 times it."""
    schedule, rule = SCHEDULES[name], SGD(0.1)
    expected = execute(schedule, problem, rule, seeds=SEEDS)

    replayed = replay(schedule, problem, rule, seeds=SEEDS, ranks=3, dtype=dtype)

    bound = rounding_bound(schedule, problem, rule, seeds=SEEDS, dtype=dtype)
    distance = _distances(replayed, expected)
    assert bound.shape == distance.shape == (len(schedule.metadata.hosts), len(SEEDS))
    assert np.all(distance <= bound)
    assert np.all(distance > 0)
    assert bound.max() <= 1000 * distance.max()


@pytest.mark.parametrize("name", SCHEDULES)
def test_half_precision_breaks_the_bound_of_single_precision(problem, name):
    schedule, rule = SCHEDULES[name], SGD(0.1)
    expected = execute(schedule, problem, rule, seeds=SEEDS)

    replayed = replay(schedule, problem, rule, seeds=SEEDS, ranks=1, dtype="bfloat16")

    bound = rounding_bound(schedule, problem, rule, seeds=SEEDS, dtype="float32")
    assert np.all(_distances(replayed, expected) > bound)


def test_the_bound_of_one_step_is_the_textbook_one():
    """Linear loss, one job: start rounded, slope rounded, product and difference rounded."""
    slope, start = np.array([3.0, -4.0]), np.zeros(2)
    schedule = recorded.asynchronous_server(1, 1)

    bound = rounding_bound(schedule, Linear(slope), SGD(0.5), seeds=(0,), dtype="float32")

    unit = 2.0**-24 + 2.0**-53
    gradient = 8 * unit * (5 + 2 * 5)
    step = 0.5 * (gradient + 2 * unit * 5 + 2 * unit * 5)
    assert start.sum() == 0
    assert bound[0, 0] == pytest.approx(step + unit * 2.5, rel=1e-5)


def test_errors_scale_with_the_unit_roundoff(problem):
    schedule = SCHEDULES["all-reduce"]
    of = {
        dtype: rounding_bound(schedule, problem, SGD(0.1), seeds=(0,), dtype=dtype).max()
        for dtype in ("float64", "float32", "bfloat16")
    }

    assert of["float32"] / of["float64"] == pytest.approx(2.0**28, rel=0.01)
    assert of["bfloat16"] / of["float32"] == pytest.approx(2.0**16, rel=0.5)


def test_double_precision_parity_follows_from_the_bound(problem):
    schedule = SCHEDULES["push-sum"]

    bound = rounding_bound(schedule, problem, SGD(0.1), seeds=SEEDS, dtype="float64")

    models = execute(schedule, problem, SGD(0.1), seeds=SEEDS).models
    assert bound.max() / min(np.linalg.norm(m, axis=-1).min() for m in models) <= 1e-12


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_single_process_rounds_within_the_bound_too(problem, dtype):
    """The bound knows nothing of ranks: the torch executor obeys it as well."""
    schedule, rule = SCHEDULES["server"], SGD(0.1)
    start = torch.tensor(problem.start(), dtype=getattr(torch, dtype)).repeat(3, 1)
    low = execute(schedule, problem, rule, seeds=SEEDS, start=start)
    high = execute(schedule, problem, rule, seeds=SEEDS)

    bound = rounding_bound(schedule, problem, rule, seeds=SEEDS, dtype=dtype)

    difference = low.models[0].double().numpy() - high.models[0]
    assert np.all(np.linalg.norm(difference, axis=-1) <= bound[0])


def test_what_is_not_worked_out_is_refused(problem):
    schedule = SCHEDULES["server"]
    logistic = LogisticRegression(np.ones((4, 2)), np.array([0, 1, 0, 1]), 2, batch=1, ridge=0.1)

    with pytest.raises(TypeError, match="rule SGD, got HeavyBall"):
        rounding_bound(schedule, problem, HeavyBall(0.1, 0.9), seeds=(0,), dtype="float32")
    with pytest.raises(TypeError, match="got LogisticRegression"):
        rounding_bound(schedule, logistic, SGD(0.1), seeds=(0,), dtype="float32")


def test_an_unknown_precision_is_refused(problem):
    with pytest.raises(ValueError, match="dtype must be"):
        replay(SCHEDULES["server"], replace(problem), SGD(0.1), seeds=(0,), dtype="float16")
