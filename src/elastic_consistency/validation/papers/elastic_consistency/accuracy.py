"""Accuracy under elastic scheduling: layers used a step late, own gradients standing in."""

import numpy as np

from elastic_consistency.execution import execute
from elastic_consistency.optimization.update_rules import SGD
from elastic_consistency.schedule import Schedule
from elastic_consistency.simulator import (
    Cluster,
    Layer,
    LayerProfile,
    Link,
    Payload,
    Until,
    simulate,
)
from elastic_consistency.simulator.delays import Constant
from elastic_consistency.simulator.protocols import Layerwise, Scheduler
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
    over_seeds,
)
from elastic_consistency.validation.papers.small_problems import HIDDEN, accuracy, digits_network


def _schedule(scheduler: Scheduler, steps: int) -> Schedule:
    """Two nodes; a layer takes about as long on the link as a step computes."""
    sizes = (65 * HIDDEN + HIDDEN, HIDDEN * 10 + 10)
    layers = tuple(Layer(f"layer {k}", size, size, 2 * size) for k, size in enumerate(sizes))
    cluster = Cluster.alike(2, Constant(1.0), link=Link(0.2, Constant(0.0), 4.0 * sum(sizes)))
    return simulate(
        Layerwise(LayerProfile(layers), scheduler),
        cluster,
        until=Until(jobs=2 * steps),
        seed=0,
        payload=Payload.uncompressed(4.0 * sum(sizes)),
    )


def recover_accuracy(effort: Effort, value: PaperValue) -> Finding:
    """The same seeds with a barrier and with stand-ins, after the same number of steps."""
    oracle, seeds = digits_network(), tuple(range(effort.pick(8, 32)))
    steps = effort.pick(400, 2000)
    found = {}
    for scheduler in (Scheduler.BARRIER, Scheduler.VARIANCE_BOUNDED):
        schedule = _schedule(scheduler, steps)
        model = execute(schedule, oracle, SGD(0.2), seeds=seeds).models[0]
        found[scheduler] = accuracy(oracle, np.asarray(model)), float(schedule.rows.time[-1])
    barrier, elastic = found[Scheduler.BARRIER], found[Scheduler.VARIANCE_BOUNDED]
    lost = paired_difference(barrier[0], elastic[0], confidence=CONFIDENCE, seed=0)
    return in_shape(
        (
            over_seeds("accuracy, barrier", barrier[0]),
            over_seeds("accuracy, elastic", elastic[0]),
            Measured("accuracy lost", lost),
        ),
        (
            Feature(
                "less than 0.5 % of accuracy is lost",
                lost.upper < value["tolerance"],
                f"upper end {lost.upper:.4f}",
            ),
            at_least("both have learned: accuracy", float(elastic[0].min()), 0.9),
            at_least("in less time: barrier / elastic", barrier[1] / elastic[1], 1.1),
        ),
        scale=f"network 65-{HIDDEN}-10 on 1797 digits instead of ResNet-18, two nodes, {steps} "
        f"steps, {len(seeds)} paired seeds, training accuracy",
    )


CLAIMS = (
    PaperClaim(
        "elastic-accuracy",
        Paper.ELASTIC,
        "Elastic scheduling recovers the full accuracy.",
        PaperValue(
            "full accuracy recovery on CIFAR-10/100",
            "summary, main results",
            Status.SUMMARY,
            (("tolerance", 0.005),),
        ),
        recover_accuracy,
        seconds=15.0,
    ),
)
