"""Data-parallel training with a stopwatch at every layer, for a machine that computes slowly.

A pause is added to each layer's forward and backward pass: so small a network is computed in less
time than a loaded machine needs to wake a process, and would measure the machine.
"""

import time
from dataclasses import dataclass, field

import numpy as np
import torch
from mnist_task import data, network

from elastic_consistency.hardware_backend.elastic import ElasticScheduler

BATCH, EPOCHS, PAUSE = 32, 3, 0.003  # s, added to each layer in each direction


@dataclass
class Stopwatch:
    """Moments on one rank, s; one list a step.

    Attributes:
        calls: Before the forward pass of the whole module.
        asked: Before each layer's turn, whether or not it has to wait.
        gone: As the layer begins to compute.
        out: After the forward pass of the whole module.
        sent: After each layer's backward pass, by layer.
        arrivals: Arrival of each sum, by (step, layer).
    """

    calls: list[float] = field(default_factory=list)
    asked: list[list[float]] = field(default_factory=list)
    gone: list[list[float]] = field(default_factory=list)
    out: list[float] = field(default_factory=list)
    sent: list[dict[int, float]] = field(default_factory=list)
    arrivals: dict[tuple[int, int], float] = field(default_factory=dict)


def timed_training(rank, argument):
    """(accuracy, stopwatch, stand-ins) of one run.

    Args:
        rank: The rank.
        argument: Policy, latency and seed of weights and order.
    """
    policy, latency, seed = argument
    images, labels, test_images, test_labels = data()
    model, watch = network(seed), Stopwatch()
    layers = [part for part in model if any(True for _ in part.parameters())]
    for layer in layers:
        layer.register_forward_pre_hook(_stamp(watch.asked))
    scheduler = ElasticScheduler(model, step_size=0.2, policy=policy, latency=latency)
    _watch(scheduler, layers, watch)
    generator = torch.Generator().manual_seed(seed)
    mine = slice(rank.number * BATCH, (rank.number + 1) * BATCH)
    for _ in range(EPOCHS):
        for chosen in torch.randperm(len(images), generator=generator).split(2 * BATCH):
            rank.progress.row += 1
            part = chosen[mine]
            watch.calls.append(time.monotonic())
            for stamps, empty in ((watch.asked, []), (watch.gone, []), (watch.sent, {})):
                stamps.append(empty)
            output = scheduler(images[part])
            watch.out.append(time.monotonic())
            torch.nn.functional.cross_entropy(output, labels[part]).backward()
    scheduler.close()
    with torch.no_grad():
        right = scheduler.module(test_images).argmax(1) == test_labels
    stood_in = sum(decision.stood_in for decision in scheduler.decisions)
    return float(right.float().mean()), watch, stood_in


def _watch(scheduler: ElasticScheduler, layers: list, watch: Stopwatch) -> None:
    for layer in layers:
        layer.register_forward_pre_hook(_stamp(watch.gone))
        layer.register_forward_hook(_slow)
    submit, arrive = scheduler._submit, scheduler._link._arrive

    def submitted(layer):
        watch.sent[-1][layer.number] = time.monotonic()
        submit(layer)

    def arrived(key, vector):
        arrive(key, vector)
        watch.arrivals[key] = time.monotonic()

    scheduler._submit, scheduler._link._arrive = submitted, arrived


def _stamp(stamps: list[list[float]]):
    def hook(_module, _inputs):
        if torch.is_grad_enabled():
            stamps[-1].append(time.monotonic())

    return hook


def _slow(_module, _inputs, output):
    """Forward, and backward before the gradients of the layer's parameters are there."""
    if not output.requires_grad:
        return
    time.sleep(PAUSE)
    output.register_hook(lambda _gradient: time.sleep(PAUSE))


def layer_seconds(watch: Stopwatch) -> tuple[np.ndarray, np.ndarray]:
    """(steps, layers) seconds of forward and of backward passes, without any waiting.

    What a rank does between two steps counts with the first layer's forward pass, the loss with
    the last layer's backward pass. The first step, which warms up, is left out.
    """
    asked, gone = np.array(watch.asked), np.array(watch.gone)
    sent = np.array([[step[k] for k in range(asked.shape[1])] for step in watch.sent])
    out, calls = np.array(watch.out), np.array(watch.calls)
    forward = np.column_stack([asked[:, 1:], out]) - gone
    between = np.append(0.0, calls[1:] - sent[:-1, 0])
    forward[:, 0] += between
    backward = np.column_stack([sent[:, :-1] - sent[:, 1:], sent[:, -1] - out])
    return forward[1:], backward[1:]


def seconds_per_sum(watch: Stopwatch) -> float:
    """Median seconds for which a sum holds the link: distance of two served in a row."""
    n_layers = len(watch.asked[0])
    pairs = [
        watch.arrivals[step, layer - 1] - watch.arrivals[step, layer]
        for step in range(1, len(watch.calls))
        for layer in range(1, n_layers)
    ]
    return float(np.median(pairs))


def seconds_per_step(watch: Stopwatch) -> float:
    """Median time from one step to the next, which stalls of the machine leave alone."""
    return float(np.median(np.diff(watch.calls[1:])))
