"""Replaying a schedule on real processes that exchange real messages."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from elastic_consistency.execution import Measurement, Trace
from elastic_consistency.execution.probes import Loss
from elastic_consistency.hardware_backend.lowering.placement import Placement
from elastic_consistency.hardware_backend.order import Order, Part
from elastic_consistency.hardware_backend.processes.ranks import run_ranks
from elastic_consistency.hardware_backend.rounding import UNIT_ROUNDOFF
from elastic_consistency.optimization.compression import AbstractCodec
from elastic_consistency.optimization.oracles import AbstractOracle
from elastic_consistency.optimization.update_rules import AbstractRule
from elastic_consistency.schedule import Schedule


@final
@dataclass(frozen=True, slots=True, eq=False)
class Replay:
    """What the replicas became on real ranks.

    Attributes:
        models: Final (R, d) float64 model of each replica.
        traces: By name; the loss, if one was asked for.
        seeds: One a replicate.
        digest: Digest of the schedule.
        n_ranks: Number of processes.
        dtype: Precision of all arithmetic.
        lateness: (E,) s, how much later than due each row ran, on the rank that was latest;
            NaN when the replay was not paced.
    """

    models: tuple[np.ndarray, ...]
    traces: dict[str, Trace]
    seeds: tuple[int, ...]
    digest: str
    n_ranks: int
    dtype: str
    lateness: np.ndarray


def replay(
    schedule: Schedule,
    oracle: AbstractOracle,
    rule: AbstractRule,
    *,
    seeds: tuple[int, ...],
    codec: AbstractCodec | None = None,
    ranks: int | Placement = 2,
    device: str = "cpu",
    dtype: str = "float64",
    backend: str = "gloo",
    ordered: bool = False,
    loss: Loss | None = None,
    pace: float = 0.0,
    timeout: float = 60.0,
    port: int = 0,
    listener: Callable[[float], None] = lambda _share: None,
) -> Replay:
    """Replay a schedule on several processes of this machine, in its logical order.

    Each rank interprets the same rows with the same executor and does the part of its own
    workers and replicas; what a row needs from elsewhere travels through torch.distributed.
    Call it under `if __name__ == "__main__"` in a script.

    Args:
        schedule: What to replay; it is not checked again here.
        oracle: The problem; it must pickle.
        rule: The update rule.
        seeds: One seed a replicate.
        codec: Compression of updates; none by default.
        ranks: Number of ranks, or which rank plays which host.
        device: "cpu", or a kind of accelerator that torch knows, such as "cuda".
        dtype: "float64", "float32" or "bfloat16".
        backend: "gloo", or "nccl" when every rank has its own GPU.
        ordered: Sum messages in the order of their PUT rows, so that the result has the bits
            of an execution on one process, at the price of more messages; by default a
            collective sums them in an order of its own.
        loss: A loss to trace; none by default.
        pace: Seconds of real time for one second of the schedule: rows wait until they are due,
            which turns the schedule's delays, jitter and stragglers into real ones; 0 runs as
            fast as possible.
        timeout: Seconds without progress after which a rank is said to hang.
        port: Port through which the ranks meet, 0 for any free one.
        listener: Told now and then the share of the rows that every rank has behind it.

    Raises:
        RanksError: If a rank fails, is killed or hangs; no process is left behind.
    """
    if not 0 <= pace < float("inf"):
        raise ValueError(f"replay.pace must be a finite number >= 0, got {pace!r}.")
    if dtype not in UNIT_ROUNDOFF:
        raise ValueError(f"replay.dtype must be one of {tuple(UNIT_ROUNDOFF)}, got {dtype!r}.")
    placement = ranks if isinstance(ranks, Placement) else Placement(ranks)
    order = Order(
        schedule, oracle, rule, codec, tuple(seeds), placement, device, dtype, ordered, loss, pace
    )

    def tell(row: int) -> None:
        listener(row / len(schedule.rows))

    orders = [order] * placement.n_ranks
    parts = run_ranks(
        _replay_part, orders, timeout=timeout, backend=backend, port=port, listener=tell
    )
    models = {replica: model for part in parts for replica, model in part.models.items()}
    traces = {name: trace for part in parts for name, trace in part.traces.items()}
    in_order = tuple(models[replica] for replica in range(len(schedule.metadata.hosts)))
    lateness = np.fmax.reduce([part.lateness for part in parts])
    return Replay(
        in_order, traces, tuple(seeds), schedule.digest(), placement.n_ranks, dtype, lateness
    )


def parity(replayed: Replay, measurement: Measurement) -> float:
    """Largest ||x_replay - x_executor|| / ||x_executor|| over replicas and replicates.

    Raises:
        ValueError: If the two are not of the same schedule and seeds.
    """
    for field in ("digest", "seeds"):
        ours, theirs = getattr(replayed, field), getattr(measurement, field)
        if ours != theirs:
            raise ValueError(f"Measurement.{field} must be {ours!r}, got {theirs!r}.")
    errors = [
        _relative_error(ours, np.asarray(theirs, np.float64))
        for ours, theirs in zip(replayed.models, measurement.models, strict=True)
    ]
    return max(errors)


def _replay_part(rank: Any, order: Order) -> Part:
    # Only the ranks load torch, not the process that starts them.
    from elastic_consistency.hardware_backend.rank_replay import replay_rank

    return replay_rank(rank, order)


def _relative_error(ours: np.ndarray, theirs: np.ndarray) -> float:
    difference = np.linalg.norm(ours - theirs, axis=-1)
    scale = np.linalg.norm(theirs, axis=-1)
    return float((difference / np.where(scale > 0, scale, 1.0)).max())
