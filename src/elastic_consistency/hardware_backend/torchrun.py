"""Replaying under torchrun, on one machine or on several."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import numpy as np
import torch
import torch.distributed as dist

from elastic_consistency.hardware_backend.lowering.placement import Placement
from elastic_consistency.hardware_backend.order import Order, Part
from elastic_consistency.hardware_backend.processes.rank_process import Progress, Rank
from elastic_consistency.hardware_backend.rank_replay import place_of, replay_rank
from elastic_consistency.hardware_backend.replay import Replay
from elastic_consistency.optimization.oracles import AbstractOracle
from elastic_consistency.optimization.update_rules import AbstractRule
from elastic_consistency.schedule import Schedule

_NEEDED = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")


def replay_under_torchrun(
    schedule: Schedule,
    oracle: AbstractOracle,
    rule: AbstractRule,
    *,
    seeds: tuple[int, ...],
    device: str = "cpu",
    dtype: str = "float64",
    backend: str = "gloo",
    timeout: float = 300.0,
    **options: Any,
) -> Replay:
    """Replay in the processes that torchrun started; every one of them calls this.

    Nobody watches these processes but torchrun: a rank that hangs is noticed by the others
    after `timeout`, and one that dies is noticed at once.

    Args:
        schedule: Loaded by every rank; all must be the same.
        oracle: The problem.
        rule: The update rule.
        seeds: One a replicate.
        device: "cpu", or a kind of accelerator that torch knows.
        dtype: "float64", "float32" or "bfloat16".
        backend: "gloo" or "nccl".
        timeout: Seconds that one wait may take.
        **options: codec, ordered and pace, as of `replay`.

    Returns:
        The whole result, on every rank.

    Raises:
        ValueError: If torchrun's environment variables are missing.
        MismatchError: If ranks have different schedules or problems.
        ContactLostError: If another rank is gone or hangs.
    """
    missing = [name for name in _NEEDED if name not in os.environ]
    if missing:
        raise ValueError(f"replay_under_torchrun needs {missing} in the environment.")
    size = int(os.environ["WORLD_SIZE"])
    with _joined(backend, timeout) as rank:
        order = Order(
            schedule,
            oracle,
            rule,
            options.pop("codec", None),
            tuple(seeds),
            Placement(size),
            device,
            dtype,
            options.pop("ordered", False),
            pace=options.pop("pace", 0.0),
        )
        if options:
            raise TypeError(f"replay_under_torchrun got unknown options {sorted(options)}.")
        part = replay_rank(rank, order)
        models = _share_models(rank, order, part)
    return Replay(models, part.traces, tuple(seeds), schedule.digest(), size, dtype, part.lateness)


@contextmanager
def _joined(backend: str, timeout: float) -> Iterator[Rank]:
    limit = timedelta(seconds=timeout)
    store, number, size = next(iter(dist.rendezvous("env://", timeout=limit)))
    store.set_timeout(limit)
    # Keys of an earlier call must not answer for this one.
    call = store.add(f"calls/{number}", 1)
    group = dist.PrefixStore(f"group/{call}", store)
    dist.init_process_group(backend, store=group, rank=number, world_size=size, timeout=limit)
    try:
        yield Rank(number, size, dist.PrefixStore(f"task/{call}", store), Progress())
        dist.barrier()
    finally:
        dist.destroy_process_group()


def _share_models(rank: Rank, order: Order, part: Part) -> tuple[np.ndarray, ...]:
    """Every replica's model on every rank, from whoever hosts it."""
    hosts = np.array(order.schedule.metadata.hosts, np.int64)
    backend_device = place_of(order.device, rank.number) if dist.get_backend() == "nccl" else "cpu"
    shape = (len(order.seeds), order.oracle.dimension)
    models = []
    for replica, owner in enumerate(order.placement.ranks(hosts).tolist()):
        known = part.models.get(replica, np.zeros(shape))
        vector = torch.tensor(known, device=backend_device)
        dist.broadcast(vector, owner)
        models.append(vector.cpu().numpy())
    return tuple(models)
