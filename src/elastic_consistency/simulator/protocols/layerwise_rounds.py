"""The run of a layer-wise protocol: forward, backward, and one link with priorities."""

from heapq import heappop, heappush
from typing import final

import simpy

from elastic_consistency.simulator.alarm import Alarm
from elastic_consistency.simulator.collectives import AbstractCollective, collective_seconds
from elastic_consistency.simulator.layer_profile import LayerProfile
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
    """

    __slots__ = ("_barrier", "_busy", "_collective", "_done", "_jobs", "_lag", "_messages",
                 "_n_steps", "_parts", "_queue", "_ready", "_sent", "_simulation", "_sizes",
                 "_synchronised", "_trainers")  # fmt: skip

    def __init__(
        self,
        simulation: Simulation,
        profile: LayerProfile,
        collective: AbstractCollective,
        *,
        lag: int,
        barrier: bool,
    ) -> None:
        self._simulation, self._collective = simulation, collective
        self._lag, self._barrier = lag, barrier
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
        trainer.waits = (min(self._synchronised) if self._barrier else
                         self._synchronised[layer]) < needed  # fmt: skip
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
            self._stand_in(number, trainer.step - 1, layer, 1.0)
            record.step(number, block=layer)
        record.read(trainer.job, number, block=layer)
        if layer == len(self._sizes) - 1:
            record.gradient(trainer.job)
        trainer.alarm.set(trainer.total * self._parts[0][layer])

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

    def _use_link(self) -> None:
        if self._busy is not None or not self._queue:
            return
        _, step, layer = heappop(self._queue)
        self._busy = (step, layer)
        simulation = self._simulation
        n_bytes = simulation.payload.update_bytes * self._sizes[layer] / sum(self._sizes)
        self._done.set(collective_seconds(self._collective, simulation.network, n_bytes))

    def _on_synchronised(self, event: simpy.Event) -> None:
        record, key = self._simulation.record, self._busy
        assert key is not None
        step, layer = key
        for number, trainer in enumerate(self._trainers):
            if key in trainer.stands_in:
                self._stand_in(number, step, layer, -1.0)
            record.add(number, message=self._messages[key], block=layer)
            record.step(number, block=layer)
        record.drop(message=self._messages.pop(key))
        self._synchronised[layer] = step
        if min(self._synchronised) == step:
            for _, job in sorted(self._jobs.pop(step).items()):
                record.drop(job=job, share=1 / len(self._trainers))
        self._busy = None
        self._use_link()
        for number, trainer in enumerate(self._trainers):
            if trainer.waits:
                self._forward(number)
