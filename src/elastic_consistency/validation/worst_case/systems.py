"""Kinds of systems whose worst gap can be computed, each as a function to call later."""

from collections.abc import Callable

import numpy as np

from elastic_consistency.execution import execute
from elastic_consistency.execution.probes import StartedSequence
from elastic_consistency.execution.quantities import Sequence
from elastic_consistency.optimization.compression import (
    AbstractCodec,
    ErrorFeedback,
    ScaledSign,
    TopK,
)
from elastic_consistency.optimization.oracles import Linear
from elastic_consistency.optimization.update_rules import SGD, HeavyBall, Nesterov
from elastic_consistency.schedule import Schedule
from elastic_consistency.validation.adversaries import server_schedule
from elastic_consistency.validation.gaps import (
    aligned_block_gap,
    aligned_gap,
    noise_gap,
    rms_gap,
    view_difference,
)
from elastic_consistency.validation.worst_case.residuals import (
    one_entry,
    one_left_over,
    refill,
    residual_norms,
)

Worst = Callable[[], float]
Build = Callable[[], Schedule]


def aligned(build: Build, sequence: Sequence) -> Worst:
    """Gradients of norm 1 that all point the same way."""
    return lambda: aligned_gap(view_difference(build(), sequence))


def aligned_blocks(build: Build, sequence: Sequence, norms: tuple[float, ...]) -> Worst:
    """Aligned gradients whose parts in the blocks have these norms."""
    return lambda: aligned_block_gap(view_difference(build(), sequence), norms)


def noise(build: Build, sequence: Sequence) -> Worst:
    """Independent noise of unit variance, without a mean."""
    return lambda: noise_gap(view_difference(build(), sequence))


def rms(build: Build, *, last: int = 1) -> Worst:
    """Gradients of rms norm 1 over the nodes, worst rms over the nodes of the last rounds."""

    def worst() -> float:
        schedule = build()
        difference = view_difference(schedule, Sequence.MEAN)
        return rms_gap(difference, schedule.jobs.round, last=last)

    return worst


def feedback(codec: AbstractCodec, *, n_workers: int, exchanges: int) -> Worst:
    """A constant gradient, workers in turn, each with its own error feedback."""

    def worst() -> float:
        order = [k % n_workers for k in range(exchanges)]
        schedule = server_schedule(order, n_workers=n_workers)
        return _executed(schedule, SGD(1.0), codec=ErrorFeedback(codec))

    return worst


def momentum(rule: HeavyBall | Nesterov, *, steps: int) -> Worst:
    """A constant gradient, one worker."""
    return lambda: _executed(server_schedule([0] * steps, n_workers=1), rule)


def _executed(
    schedule: Schedule, rule: SGD | HeavyBall | Nesterov, **options: AbstractCodec
) -> float:
    slope = Linear(np.ones(1))
    measured = execute(schedule, slope, rule, seeds=(0,), probes=(StartedSequence(),), **options)
    return measured["gap_started"].peak


def refilled(d: int) -> Worst:
    """TopK with K = 1, its residual refilled along a sine."""
    return lambda: float(residual_norms(TopK(1), refill(d, 100 * d))[0])


def left_over(d: int) -> Worst:
    """TopK with K = d - 1 whose entries are made equal before each choice."""
    return lambda: float(residual_norms(TopK(d - 1), one_left_over(d, 5))[0])


def one_bit(d: int) -> Worst:
    """Scaled signs of vectors with a single entry, again and again."""
    return lambda: float(residual_norms(ScaledSign(), one_entry(d, 60))[0])
