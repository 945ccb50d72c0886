"""Systems for bounds that are published with a tuned step, or that count steps to a target."""

import itertools
import math
from collections.abc import Callable
from dataclasses import replace

from elastic_consistency.bounds.proofs.counterexamples.descents import Descent
from elastic_consistency.bounds.proofs.counterexamples.system import System
from elastic_consistency.bounds.requirements import Requirement

_PARTS = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def logarithmic_steps(extra: dict[str, float]) -> list[System]:
    """Return quadratics of one curvature L = c for the step 2 log T / (c T)."""
    found = []
    for curvature, steps, (start, noise, offset) in itertools.product(
        (0.25, 4.0), (300, 3000), _PARTS
    ):
        alpha = 2 * math.log(steps) / (curvature * steps)
        d = Descent(curvature, alpha, start, steps, noise=noise, offset=offset)
        found.append(System("quadratic", d.values() | extra, d.squared_distance()))
    return found


def tuned_minibatches() -> list[System]:
    """Return quadratics for the step sqrt(m Delta / (L T sigma^2)) on means of m samples."""
    found = []
    for start, batch, steps in itertools.product((0.5, 2.0), (1, 4), (400, 4000)):
        delta = start**2 / 2
        alpha = math.sqrt(batch * delta / steps)
        d = Descent(1.0, alpha, start, steps, noise=1 / math.sqrt(batch))
        values = d.values() | {"sigma": 1.0, "m": float(batch), "tau": 0.0}
        found.append(
            System(f"quadratic, means of {batch} samples", values, d.mean_squared_gradient())
        )
    return found


def steps_to_target(step_size: Callable[[dict[str, float]], float]) -> list[System]:
    """Return quadratics and the steps that E|grad f|^2 <= epsilon takes them, on average.

    Args:
        step_size: The step size of the bound, from the other values.
    """
    found = []
    for curvature, epsilon, noise in itertools.product((0.25, 4.0), (1e-4, 1e-2), (0.0, 0.02, 0.5)):
        values = {"L": curvature, "Delta": curvature / 2, "epsilon": epsilon, "sigma": noise}
        values |= {"R": 1.0, "B": 0.0, "m": max(1.0, math.ceil(noise**2 / epsilon))}
        found.append(_counted("quadratic", values, step_size(values)))
    values = {"L": 1.0, "Delta": 0.5, "epsilon": 1e-2, "sigma": 0.1, "R": 1.0, "B": 1.0, "m": 1.0}
    lacking = (
        (Requirement.UNBIASED, "the oracle returns nothing"),
        (Requirement.VARIANCE, "noise of 100 sigma keeps it from the target"),
        (Requirement.ELASTIC, "a gap of 100 alpha B keeps it from the target"),
        (Requirement.CONSTANT_STEP_SIZE, "step sizes that shrink like 1/t^2"),
        (Requirement.BOUNDED_STALENESS, "iterates grow with the staleness"),
        (Requirement.OBLIVIOUS, "only jobs whose noise points away are let through"),
        (Requirement.SMOOTH, "a kink, across which the iterates jump"),
        (Requirement.LOWER_BOUNDED, "a slope without end"),
    )
    return [*found, *(System(text, values, math.inf, frozenset({r})) for r, text in lacking)]


def seconds_to_target() -> list[System]:
    """Return the same for equal workers of 2 s, in batches of m: ceil(m/n) jobs of each."""
    workers, seconds = 4.0, 2.0
    found = steps_to_target(lambda v: 1 / (2 * v["L"]))
    stopped = System("workers that stop", found[-1].values, math.inf)
    return [
        replace(
            one,
            values={**one.values, "n": workers, "t_fast": seconds},
            measured=one.measured * math.ceil(one.values["m"] / workers) * seconds,
        )
        for one in (*found, replace(stopped, lacks=frozenset({Requirement.FIXED_SPEEDS})))
    ]


def _counted(description: str, values: dict[str, float], alpha: float) -> System:
    curvature, noise = values["L"], values["sigma"] / math.sqrt(values["m"])
    shrink = (1 - alpha * curvature) ** 2
    floor = (curvature * alpha * noise) ** 2 / (1 - shrink)

    def average(steps: float) -> float:
        of_start = (1 - shrink**steps) / ((1 - shrink) * steps)
        return 2 * curvature * values["Delta"] * of_start + floor * (1 - of_start)

    low, high = 0.0, 1.0
    while average(high) > values["epsilon"]:
        low, high = high, 2 * high
    while high - low > 1:
        middle = math.ceil((low + high) / 2)
        low, high = (low, middle) if average(middle) <= values["epsilon"] else (middle, high)
    return System(description, values, high)
