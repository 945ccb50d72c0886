"""Version 1's remark: error feedback need not help sparsified asynchronous SGD."""

import numpy as np

from elastic_consistency.execution import DivergenceError, execute
from elastic_consistency.optimization.compression import AbstractCodec, ErrorFeedback, TopK
from elastic_consistency.optimization.update_rules import SGD
from elastic_consistency.schedule import Schedule
from elastic_consistency.simulator import Cluster, Until, simulate
from elastic_consistency.simulator.delays import Exponential
from elastic_consistency.simulator.protocols import AsynchronousServer
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
    in_shape,
)
from elastic_consistency.validation.papers.small_problems import digits_network

_N = 8
_SETTINGS = tuple((part, step) for part in (0.01, 0.1) for step in (0.1, 1.0, 3.0))


def need_feedback(effort: Effort, _value: PaperValue) -> Finding:
    """Final loss with minus without error feedback, six settings, paired seeds."""
    seeds, jobs = tuple(range(effort.pick(6, 20))), effort.pick(1600, 8000)
    oracle = digits_network()
    schedule = simulate(
        AsynchronousServer(), Cluster.alike(_N, Exponential(1.0)), until=Until(jobs=jobs), seed=0
    )
    measured = []
    for part, step in _SETTINGS:
        codec = TopK(max(1, round(part * oracle.dimension)))
        losses = [_losses(schedule, step, c, seeds) for c in (ErrorFeedback(codec), codec)]
        difference = paired_difference(losses[0], losses[1], confidence=CONFIDENCE, seed=0)
        measured.append(Measured(f"K/d = {part:g}, eta = {step:g}: with - without", difference))
    harms = [m.name for m in measured if m.estimate.lower > 0]
    helps = [m.name for m in measured if m.estimate.upper < 0]
    return in_shape(
        tuple(measured),
        (
            Feature(
                "in some setting it does not help: lower end of the difference > 0",
                bool(harms),
                "; ".join(harms) or "none",
            ),
        ),
        scale=f"network of 2442 parameters on 1797 digits instead of CNNs, n = {_N}, {jobs} "
        f"updates, {len(seeds)} paired seeds, final training loss",
        why=f"it surely helps in {len(helps)} of {len(measured)} settings and harms in "
        f"{len(harms)}; in the others its effect cannot be told from 0",
    )


def _losses(
    schedule: Schedule, step: float, codec: AbstractCodec, seeds: tuple[int, ...]
) -> np.ndarray:
    oracle = digits_network()
    try:
        model = execute(schedule, oracle, SGD(step), seeds=seeds, codec=codec).models[0]
    except DivergenceError:
        return np.full(len(seeds), 1e6)
    return np.minimum(np.asarray(oracle.loss(model)), 1e6)


CLAIMS = (
    PaperClaim(
        "feedback-need-not-help",
        Paper.ELASTIC,
        "Error feedback may not help sparsified asynchronous SGD.",
        PaperValue("may not necessarily help", "first version's abstract", Status.READ),
        need_feedback,
        seconds=60.0,
    ),
)
