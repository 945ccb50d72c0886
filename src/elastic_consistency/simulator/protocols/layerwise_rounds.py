"""The run of a layer-wise protocol: forward, backward, and one link with priorities."""

from heapq import heappop, heappush
from typing import final

import simpy

from elastic_consistency.simulator.alarm import Alarm
from elastic_consistency.simulator.layer_profile import LayerProfile
from elastic_consistency.simulator.network.collectives import AbstractCollective, collective_seconds
from elastic_consistency.simulator.simulation import Simulation
from elastic_consistency.simulator.stall import Wait


@final
class _Trainer:
    """One worker: its step, its place in it, and its time."""

    __slots__ = ("alarm", "job", "layer", "seconds", "stands_in", "step", "total", "waits")

    def __init__(self) -> None:
        self.step = self.job = -1
        self.layer = 0
        self.total = 0.0
        self.waits = False
        self.stands_in: set[tuple[int, int]] = set()  # (step, layer)


@final
class LayerwiseRounds:
    """All workers and the link.

    Args:
        simulation: The run.
        profile: The layers.
        collective: Algorithm of the all-reduce.
        lag: Steps by which a layer may be late; then the own gradient stands in.
        barrier: Whether a forward pass waits for all layers, and the link serves in order.
        stand_in: Weight with which the own update stands in for a late layer.
        threshold: beta: a layer may be late only if at every worker the layers that are in
            hold this part of the norm of its gradient. 0 asks nothing.
    """

    __slots__ = ("_answers", "_backward_left", "_barrier", "_busy", "_collective", "_done",
                 "_jobs", "_lag", "_messages", "_n_steps", "_parts", "_queue", "_ready", "_sent",
                 "_simulation", "_sizes", "_synchronised", "_threshold", "_trainers",
                 "_weight")  # fmt: skip

    def __init__(
        self,
        simulation: Simulation,
        profile: LayerProfile,
        collective: AbstractCollective,
        *,
        lag: int,
        barrier: bool,
        stand_in: float = 1.0,
        threshold: float = 0.0,
    ) -> None:
        self._simulation, self._collective = simulation, collective
        self._lag, self._barrier = lag, barrier
        self._weight, self._threshold = stand_in, threshold
        self._answers: dict[tuple[int, ...], float] = {}  # least norm share by step and layers
        self._sizes, self._parts = profile.sizes(), profile.parts()
        self._trainers = [_Trainer() for _ in range(simulation.cluster.n_workers)]
        for number, trainer in enumerate(self._trainers):
            trainer.seconds = simulation.computation(number)
            trainer.alarm = Alarm(simulation.env, self._rings_for(number))
        self._done = Alarm(simulation.env, self._on_synchronised)
        self._n_steps = 0
        self._ready = 0  # layers that have been queued, which orders them at a barrier
        self._queue: list[tuple[int, int, int]] = []  # (priority, step, layer)
        self._busy: tuple[int, int] | None = None
        self._messages: dict[tuple[int, int], int] = {}
        self._sent: dict[tuple[int, int], int] = {}
        self._jobs: dict[int, dict[int, int]] = {}  # by step and worker
        self._backward_left: dict[int, int] = {}  # layers of a step that some have not sent
        self._synchronised = [-1] * len(self._sizes)  # last step of each layer

    def begin(self) -> None:
        """All workers begin their first step."""
        for number in range(len(self._trainers)):
            self._begin_step(number)

    def _begin_step(self, number: int) -> None:
        simulation, trainer = self._simulation, self._trainers[number]
        if trainer.step + 1 == self._n_steps:
            if not simulation.admit(simulation.env.now, len(self._trainers)):
                return
            self._n_steps += 1
        trainer.step += 1
        trainer.layer, trainer.job = 0, -1
        self._forward(number)

    def _forward(self, number: int) -> None:
        """Begin the forward pass of the next layer, or wait."""
        simulation, trainer = self._simulation, self._trainers[number]
        layer, needed = trainer.layer, trainer.step - 1 - self._lag
        in_time = min(self._synchronised) if self._barrier else self._synchronised[layer]
        trainer.waits = in_time < needed or not self._is_elastic(trainer.step - 1, layer)
        if trainer.waits:
            others = tuple(w for w in range(len(self._trainers)) if w != number)
            simulation.waits[number] = Wait(number, others, f"layer {layer} of step {needed}")
            return
        simulation.waits.pop(number, None)
        record, now = simulation.record, simulation.env.now
        if trainer.job < 0:
            trainer.job = record.job(number, round=trainer.step)
            self._jobs.setdefault(trainer.step, {})[number] = trainer.job
            record.begin(trainer.job, now)
            trainer.total = trainer.seconds(now)
        if self._synchronised[layer] < trainer.step - 1:
            self._stand_in(number, trainer.step - 1, layer, self._weight)
            record.step(number, block=layer)
        record.read(trainer.job, number, block=layer)
        if layer == len(self._sizes) - 1:
            record.gradient(trainer.job)
        trainer.alarm.set(trainer.total * self._parts[0][layer])

    def _is_elastic(self, step: int, layer: int) -> bool:
        """Whether a forward pass may use `layer` although `step` may not yet be in it."""
        if self._threshold == 0 or self._synchronised[layer] >= step:
            return True
        jobs = self._jobs.get(step, {})
        if len(jobs) < len(self._trainers) or self._backward_left.get(step, 1):
            return False  # some gradient of this step is not known yet
        here = tuple(k for k, last in enumerate(self._synchronised) if last >= step)
        key = (step, *here)
        if here and key not in self._answers:
            operands = (len(jobs), *(jobs[w] for w in sorted(jobs)), *here)
            self._answers[key] = self._simulation.ask("least norm share", operands)
        return bool(here) and self._answers[key] >= self._threshold

    def _stand_in(self, number: int, step: int, layer: int, weight: float) -> None:
        trainer = self._trainers[number]
        own = self._jobs[step][number]
        self._simulation.record.add(number, job=own, block=layer, weight=weight)
        trainer.stands_in ^= {(step, layer)}

    def _rings_for(self, number: int):
        def ring(event: simpy.Event) -> None:
            trainer, layers = self._trainers[number], len(self._sizes)
            trainer.layer += 1
            if trainer.layer < layers:
                self._forward(number)
                return
            # Places layers .. 2 layers - 1 are the backward pass, from the last layer down.
            if trainer.layer > layers:
                self._send(number, 2 * layers - trainer.layer)
            if trainer.layer < 2 * layers:
                backward = self._parts[1][2 * layers - 1 - trainer.layer]
                trainer.alarm.set(trainer.total * backward)
            else:
                self._begin_step(number)

        return ring

    def _send(self, number: int, layer: int) -> None:
        """A layer's backward pass is over: its update goes into the message of the layer."""
        record, trainer, p = self._simulation.record, self._trainers[number], len(self._trainers)
        key = (trainer.step, layer)
        record.encode(trainer.job, block=layer)
        if key not in self._messages:
            self._messages[key], self._sent[key] = record.message(), 0
        record.put(self._messages[key], job=trainer.job, block=layer, weight=1 / p)
        self._sent[key] += 1
        if self._sent[key] == p:
            del self._sent[key]
            priority = self._ready if self._barrier else layer
            self._ready += 1
            heappush(self._queue, (priority, *key))
            self._use_link()
            left = self._backward_left
            left[trainer.step] = left.get(trainer.step, len(self._sizes)) - 1
            if left[trainer.step] == 0 and self._threshold > 0:
                self._wake()

    def _use_link(self) -> None:
        if self._busy is not None or not self._queue:
            return
        _, step, layer = heappop(self._queue)
        self._busy = (step, layer)
        simulation = self._simulation
        n_bytes = simulation.update_bytes * self._sizes[layer] / sum(self._sizes)
        self._done.set(collective_seconds(self._collective, simulation.network, n_bytes))

    def _on_synchronised(self, event: simpy.Event) -> None:
        record, key = self._simulation.record, self._busy
        assert key is not None
        step, layer = key
        for number, trainer in enumerate(self._trainers):
            if key in trainer.stands_in:
                self._stand_in(number, step, layer, -self._weight)
            record.add(number, message=self._messages[key], block=layer)
            record.step(number, block=layer)
        record.drop(message=self._messages.pop(key))
        self._synchronised[layer] = step
        if min(self._synchronised) == step:
            for _, job in sorted(self._jobs.pop(step).items()):
                record.drop(job=job, share=1 / len(self._trainers))
        self._busy = None
        self._use_link()
        self._wake()

    def _wake(self) -> None:
        for number, trainer in enumerate(self._trainers):
            if trainer.waits:
                self._forward(number)
