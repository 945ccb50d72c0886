"""What an experiment found: figures with intervals, tests of features, and a verdict."""

from dataclasses import dataclass
from enum import Enum
from typing import final

import numpy as np

from elastic_consistency.validation.estimate import Estimate, Method, exact
from elastic_consistency.validation.intervals import proportion_limits, student_t
from elastic_consistency.validation.paired import paired_difference
from elastic_consistency.validation.papers.curve import Curve

CONFIDENCE = 0.95
FRESH_SEED = 100  # seeds from 0 served to settle the design of the rows that begin here


class PaperVerdict(Enum):
    """What became of a claim; the value is shown."""

    REPRODUCED = "reproduced"
    IN_SHAPE = "reproduced in shape"
    NOT_REPRODUCED = "not reproduced"
    NEEDS_HARDWARE = "needs hardware"


@final
@dataclass(frozen=True, slots=True)
class Measured:
    """A figure of ours.

    Attributes:
        name: What it is, with its unit.
        estimate: The figure with its interval.
    """

    name: str
    estimate: Estimate


@final
@dataclass(frozen=True, slots=True)
class Feature:
    """One property that the claim implies, and whether we see it.

    Attributes:
        name: The property and how it is tested.
        holds: Whether it was seen.
        evidence: The numbers that decided it.
    """

    name: str
    holds: bool
    evidence: str = ""


@final
@dataclass(frozen=True, slots=True)
class Finding:
    """The outcome of one experiment.

    Attributes:
        verdict: What became of the claim.
        measured: Our figures.
        features: Every property that was tested.
        scale: What was computed, and what was made smaller than in the paper.
        why: Where and why we differ, or what is worth knowing.
        curves: What a figure of the paper would show.
    """

    verdict: PaperVerdict
    measured: tuple[Measured, ...]
    features: tuple[Feature, ...]
    scale: str
    why: str = ""
    curves: tuple[Curve, ...] = ()


def reproduced(
    measured: tuple[Measured, ...],
    features: tuple[Feature, ...],
    *,
    scale: str,
    why: str = "",
    curves: tuple[Curve, ...] = (),
) -> Finding:
    """REPRODUCED if every feature holds, which then are statements on numbers; else not."""
    verdict = _verdict(features, PaperVerdict.REPRODUCED)
    return Finding(verdict, measured, features, scale, why, curves)


def in_shape(
    measured: tuple[Measured, ...],
    features: tuple[Feature, ...],
    *,
    scale: str,
    why: str = "",
    curves: tuple[Curve, ...] = (),
) -> Finding:
    """IN_SHAPE if every feature holds; else not reproduced."""
    verdict = _verdict(features, PaperVerdict.IN_SHAPE)
    return Finding(verdict, measured, features, scale, why, curves)


def needs_hardware(script: str, why: str) -> Finding:
    """A claim that this machine cannot decide, as it is.

    Args:
        script: What to run, and on what.
        why: What is missing here.
    """
    return Finding(PaperVerdict.NEEDS_HARDWARE, (), (), script, why)


def _verdict(features: tuple[Feature, ...], otherwise: PaperVerdict) -> PaperVerdict:
    if not features:
        raise ValueError("features must hold at least one test: nothing was tested.")
    holds = all(feature.holds for feature in features)
    return otherwise if holds else PaperVerdict.NOT_REPRODUCED


def computed(name: str, value: float) -> Measured:
    """A figure without chance."""
    return Measured(name, exact(float(value)))


def over_seeds(name: str, samples: np.ndarray, *, seed: int = 0) -> Measured:
    """The mean of one figure a seed, with Student's interval."""
    return Measured(name, student_t(np.asarray(samples), confidence=CONFIDENCE, seed=seed))


def share_of_seeds(name: str, successes: int, trials: int, *, seed: int = 0) -> Measured:
    """A share of seeds, with the exact interval of a proportion."""
    lower, upper = proportion_limits(successes, trials, confidence=CONFIDENCE)
    value = successes / trials
    estimate = Estimate(
        value=value,
        lower=min(lower, value),
        upper=max(upper, value),
        confidence=CONFIDENCE,
        method=Method.CLOPPER_PEARSON,
        n_replicates=trials,
        seed=seed,
    )
    return Measured(name, estimate)


def paired_below(name: str, first: np.ndarray, second: np.ndarray) -> Feature:
    """Whether the first of two methods is smaller: the paired interval lies below 0.

    Args:
        name: The property.
        first: (R,) figure of the one that is claimed to be smaller, one a seed.
        second: (R,) figure of the other with the same seeds.
    """
    found = paired_difference(first, second, confidence=CONFIDENCE)
    text = f"difference {found.value:.4g} [{found.lower:.4g}, {found.upper:.4g}]"
    if found.upper >= 0:
        reverse = found.lower > 0
        text += ", the reverse is true" if reverse else ", undecided: the interval holds 0"
    return Feature(name, bool(found.upper < 0), f"{text}, {len(first)} paired seeds")


def near(name: str, found: float, expected: float, tolerance: float) -> Feature:
    """Whether a figure is within a relative tolerance of an expected one."""
    holds = abs(found - expected) <= tolerance * abs(expected)
    text = f"{found:.6g} against {expected:.6g}, tolerance {tolerance:g} relative"
    return Feature(name, bool(holds), text)


def at_most(name: str, found: float, limit: float) -> Feature:
    """Whether a figure stays at or below a limit, up to rounding."""
    return Feature(name, bool(found <= limit * (1 + 1e-9)), f"{found:.6g} <= {limit:.6g}")


def at_least(name: str, found: float, limit: float) -> Feature:
    """Whether a figure reaches a limit, up to rounding."""
    return Feature(name, bool(found >= limit * (1 - 1e-9)), f"{found:.6g} >= {limit:.6g}")


def decreasing(name: str, values: np.ndarray) -> Feature:
    """Whether every value is below the one before it."""
    shown = ", ".join(f"{value:.4g}" for value in values)
    return Feature(name, bool((np.diff(values) < 0).all()), shown)


def increasing(name: str, values: np.ndarray) -> Feature:
    """Whether every value is above the one before it."""
    shown = ", ".join(f"{value:.4g}" for value in values)
    return Feature(name, bool((np.diff(values) > 0).all()), shown)
