"""What TopK leaves out: the lemma, worst cases, norms of real gradients, and xi."""

import math

import numpy as np

from elastic_consistency.optimization.compression import TopK
from elastic_consistency.optimization.oracles import AbstractOracle
from elastic_consistency.validation.papers.claim import (
    Effort,
    Paper,
    PaperClaim,
    PaperValue,
    Status,
)
from elastic_consistency.validation.papers.curve import Curve
from elastic_consistency.validation.papers.finding import (
    FRESH_SEED,
    Feature,
    Finding,
    at_most,
    computed,
    near,
    over_seeds,
    reproduced,
)
from elastic_consistency.validation.papers.small_problems import digits_network, digits_regression
from elastic_consistency.validation.worst_case.residuals import (
    flat_gradient,
    refill,
    residual_norms,
)

_PARTS = (0.01, 0.03, 0.1, 0.3, 1.0)


def _top(vector: np.ndarray, k: int) -> np.ndarray:
    return TopK(k).encode(None, vector, np.empty)[0]


def worst_residuals(_effort: Effort, value: PaperValue) -> Finding:
    """A flat constant gradient, and one that refills along a sine; K = 1, d = 32."""
    d = 32
    ramp = float(residual_norms(TopK(1), flat_gradient(d, 4 * d))[0])
    sine = float(residual_norms(TopK(1), refill(d, 100 * d))[0])
    stated = math.sqrt(d * (d**2 - 1))
    return reproduced(
        (
            computed("flat gradient: residual / M", ramp),
            computed("sine: residual / M", sine),
            computed("stated constant", stated),
        ),
        (
            near("linear age ramp, sqrt((n - 1)(2 n - 1) / 6)", ramp, value["ramp"], 1e-9),
            near("sine: (2 / pi) n", sine, 2 / math.pi * d, 0.02),
            at_most("both below the stated constant", max(ramp, sine), stated),
        ),
        scale="executed, d / K = 32",
        why="the residual is of order d / K, not (d / K)^1.5",
    )


def norms_left_out(effort: Effort, _value: PaperValue) -> Finding:
    """||G - TopK(G)|| / ||G|| for real, normal and skewed gradients."""
    gradients = _gradients(effort.pick(40, 400))
    worst = np.array([math.sqrt(1 - part) for part in _PARTS])
    ratios = {
        name: np.array([_left_out(g, part) for part in _PARTS]) for name, g in gradients.items()
    }
    tenth = _PARTS.index(0.1)
    return reproduced(
        tuple(
            over_seeds(f"{name}, K/d = .1", row[tenth], seed=FRESH_SEED)
            for name, row in ratios.items()
            if name != "flat"
        ),
        _norm_features(ratios, worst),
        scale="stochastic gradients of batch 16 at the start and along a run on 1797 digits; "
        "d = 650 and 2442",
        curves=(
            *(
                Curve(name, _PARTS, tuple(row.mean(axis=1).tolist()), _AXES)
                for name, row in ratios.items()
            ),
            Curve("sqrt(1 - K/d)", _PARTS, tuple(worst.tolist()), _AXES),
        ),
    )


def _norm_features(ratios: dict[str, np.ndarray], worst: np.ndarray) -> tuple[Feature, ...]:
    tenth = _PARTS.index(0.1)
    order = ["skewed", "normal", "flat"]
    return (
        Feature(
            "never above sqrt(1 - K/d)",
            all(bool((row <= worst[:, None] + 1e-12).all()) for row in ratios.values()),
        ),
        near(
            "attained by a flat gradient",
            float(ratios["flat"][tenth].max()),
            worst[tenth],
            0.01,
        ),
        Feature(
            "real gradients are more concentrated than normal entries at K/d = .1",
            all(
                ratios[name][tenth].mean() < ratios["normal"][tenth].mean()
                for name in ("logistic regression", "network")
            ),
            f"worst case {worst[tenth]:.3f}",
        ),
        Feature(
            "smaller for skewed than for normal entries",
            bool(ratios["skewed"][tenth].mean() < ratios["normal"][tenth].mean()),
            ", ".join(f"{n} {ratios[n][tenth].mean():.3f}" for n in order),
        ),
    )


_AXES = ("K/d", "left out / norm")


def _left_out(gradients: np.ndarray, part: float) -> np.ndarray:
    k = max(1, round(part * gradients.shape[1]))
    rest = gradients - _top(gradients, k)
    return np.linalg.norm(rest, axis=1) / np.linalg.norm(gradients, axis=1)


def _gradients(count: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(FRESH_SEED)
    return {
        "logistic regression": _along_a_run(digits_regression(), count, rng),
        "network": _along_a_run(digits_network(), count, rng),
        "normal": rng.normal(size=(count, 1000)),
        "skewed": rng.lognormal(sigma=2.0, size=(count, 1000)),
        "flat": np.ones((1, 1000)),
    }


def _along_a_run(oracle: AbstractOracle, count: int, rng: np.random.Generator) -> np.ndarray:
    """(count, d) gradients, ten steps of descent apart."""
    x, kept = oracle.start()[None], []
    for step in range(10 * count):
        gradient = oracle.gradient(x, rng.uniform(size=(1, oracle.draws_per_job)), 0)
        x = x - 0.1 * gradient
        if step % 10 == 0:
            kept.append(gradient[0])
    return np.array(kept)


def measure_xi(effort: Effort, _value: PaperValue) -> Finding:
    """xi along a run of 4 nodes with error feedback."""
    seeds, steps = range(effort.pick(5, 20)), effort.pick(150, 1000)
    parts = (0.01, 0.1, 0.5)
    along = np.array([[_xi(part, steps, seed) for part in parts] for seed in seeds])
    found = np.median(along[:, :, steps // 2 :], axis=-1)
    return reproduced(
        tuple(over_seeds(f"median xi, K/d = {p:g}", found[:, k]) for k, p in enumerate(parts)),
        (at_most("xi is small, below 1/2, for K/d = .01", float(found[:, 0].mean()), 0.5),),
        scale=f"network of 2442 parameters on 1797 digits, 4 nodes, {steps} steps, "
        f"{len(seeds)} seeds, median over the second half of the steps",
        why="TopK of the mean and the mean of TopK differ by as much as the gradient itself at "
        "aggressive sparsity; residuals kept node by node, or EF1, need no such assumption",
        curves=tuple(
            Curve(f"K/d = {p:g}", tuple(range(0, steps, 5)), tuple(row[::5].tolist()), _ALONG)
            for p, row in zip(parts, along.mean(axis=0), strict=True)
        ),
    )


_ALONG = ("step", "xi")


def _xi(part: float, steps: int, seed: int) -> list[float]:
    """||TopK(mean acc) - mean TopK(acc)|| / ||alpha G|| at every step."""
    oracle, step, nodes = digits_network(), 0.1, 4
    rng, k = np.random.default_rng(seed), max(1, round(part * oracle.dimension))
    x, residual, seen = oracle.start()[None], np.zeros((nodes, oracle.dimension)), []
    for _ in range(steps):
        views = np.repeat(x, nodes, axis=0)
        gradient = oracle.gradient(views, rng.uniform(size=(nodes, oracle.draws_per_job)), 0)
        corrected = residual + step * gradient
        sent = _top(corrected, k)
        residual = corrected - sent
        apart = _top(corrected.mean(axis=0)[None], k)[0] - sent.mean(axis=0)
        norm = np.linalg.norm(gradient.mean(axis=0))
        seen.append(float(np.linalg.norm(apart) / (step * norm)))
        x = x - sent.mean(axis=0)
    return seen


def check_condition(_effort: Effort, _value: PaperValue) -> Finding:
    """The sum in the non-convex condition for K on both sides of n / 2, constant steps.

    And the residual at K = .3 n, executed under a flat gradient for as long as the longest sum.
    """
    sums = {
        c: [sum((2 * (1 - c)) ** k for k in range(1, t + 1)) for t in (50, 200, 800)]
        for c in (0.3, 0.5, 0.6, 0.9)
    }
    bounded = {c: row[-1] < 1.01 * row[1] for c, row in sums.items()}
    residual = float(residual_norms(TopK(3), flat_gradient(10, 800))[0])
    bound = math.sqrt(0.7) / (1 - math.sqrt(0.7))
    return reproduced(
        (
            *(computed(f"sum at K = {c:g} n, T = 50", row[0]) for c, row in sums.items()),
            computed("residual / M at K = .3 n, T = 800", residual),
        ),
        (
            Feature("the condition holds for c > 1/2", bounded[0.6] and bounded[0.9]),
            Feature("and fails for c <= 1/2", not bounded[0.3] and not bounded[0.5]),
            at_most("while the residual at c = .3 stays below C M", residual, bound),
        ),
        scale="exact sums, T = 50, 200, 800; residual executed for d = 10, K = 3",
        why="the condition is an artefact of ||a + b||^2 <= 2 ||a||^2 + 2 ||b||^2: with "
        "Minkowski's inequality C = sqrt(1 - c) / (1 - sqrt(1 - c)) is finite for every c",
    )


CLAIMS = (
    PaperClaim(
        "top-k-residual",
        Paper.SPARSIFIED,
        "Selection by magnitude bounds what is left out.",
        PaperValue(
            "the stated B is of order (d/K)^1.5; a ramp has sqrt((n-1)(2n-1)/6) M",
            "summary for B; ramp derived here",
            Status.DERIVED,
            (("ramp", math.sqrt(31 * 63 / 6)),),
        ),
        worst_residuals,
        whole=True,
        seconds=2.0,
    ),
    PaperClaim(
        "top-k-norms",
        Paper.SPARSIFIED,
        "The norm of gradients sits in the top K entries, so worst-case gaps are pessimistic.",
        PaperValue(
            "||G - TopK|| / ||G|| far below sqrt(1 - K/n)", "figure on norm gaps", Status.SUMMARY
        ),
        norms_left_out,
        seconds=5.0,
    ),
    PaperClaim(
        "top-k-xi",
        Paper.SPARSIFIED,
        "xi, by which TopK of the mean and the mean of TopK differ, is small.",
        PaperValue("small along training", "assumption 1 and its experiment", Status.RECALLED),
        measure_xi,
        seconds=25.0,
    ),
    PaperClaim(
        "top-k-condition",
        Paper.SPARSIFIED,
        "The non-convex theorem's condition holds for K = c n with c > 1/2 only.",
        PaperValue(
            "sum_k (2 (n - K) / n)^k alpha_{t-k}^2 / alpha_t <= D",
            "non-convex theorem",
            Status.RECALLED,
        ),
        check_condition,
        whole=True,
        seconds=0.1,
    ),
)
