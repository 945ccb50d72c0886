"""Accuracy with the elastic scheduler itself: two processes train a residual network."""

from importlib.util import find_spec

import numpy as np

from elastic_consistency.validation.paired import paired_difference
from elastic_consistency.validation.papers.claim import (
    Effort,
    Paper,
    PaperClaim,
    PaperValue,
    Status,
)
from elastic_consistency.validation.papers.finding import (
    CONFIDENCE,
    Feature,
    Finding,
    Measured,
    at_least,
    in_shape,
    needs_hardware,
    over_seeds,
)

_BETA, _LATENCY, _JITTER = 0.8, 5e-3, 0.2e-3


def train_with_component(effort: Effort, value: PaperValue) -> Finding:
    """Held-out accuracy under both elastic policies against a barrier, by pairs of seeds.

    Design, before it was run: with 517 held-out digits and few seeds, two points of accuracy
    are what can be told from none.
    """
    seeds, steps = range(effort.pick(4, 10)), effort.pick(80, 400)
    if find_spec("torch") is None:
        return needs_hardware(
            "`pip install elastic-consistency[hardware]`, then `elastic papers run "
            "elastic-component`",
            "skipped: PyTorch is not installed",
        )
    from elastic_consistency.hardware_backend.elastic import (
        Barrier,
        NormBounded,
        VarianceBounded,
    )

    policies = {
        "barrier": Barrier(),
        "norm-bounded": NormBounded(_BETA),
        "variance-bounded": VarianceBounded(),
    }
    found = {
        name: np.array([_train(policy, steps, seed) for seed in seeds])
        for name, policy in policies.items()
    }
    return _finding(found, value["tolerance"], f"{steps} steps, {len(seeds)} paired seeds")


def _train(policy: object, steps: int, seed: int) -> tuple[float, int]:
    """Accuracy on held-out digits, and how often the own gradient stood in on rank 0."""
    from elastic_consistency.hardware_backend import run_ranks
    from elastic_consistency.hardware_backend.elastic import Latency
    from elastic_consistency.hardware_backend.elastic.digit_training import train_on_digits

    order = (policy, Latency(_LATENCY, _JITTER), steps, seed)
    return run_ranks(train_on_digits, [order] * 2, timeout=300.0)[0]


def _finding(found: dict[str, np.ndarray], tolerance: float, length: str) -> Finding:
    barrier = found["barrier"][:, 0]
    elastic = {name: pairs for name, pairs in found.items() if name != "barrier"}
    lost = {
        name: paired_difference(barrier, pairs[:, 0], confidence=CONFIDENCE, seed=0)
        for name, pairs in elastic.items()
    }
    return in_shape(
        (
            *(over_seeds(f"accuracy, {name}", pairs[:, 0]) for name, pairs in found.items()),
            *(Measured(f"accuracy lost, {name}", estimate) for name, estimate in lost.items()),
            *(over_seeds(f"stand-ins a run, {n}", pairs[:, 1]) for n, pairs in elastic.items()),
        ),
        (
            *(
                Feature(
                    f"{name}: less than {100 * tolerance:g} points are lost",
                    estimate.upper < tolerance,
                    f"upper end {estimate.upper:.4f}",
                )
                for name, estimate in lost.items()
            ),
            at_least("all have learned: smallest mean accuracy", _smallest(found), 0.9),
            at_least(
                "layers were really used early: fewest stand-ins of a run",
                min(float(pairs[:, 1].min()) for pairs in elastic.values()),
                1.0,
            ),
        ),
        scale=f"the layers of ResNet-18 with 8 channels instead of 64, 1797 digits of 8 x 8 "
        f"instead of CIFAR-10, two gloo processes, {1e3 * _LATENCY:g} ms +- {1e3 * _JITTER:g} ms "
        f"injected into every message, beta = {_BETA:g}, {length}; held-out accuracy; real "
        "processes, so that no two runs are equal",
    )


def _smallest(found: dict[str, np.ndarray]) -> float:
    return min(float(pairs[:, 0].mean()) for pairs in found.values())


CLAIMS = (
    PaperClaim(
        "elastic-component",
        Paper.ELASTIC,
        "Both elastic schedulers, as they train a residual network, recover the full accuracy.",
        PaperValue(
            "full accuracy recovery of ResNet-18 on CIFAR-10/100",
            "summary, main results",
            Status.SUMMARY,
            (("tolerance", 0.02),),
        ),
        train_with_component,
        seconds=60.0,
    ),
)
