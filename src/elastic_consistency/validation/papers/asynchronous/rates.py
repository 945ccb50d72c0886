"""Bounded delay: stability limits, and how the number of steps grows with delay and kappa."""

import math

import numpy as np

from elastic_consistency.execution import DivergenceError, execute
from elastic_consistency.optimization.oracles import Quadratic
from elastic_consistency.optimization.update_rules import SGD
from elastic_consistency.validation.adversaries import server_schedule
from elastic_consistency.validation.papers.claim import (
    Effort,
    Paper,
    PaperClaim,
    PaperValue,
    Status,
)
from elastic_consistency.validation.papers.curve import Curve
from elastic_consistency.validation.papers.finding import (
    Feature,
    Finding,
    computed,
    in_shape,
    near,
    reproduced,
)

_DELAYS = (0, 1, 2, 5, 10, 30)


def radius(step: float, delay: int) -> float:
    """Spectral radius of x_{t+1} = x_t - step x_{t - delay}."""
    return float(
        np.abs(
            np.roots([1.0, -1.0, *[0.0] * (delay - 1), step] if delay else [1.0, step - 1.0])
        ).max()
    )


def find_limits(_effort: Effort, _value: PaperValue) -> Finding:
    """The largest stable step by bisection on the roots, and executed on both sides of it."""
    found = np.array([_bisect(delay) for delay in _DELAYS])
    formula = np.array([2 * math.sin(math.pi / (2 * (2 * delay + 1))) for delay in _DELAYS])
    executed = [
        (_grows(0.98 * a, d), _grows(1.02 * a, d)) for a, d in zip(formula, _DELAYS, strict=True)
    ]
    worst = float(np.abs(found / formula - 1).max())
    return reproduced(
        tuple(computed(f"limit, tau = {d}", a) for d, a in zip(_DELAYS, found, strict=True)),
        (
            Feature("bisected limits equal the formula to 1e-9", worst < 1e-9, f"{worst:.2g}"),
            Feature(
                "executed in turn by tau + 1 workers: shrinks at 0.98, grows at 1.02 of it",
                all(not below and above for below, above in executed),
            ),
        ),
        scale="exact roots; 6000 steps on f(x) = x^2 / 2",
    )


def _bisect(delay: int) -> float:
    low, high = 0.0, 2.5
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if radius(middle, delay) <= 1 else (low, middle)
    return low


def _grows(step: float, delay: int) -> bool:
    """Whether delayed descent is farther from 0 at the end than in the middle."""
    n = delay + 1
    sizes = []
    for steps in (3000, 6000):
        schedule = server_schedule([k % n for k in range(steps)], n_workers=n)
        try:
            model = execute(schedule, Quadratic(np.ones(1)), SGD(step), seeds=(0,)).models[0]
        except DivergenceError:
            return True
        sizes.append(abs(float(model[0, 0])))
    return sizes[1] > max(sizes[0], 1e-30)


def fit_exponents(_effort: Effort, _value: PaperValue) -> Finding:
    """Steps to 1e-6 at the step 1 / (20 L (tau + 1)), from the slowest root."""
    delays, kappas = np.array([4, 8, 16, 32, 64, 128]), np.array([8.0, 32.0, 128.0, 512.0])
    over_delay = np.array([_steps(int(d), 100.0) for d in delays])
    over_kappa = np.array([_steps(16, k) for k in kappas])
    slopes = [
        float(np.polyfit(np.log(x), np.log(y), 1)[0])
        for x, y in ((delays + 1.0, over_delay), (kappas, over_kappa))
    ]
    return in_shape(
        (
            computed("exponent of tau + 1", slopes[0]),
            computed("exponent of kappa", slopes[1]),
        ),
        (
            near("steps grow like tau", slopes[0], 1.0, 0.05),
            near("steps grow like kappa", slopes[1], 1.0, 0.05),
        ),
        scale="exact roots; tau = 4..128 at kappa = 100, kappa = 8..512 at tau = 16",
        curves=(
            Curve(
                "kappa = 100",
                tuple(delays.tolist()),
                tuple(over_delay.tolist()),
                ("delay tau", "steps to 1e-6"),
                logarithmic=True,
            ),
        ),
    )


def _steps(delay: int, kappa: float) -> float:
    """Steps to 1e-6 along the flattest direction, L = 1."""
    step = 1 / (20 * (delay + 1))
    return math.log(1e6) / -math.log(radius(step / kappa, delay))


CLAIMS = (
    PaperClaim(
        "stability-limit",
        Paper.SURVEY,
        "Delayed descent on a quadratic is stable for steps up to O(1 / delay).",
        PaperValue(
            "exactly alpha lambda < 2 sin(pi / (2 (2 tau + 1)))", "derived here", Status.DERIVED
        ),
        find_limits,
        whole=True,
        seconds=4.0,
    ),
    PaperClaim(
        "bounded-delay-rate",
        Paper.SURVEY,
        "With delays tau the deterministic part converges like exp(-k / (O(1) kappa tau)).",
        PaperValue(
            "k ~ kappa tau log(1 / eps), step 1 / (20 L (tau + 1))",
            "Arjevani, Shamir, Srebro (2020)",
            Status.RECALLED,
        ),
        fit_exponents,
        whole=True,
        seconds=1.0,
    ),
)
