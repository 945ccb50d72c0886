"""OSGP on a real small problem: spread over workers, per iteration and per second."""

import numpy as np

from elastic_consistency.execution import execute
from elastic_consistency.optimization.oracles import LogisticRegression
from elastic_consistency.optimization.update_rules import SGD
from elastic_consistency.schedule import Schedule
from elastic_consistency.simulator import (
    Cluster,
    Link,
    OnePeerExponential,
    Payload,
    Until,
    simulate,
)
from elastic_consistency.simulator.delays import LogNormal
from elastic_consistency.simulator.protocols import AbstractProtocol, AllReduce, Gossip
from elastic_consistency.validation.papers.claim import (
    Effort,
    Paper,
    PaperClaim,
    PaperValue,
    Status,
)
from elastic_consistency.validation.papers.finding import (
    FRESH_SEED,
    Feature,
    Finding,
    at_least,
    at_most,
    in_shape,
    over_seeds,
)
from elastic_consistency.validation.papers.small_problems import digits_regression

_N, _STEP = 8, 1.0
_LINK = Link(bandwidth_bytes_per_s=1.25e9)


def _schedule(protocol: AbstractProtocol, rounds: int, seed: int) -> Schedule:
    """Computing 0.1 s with jitter; a message of 102 MB takes 0.08 s on 10 Gbit/s."""
    cluster = Cluster.alike(_N, LogNormal(0.1, 0.1), link=_LINK)
    until, payload = Until(jobs=_N * rounds), Payload.uncompressed(102e6)
    return simulate(protocol, cluster, until=until, seed=seed, payload=payload)


def _final(schedule: Schedule, oracle: LogisticRegression, seed: int) -> np.ndarray:
    """(n,) loss of every worker's model at the end."""
    models = execute(schedule, oracle, SGD(_STEP), seeds=(seed,)).models
    return np.array([float(oracle.loss(model)[0]) for model in models])


def spread_of_losses(effort: Effort, _value: PaperValue) -> Finding:
    """Standard deviation over workers of the training loss, relative to its mean."""
    oracle, rounds, seeds = digits_regression(), effort.pick(200, 1000), range(effort.pick(5, 20))
    protocol = Gossip(OnePeerExponential(_N), lag=1)
    losses = np.array([_final(_schedule(protocol, rounds, s), oracle, s) for s in seeds])
    begin = float(oracle.loss(oracle.start()[None])[0])
    spread = losses.std(axis=1) / losses.mean(axis=1)
    return in_shape(
        (
            over_seeds("spread / mean of the loss over workers", spread),
            over_seeds("mean loss", losses.mean(axis=1)),
        ),
        (
            at_most("the spread is small: below 5 % in every seed", float(spread.max()), 0.05),
            at_most(
                "every worker has learned: loss / initial loss", float(losses.max()) / begin, 0.25
            ),
        ),
        scale=f"logistic regression on 1797 digits instead of ResNet-50, n = {_N}, "
        f"{rounds} iterations, {len(seeds)} seeds",
    )


def compare_per_second(effort: Effort, _value: PaperValue) -> Finding:
    """OSGP and AllReduce after the same iterations, and after the same seconds."""
    oracle, rounds, seeds = digits_regression(), effort.pick(60, 240), effort.pick(8, 20)
    protocols = (Gossip(OnePeerExponential(_N), lag=1), AllReduce())
    iterations, seconds, ratios = [], [], []
    for seed in range(FRESH_SEED, FRESH_SEED + seeds):
        asynchronous, synchronous = (_schedule(p, rounds, seed) for p in protocols)
        ends = [float(s.rows.time[-1]) for s in (asynchronous, synchronous)]
        shorter = _schedule(protocols[1], max(1, int(rounds * ends[0] / ends[1])), seed)
        own, other, early = (
            float(_final(s, oracle, seed).mean()) for s in (asynchronous, synchronous, shorter)
        )
        iterations.append(own - other)
        seconds.append(own - early)
        ratios.append(ends[1] / ends[0])
    by_iteration = over_seeds(
        "OSGP - AllReduce, same iterations", np.array(iterations), seed=FRESH_SEED
    )
    by_second = over_seeds("OSGP - AllReduce, same seconds", np.array(seconds), seed=FRESH_SEED)
    return in_shape(
        (
            by_iteration,
            by_second,
            over_seeds("AllReduce / OSGP, s an iteration", np.array(ratios), seed=FRESH_SEED),
        ),
        (
            Feature(
                "an iteration of OSGP is worth less",
                by_iteration.estimate.lower > 0,
                "lower end of the difference of losses > 0",
            ),
            Feature(
                "a second of OSGP is worth more",
                by_second.estimate.upper < 0,
                "upper end of the difference of losses < 0",
            ),
            at_least("its iterations are faster", float(np.mean(ratios)), 1.5),
        ),
        scale=f"logistic regression on 1797 digits, n = {_N}, {rounds} iterations, message times "
        f"of 102 MB on 10 Gbit/s, computing 0.1 s, {seeds} paired seeds",
    )


CLAIMS = (
    PaperClaim(
        "osgp-spread",
        Paper.SURVEY,
        "The training loss of OSGP differs little between workers.",
        PaperValue("low variance over workers", "summary, main results", Status.SUMMARY),
        spread_of_losses,
        seconds=25.0,
    ),
    PaperClaim(
        "osgp-per-second",
        Paper.SURVEY,
        "OSGP converges slower an iteration and faster a second than AllReduce.",
        PaperValue("slower an iteration, faster a second", "summary, main results", Status.SUMMARY),
        compare_per_second,
        seconds=25.0,
    ),
)
