"""Tasks that train a small network on two or more ranks."""

import io
import os
import time
from collections import defaultdict

import torch
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.nn.parallel import DistributedDataParallel

from elastic_consistency.hardware_backend.elastic import (
    Barrier,
    CodecHook,
    ElasticScheduler,
    Latency,
)
from elastic_consistency.hardware_backend.elastic.link import PriorityLink
from elastic_consistency.optimization.compression import (
    QSGD,
    ErrorFeedback,
    Identity,
    ScaledSign,
    TopK,
)

STEPS = 6
CODECS = {
    "identity": Identity(),
    "TopK": ErrorFeedback(TopK(3)),
    "one-bit": ErrorFeedback(ScaledSign()),
    "QSGD": QSGD(2),
}


def network(seed: int = 0) -> torch.nn.Module:
    """Three layers in double precision."""
    torch.manual_seed(seed)
    return torch.nn.Sequential(
        torch.nn.Linear(5, 8),
        torch.nn.Tanh(),
        torch.nn.Linear(8, 6),
        torch.nn.Tanh(),
        torch.nn.Linear(6, 2),
    ).double()


def batch(rank: int, step: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Inputs and targets of one rank at one step."""
    generator = torch.Generator().manual_seed(1000 * step + rank)
    inputs = torch.randn(4, 5, generator=generator, dtype=torch.float64)
    return inputs, inputs[:, :2].sin()


def loss_of(model, rank: int, step: int) -> torch.Tensor:
    inputs, targets = batch(rank, step)
    return torch.nn.functional.mse_loss(model(inputs), targets)


def flat(model: torch.nn.Module) -> list[float]:
    return torch.cat([p.detach().reshape(-1) for p in model.parameters()]).tolist()


def data_parallel_with(rank, hooks: tuple[str, ...]):
    """Parameters after each kind of run, all in one process, which imports much for this."""
    plain = {hook: data_parallel(rank, hook) for hook in hooks}
    resumed = {hook: data_parallel_resumed(rank, hook) for hook in hooks if hook in CODECS}
    return plain, resumed


def data_parallel(rank, hook: str):
    """Reference: DistributedDataParallel with torch's SGD, with or without a hook."""
    model = DistributedDataParallel(network())
    compressing = None
    if hook == "torch":
        model.register_comm_hook(None, default_hooks.allreduce_hook)
    elif hook:
        compressing = CodecHook(model, CODECS[hook], seed=3)
        model.register_comm_hook(None, compressing.compress)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(STEPS):
        _descend(model, optimizer, rank.number, step)
    return flat(model)


def data_parallel_resumed(rank, hook: str):
    """The same with an interruption after half the steps; all state goes through a file."""
    file = io.BytesIO()
    for half in range(2):
        inner = network(seed=half)
        if half == 1:
            file.seek(0)
            saved = torch.load(file)
            inner.load_state_dict(saved["model"])
        model = DistributedDataParallel(inner)
        compressing = CodecHook(model, CODECS[hook], seed=3)
        if half == 1:
            compressing.load_state_dict(saved["hook"])
        model.register_comm_hook(None, compressing.compress)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for step in range(half * STEPS // 2, (half + 1) * STEPS // 2):
            _descend(model, optimizer, rank.number, step)
        if half == 0:
            torch.save({"model": inner.state_dict(), "hook": compressing.state_dict()}, file)
    return flat(model)


def _descend(model, optimizer, rank: int, step: int) -> None:
    optimizer.zero_grad()
    loss_of(model, rank, step).backward()
    optimizer.step()


def pretend(scheduler: ElasticScheduler, answer: bool | str | None) -> None:
    """Decide by hand whether messages count as arrived, so that no test depends on speed.

    With "in turn" the layers of a step arrive one whenever somebody waits, the last one first.
    """
    if answer == "in turn":
        here = defaultdict(list)

        def arrive(_known):
            layers = here[scheduler._step - 1]
            layers.append(2 - len(layers))

        scheduler._link.has_arrived = lambda key: key[1] in here[key[0]]
        scheduler._link.await_more = arrive
    elif answer is not None:
        scheduler._link.has_arrived = lambda key: answer


def elastic_while_layers_arrive(rank, policy):
    """One rank; its layers arrive one after the other, the last first, whenever it waits.

    Returns the decisions, how many layers had arrived by then, and each layer's norm share.
    """
    scheduler = ElasticScheduler(network(), step_size=0.1, policy=policy)
    loss_of(scheduler, 0, 0).backward()
    gradients = [torch.cat([p.grad.reshape(-1) for p in layer.parameters()])
                 for layer in _plain_gradients()]  # fmt: skip
    here: list[int] = []
    scheduler._link.has_arrived = lambda key: key[1] in here
    scheduler._link.await_more = lambda known: here.append(2 - len(here))
    arrived = []
    scheduler.decisions = _Watched(lambda: arrived.append(len(here)))
    loss_of(scheduler, 0, 1).backward()
    scheduler.close()
    total = sum(float(g.square().sum()) for g in gradients)
    shares = [float(g.square().sum()) / total for g in gradients]
    return [d.stood_in for d in scheduler.decisions], arrived, shares


class _Watched(list):
    """A list that tells when something is appended."""

    def __init__(self, tell) -> None:
        super().__init__()
        self._tell = tell

    def append(self, item) -> None:
        self._tell()
        super().append(item)


def _plain_gradients() -> list[torch.nn.Module]:
    model = network()
    loss_of(model, 0, 0).backward()
    return [layer for layer in model if isinstance(layer, torch.nn.Linear)]


def arrivals_of_two_sums(rank, latency):
    """Moments at which two sums arrived that were handed over together."""
    link = PriorityLink(latency, torch.device("cpu"))
    for key in ((0, 0), (0, 1)):
        link.submit(key, torch.ones(3))
    link.close()
    return [link._done[key][1] for key in ((0, 0), (0, 1))]


def sums_awaited(rank, latency):
    """How many sums had arrived whenever `await_more` returned, each time one more."""
    link = PriorityLink(latency, torch.device("cpu"))
    for layer in range(3):
        link.submit((0, layer), torch.ones(3))
    seen = [0]
    while seen[-1] < 3:
        link.await_more(seen[-1])
        seen.append(link.n_arrived())
    link.close()
    return seen


def elastic(rank, argument):
    """The scheduler; returns parameters and decisions."""
    policy, latency, answer = argument
    scheduler = ElasticScheduler(
        network(rank.number), step_size=0.1, policy=policy, latency=latency
    )
    pretend(scheduler, answer)
    for step in range(STEPS):
        loss_of(scheduler, rank.number, step).backward()
    scheduler.close()
    decisions = [(d.step, d.layer, d.stood_in) for d in scheduler.decisions]
    return flat(scheduler.module), decisions


def elastic_with_an_idle_layer(rank, policy):
    """A layer that the loss does not depend on."""
    model = torch.nn.ModuleDict({"used": network(), "idle": torch.nn.Linear(2, 2).double()})
    before = flat(model["idle"])
    model.forward = model["used"].forward
    scheduler = ElasticScheduler(model, step_size=0.1, policy=policy)
    for step in range(STEPS):
        loss_of(scheduler, rank.number, step).backward()
    scheduler.close()
    return flat(model["used"]), flat(model["idle"]) == before


def elastic_resumed(rank, argument):
    """(uninterrupted, resumed): both save at half time; one is made anew from what was saved."""
    policy, latency, answer = argument
    outcomes = []
    for interrupted in (False, True):
        scheduler = ElasticScheduler(network(), step_size=0.1, policy=policy, latency=latency)
        pretend(scheduler, answer)
        for step in range(STEPS):
            if step == STEPS // 2:
                file = io.BytesIO()
                torch.save(scheduler.state_dict(), file)
                if interrupted:
                    scheduler.close()
                    scheduler = ElasticScheduler(
                        network(9), step_size=0.1, policy=policy, latency=latency
                    )
                    pretend(scheduler, answer)
                    file.seek(0)
                    scheduler.load_state_dict(torch.load(file))
            loss_of(scheduler, rank.number, step).backward()
        scheduler.close()
        outcomes.append(flat(scheduler.module))
    return outcomes


def elastic_without_gradient(rank, policy):
    """Predictions between steps see every update applied."""
    scheduler = ElasticScheduler(network(), step_size=0.1, policy=policy, latency=Latency(0.05))
    loss_of(scheduler, rank.number, 0).backward()
    with torch.no_grad():
        seen = scheduler(batch(0, 5)[0])
    scheduler.close()
    return seen.tolist(), scheduler.module(batch(0, 5)[0]).tolist()


def elastic_with_a_death(rank, _argument):
    """Rank 1 dies in the middle of a run."""
    scheduler = ElasticScheduler(network(), step_size=0.1, policy=Barrier())
    for step in range(STEPS):
        if rank.number == 1 and step == 2:
            os._exit(7)
        rank.progress.waiting = True
        loss_of(scheduler, rank.number, step).backward()
    scheduler.close()


def sums_by_priority(rank, _argument):
    """Rank 0 has (0, 2) under way when (0, 1) and then (0, 0) become ready."""
    link = PriorityLink(Latency(), torch.device("cpu"))
    keys = [(0, 2), (0, 1), (0, 0)] if rank.number == 0 else [(0, 0), (0, 1), (0, 2)]
    if rank.number == 1:
        rank.store.wait(["others are ready"])
    for key in keys:
        link.submit(key, torch.full((3,), float(key[1] + rank.number)))
        while rank.number == 0 and (0, 2) in link._ready:
            time.sleep(0.01)  # until its sum has begun, which cannot end without rank 1
    rank.store.set("others are ready", "")
    link.close()
    arrivals = sorted(keys, key=lambda key: link._done[key][1])
    sums = {key[1]: link.take(key).tolist() for key in keys}
    return sums, arrivals
