"""What-if: the same study with one thing removed, on the same random numbers.

Each seed gives one schedule and one sample path, and every variant meets the same draws, so
that a difference is due to what was removed.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import final

import numpy as np

from elastic_consistency.execution import Sequence, execute
from elastic_consistency.execution.probes import Loss
from elastic_consistency.optimization.compression import AbstractCodec, Identity
from elastic_consistency.optimization.oracles import AbstractOracle
from elastic_consistency.optimization.update_rules import AbstractRule
from elastic_consistency.schedule import Schedule
from elastic_consistency.simulator import Cluster, Link, Payload, Until, Worker, simulate
from elastic_consistency.simulator.cluster import ComputeLaw, PeerLink
from elastic_consistency.simulator.delays import (
    AbstractDelayLaw,
    Constant,
    Preemption,
    TransientStraggler,
)
from elastic_consistency.simulator.protocols import (
    AbstractProtocol,
    LossyBroadcast,
    MessagePassing,
)
from elastic_consistency.validation.estimate import Estimate
from elastic_consistency.validation.gaps import aligned_gap, view_difference
from elastic_consistency.validation.intervals import student_t
from elastic_consistency.validation.paired import paired_difference


@final
@dataclass(frozen=True, slots=True, eq=False)
class Scenario:
    """A study whose parts can be taken out.

    Attributes:
        cluster: The machines.
        protocol: Who meets whom.
        until: The limit of each run; it must let the target be reached.
        oracle: The problem.
        rule: The update rule.
        target: Loss to be reached by replica 0.
        codec: Compression of updates.
        payload: Bytes that travel.
        sequence: Auxiliary sequence of the gap.
    """

    cluster: Cluster
    protocol: AbstractProtocol
    until: Until
    oracle: AbstractOracle
    rule: AbstractRule
    target: float
    codec: AbstractCodec = field(default_factory=Identity)
    payload: Payload = field(default_factory=Payload)
    sequence: Sequence = Sequence.STARTED


Removal = Callable[[Scenario], Scenario]


@final
@dataclass(frozen=True, slots=True)
class Consequence:
    """What happens without one thing.

    Attributes:
        removed: What was removed; "nothing" for the study itself.
        time: Seconds to the target.
        time_change: Paired change of that against the study itself, s; negative is faster.
        gap: Largest B of all seeds for M = 1 and aligned gradients, by the schedules alone.
        gap_change: Change of that.
    """

    removed: str
    time: Estimate
    time_change: Estimate
    gap: float
    gap_change: float


def without_worker(number: int) -> Removal:
    """Take a worker out; the last one moves to its place, so that all others keep their draws."""

    def remove(scenario: Scenario) -> Scenario:
        cluster = scenario.cluster
        *first, last = cluster.workers
        if number < len(first):
            first[number] = last
        return replace(scenario, cluster=replace(cluster, workers=tuple(first), exceptions=()))

    return remove


def without_slowest_worker(scenario: Scenario) -> Scenario:
    """Take the worker with the largest mean time of a computation out."""
    times = [worker.mean_seconds() for worker in scenario.cluster.workers]
    return without_worker(int(np.argmax(times)))(scenario)


def without_link(number: int) -> Removal:
    """Messages from and to one worker travel in no time, those of the others as before."""

    def remove(scenario: Scenario) -> Scenario:
        cluster = scenario.cluster
        workers = list(cluster.workers)
        workers[number] = replace(workers[number], uplink=Link(), downlink=Link())
        others = [k for k in range(cluster.n_workers) if k != number]
        pairs = [pair for k in others for pair in ((number, k), (k, number))]
        slow = [pair for pair in pairs if cluster.link(*pair) != Link()]
        kept = [peer for peer in cluster.exceptions if (peer.sender, peer.receiver) not in pairs]
        free = [PeerLink(sender, receiver, Link()) for sender, receiver in slow]
        cluster = replace(cluster, workers=tuple(workers), exceptions=(*kept, *free))
        return replace(scenario, cluster=cluster)

    return remove


def without_slowest_link(scenario: Scenario) -> Scenario:
    """Free the links of the worker whose messages take longest on average."""
    cluster, payload = scenario.cluster, scenario.payload

    def seconds(number: int) -> float:
        worker = cluster.workers[number]
        server = worker.uplink.mean_seconds(payload.update_bytes)
        server += worker.downlink.mean_seconds(payload.model_bytes)
        others = [k for k in range(cluster.n_workers) if k != number]
        links = [
            link for k in others for link in (cluster.link(number, k), cluster.link(k, number))
        ]
        return server + sum(link.mean_seconds(payload.update_bytes) for link in links)

    return without_link(max(range(cluster.n_workers), key=seconds))(scenario)


def without_stragglers(scenario: Scenario) -> Scenario:
    """Nobody is slow for good: every slowdown becomes 1."""
    return _with_workers(scenario, lambda worker: replace(worker, slowdown=1.0))


def without_jitter(scenario: Scenario) -> Scenario:
    """Every computation and transfer takes its mean; slow phases become their average, too."""

    def steady(worker: Worker) -> Worker:
        return replace(
            worker,
            compute=Constant(worker.compute.mean()),
            uplink=_steady_link(worker.uplink),
            downlink=_steady_link(worker.downlink),
        )

    steadied = _with_workers(scenario, steady)
    fabric = _steady_link(scenario.cluster.fabric)
    return replace(steadied, cluster=replace(steadied.cluster, fabric=fabric))


def without_slow_phases(scenario: Scenario) -> Scenario:
    """Transient stragglers work at full speed for ever, and nobody is suspended."""

    def healthy(law: ComputeLaw) -> AbstractDelayLaw:
        return law.work if isinstance(law, TransientStraggler | Preemption) else law

    return _with_workers(scenario, lambda w: replace(w, compute=healthy(w.compute)))


def without_network(scenario: Scenario) -> Scenario:
    """Messages travel in no time."""
    free = _with_workers(scenario, lambda w: replace(w, uplink=Link(), downlink=Link()))
    cluster = replace(free.cluster, fabric=Link(), exceptions=())
    return replace(free, cluster=cluster, payload=Payload())


def without_loss(scenario: Scenario) -> Scenario:
    """Nothing is lost: neither on a link, nor an acknowledgement, nor a broadcast update."""
    cluster, protocol = without_losses(scenario.cluster, scenario.protocol)
    return replace(scenario, cluster=cluster, protocol=protocol)


def without_losses(
    cluster: Cluster, protocol: AbstractProtocol
) -> tuple[Cluster, AbstractProtocol]:
    """The same machines and the same protocol when nothing is lost; see `without_loss`."""
    workers = tuple(
        replace(w, uplink=_safe(w.uplink), downlink=_safe(w.downlink)) for w in cluster.workers
    )
    cluster = replace(
        cluster,
        workers=workers,
        fabric=_safe(cluster.fabric),
        exceptions=tuple(replace(peer, link=_safe(peer.link)) for peer in cluster.exceptions),
        faults=replace(cluster.faults, lost_acknowledgements=0.0, resend_s=None),
    )
    if isinstance(protocol, LossyBroadcast | MessagePassing):
        protocol = replace(protocol, loss=0.0)
    return cluster, protocol


def without_compression(scenario: Scenario) -> Scenario:
    """Updates travel whole: as many bytes as the model."""
    payload = Payload.uncompressed(scenario.payload.model_bytes)
    return replace(scenario, codec=Identity(), payload=payload)


REMOVALS: dict[str, Removal] = {
    "the slowest worker": without_slowest_worker,
    "the slowest link": without_slowest_link,
    "persistent stragglers": without_stragglers,
    "slow phases": without_slow_phases,
    "jitter": without_jitter,
    "losses": without_loss,
    "the network": without_network,
    "compression": without_compression,
}


def what_if(
    scenario: Scenario,
    removals: dict[str, Removal] | None = None,
    *,
    seeds: tuple[int, ...],
    confidence: float = 0.95,
) -> tuple[Consequence, ...]:
    """The study itself, and then without each thing, with paired changes.

    Args:
        scenario: The study.
        removals: What to remove, by name; by default all that would change it.
        seeds: One run a seed, at least two.
        confidence: Of each interval.

    Raises:
        ValueError: If a run ends before it reaches the target.
    """
    chosen = _effective(scenario) if removals is None else removals
    times, gap = _run(scenario, seeds)
    consequences = [_compare("nothing", times, gap, times, gap, confidence)]
    for name, removal in chosen.items():
        consequences.append(_compare(name, *_run(removal(scenario), seeds), times, gap, confidence))
    return tuple(consequences)


def _effective(scenario: Scenario) -> dict[str, Removal]:
    same = (scenario.cluster, scenario.protocol, scenario.codec, scenario.payload)
    found = {}
    for name, removal in REMOVALS.items():
        if removal is without_slowest_worker and scenario.cluster.n_workers == 1:
            continue
        changed = removal(scenario)
        if (changed.cluster, changed.protocol, changed.codec, changed.payload) != same:
            found[name] = removal
    return found


def _run(scenario: Scenario, seeds: tuple[int, ...]) -> tuple[np.ndarray, float]:
    """(R,) seconds to the target and the largest gap of all schedules."""
    times, gaps = [], []
    for seed in seeds:
        schedule = simulate(
            scenario.protocol,
            scenario.cluster,
            until=scenario.until,
            seed=seed,
            payload=scenario.payload,
        )
        times.append(_time_to_target(scenario, schedule, seed))
        gaps.append(aligned_gap(view_difference(schedule, scenario.sequence)))
    return np.array(times), max(gaps)


def _time_to_target(scenario: Scenario, schedule: Schedule, seed: int) -> float:
    measured = execute(
        schedule,
        scenario.oracle,
        scenario.rule,
        codec=scenario.codec,
        seeds=(seed,),
        probes=(Loss(target=scenario.target),),
    )
    seconds = float(measured["time_to_target_s"].last[0])
    if np.isinf(seconds):
        raise ValueError(
            f"Scenario.until must let every run reach the target {scenario.target!r}; "
            f"seed {seed} did not."
        )
    return seconds


def _compare(
    removed: str,
    times: np.ndarray,
    gap: float,
    base_times: np.ndarray,
    base_gap: float,
    confidence: float,
) -> Consequence:
    return Consequence(
        removed=removed,
        time=student_t(times, confidence=confidence),
        time_change=paired_difference(times, base_times, confidence=confidence),
        gap=gap,
        gap_change=gap - base_gap,
    )


def _with_workers(scenario: Scenario, change: Callable[[Worker], Worker]) -> Scenario:
    workers = tuple(change(worker) for worker in scenario.cluster.workers)
    return replace(scenario, cluster=replace(scenario.cluster, workers=workers))


def _steady_link(link: Link) -> Link:
    return replace(link, jitter=Constant(link.jitter.mean()))


def _safe(link: Link) -> Link:
    return replace(link, loss=0.0, resend_s=None)


def waterfall_text(consequences: tuple[Consequence, ...]) -> str:
    """One line a removal: time to the target with its change, B with its change."""
    head = f"{'without':22}  {'time, s':>9}  {'change, s':>26}  {'B / M':>7}  {'change':>7}"
    lines = [
        f"{c.removed:22}  {c.time.value:9.4g}  "
        f"{c.time_change.value:+9.4g} [{c.time_change.lower:+.3g}, {c.time_change.upper:+.3g}]"
        f"  {c.gap:7.4g}  {c.gap_change:+7.4g}"
        for c in consequences
    ]
    return "\n".join([head, *lines])
