"""Everything stays on the device of its input, shown on a device that holds no values."""

import numpy as np
import pytest
import torch
from oracle_cases import CASES

from elastic_consistency.optimization.compression import (
    QSGD,
    ErrorFeedback,
    Identity,
    Metered,
    RandomK,
    ScaledSign,
    Scaling,
    TopK,
)
from elastic_consistency.optimization.update_rules import (
    ADAG,
    GEM,
    SGD,
    AdamW,
    Clipped,
    HeavyBall,
    Nesterov,
    NormClip,
    PrintedGEM,
    Scheduled,
    SignedGEM,
    ValueClip,
    WarmUp,
    WorkerMomentum,
)

RULES = [
    SGD(0.1),
    HeavyBall(0.1, 0.9),
    Nesterov(0.1, 0.9),
    WorkerMomentum(0.1, 0.9),
    ADAG(0.1),
    AdamW(0.1),
    PrintedGEM(0.1),
    GEM(0.1),
    SignedGEM(0.1),
    Scheduled(SGD(0.1), WarmUp(2)),
    Clipped(SGD(0.1), NormClip(1.0)),
    Clipped(SGD(0.1), ValueClip(1.0)),
]
CODECS = [
    Identity(),
    Scaling(0.5),
    TopK(2),
    RandomK(2),
    ScaledSign(),
    QSGD(2),
    ErrorFeedback(Metered(TopK(2))),
]


def _abstract(shape):
    """A tensor without values; any operation that mixes it with a CPU tensor fails."""
    return torch.ones(shape, dtype=torch.float32, device="meta")


def _is_abstract(tensor):
    return tensor.device.type == "meta" and tensor.dtype == torch.float32


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_rules_stay_on_the_device(rule):
    x, gradient = _abstract((2, 4)), _abstract((2, 4))
    of_worker, of_replica = rule.worker_state(x), rule.replica_state(x)
    for _ in range(2):
        update, of_worker = rule.encode(of_worker, gradient, x, x)
        x, of_replica = rule.step(x, update, of_replica)

    assert _is_abstract(update)
    assert _is_abstract(x)


@pytest.mark.parametrize("codec", CODECS, ids=repr)
def test_codecs_stay_on_the_device(codec, draws):
    vector = _abstract((2, 4))
    state = codec.initial(vector)
    for _ in range(2):
        sent, state = codec.encode(state, vector, draws(0, 2))

    assert _is_abstract(sent)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_oracles_stay_on_the_device(case):
    oracle = case.oracle
    x = _abstract((2, oracle.dimension))
    draws = np.full((2, oracle.draws_per_job), 0.5)

    assert _is_abstract(oracle.gradient(x, draws, 0))
    assert _is_abstract(oracle.mean_gradient(x))
    assert _is_abstract(oracle.worker_mean_gradient(x, 0))
    assert _is_abstract(oracle.loss(x))
