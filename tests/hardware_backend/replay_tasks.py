"""A task that replays many schedules one after the other in the same processes."""

import torch.distributed as dist

from elastic_consistency.hardware_backend.processes.rank_process import Rank
from elastic_consistency.hardware_backend.rank_replay import replay_rank


def replay_all(rank, orders):
    """Final models of each schedule, of the replicas that live on this rank."""
    models = {}
    for name, order in orders.items():
        store = dist.PrefixStore(name, rank.store)
        rank.progress.row = -1
        models[name] = replay_rank(Rank(rank.number, rank.size, store, rank.progress), order).models
    return models
