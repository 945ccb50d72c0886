"""A thread that sums layers over all ranks, the most urgent one first."""

import threading
import time
from datetime import timedelta
from typing import Any, final

import torch
import torch.distributed as dist

from elastic_consistency.hardware_backend.elastic.latency import Latency
from elastic_consistency.hardware_backend.processes.failures import ContactLostError

_UNATTENDED = timedelta(hours=12)  # between two steps anything may happen
Key = tuple[int, int]  # step and layer


@final
class PriorityLink:
    """Sums vectors over all ranks; among those that are ready the earliest key goes first.

    Collectives must be called in the same order on all ranks, while gradients become ready in
    an order of each rank's own. So rank 0 chooses, and tells the others before each sum.

    Args:
        latency: Injected after each sum.
        device: Where the vectors are.
    """

    def __init__(self, latency: Latency, device: torch.device) -> None:
        self._rank, self._latency, self._device = dist.get_rank(), latency, device
        self._group: Any = dist.new_group(timeout=_UNATTENDED)
        self._changed = threading.Condition()
        self._ready: dict[Key, torch.Tensor] = {}
        self._done: dict[Key, tuple[torch.Tensor, float]] = {}
        self._closed, self._count = False, 0
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def submit(self, key: Key, vector: torch.Tensor) -> None:
        """Hand a vector over; it is overwritten by the sum."""
        with self._changed:
            self._ready[key] = vector
            self._changed.notify_all()

    def has_arrived(self, key: Key) -> bool:
        """Whether `take` would not have to wait."""
        with self._changed:
            return key in self._done and self._done[key][1] <= time.monotonic()

    def n_arrived(self) -> int:
        """Sums that have arrived and are not yet taken."""
        with self._changed:
            return self._arrived()

    def await_more(self, known: int) -> None:
        """Wait until more than `known` sums have arrived that are not yet taken.

        Raises:
            ContactLostError: If another rank is gone.
        """
        with self._changed:
            while self._arrived() <= known:
                if self._failure is not None:
                    raise ContactLostError("summing layers", -1, self._failure)
                under_way = [at for _, at in self._done.values() if at > time.monotonic()]
                # Nobody notifies of an arrival whose time has merely come.
                self._changed.wait(min(under_way) - time.monotonic() if under_way else None)

    def _arrived(self) -> int:
        return sum(at <= time.monotonic() for _, at in self._done.values())

    def take(self, key: Key) -> torch.Tensor:
        """Wait for a sum, and take it away.

        Raises:
            ContactLostError: If another rank is gone.
        """
        with self._changed:
            self._changed.wait_for(lambda: key in self._done or self._failure is not None)
            if key not in self._done:
                assert self._failure is not None
                raise ContactLostError(f"summing layer {key[1]}", -1, self._failure)
            vector, arrival = self._done.pop(key)
        time.sleep(max(0.0, arrival - time.monotonic()))
        return vector

    def peek(self, key: Key) -> torch.Tensor:
        """Wait for a sum, and leave it there."""
        vector = self.take(key)
        self.put_back(key, vector)
        return vector

    def put_back(self, key: Key, vector: torch.Tensor) -> None:
        """A sum that has arrived before, from `peek` or from a saved state."""
        with self._changed:
            self._done[key] = (vector, time.monotonic())

    def close(self) -> None:
        """End the thread once all ranks have called this and everything submitted is summed."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join()

    def _serve(self) -> None:
        accelerator = None if self._device.type == "cpu" else torch.get_device_module(self._device)
        try:
            if accelerator is not None:
                accelerator.set_device(self._device)
            while (key := self._next()) is not None:
                vector = self._await_ready(key)
                dist.all_reduce(vector, group=self._group)
                if accelerator is not None:
                    accelerator.synchronize()
                self._arrive(key, vector)
        except RuntimeError as error:
            with self._changed:
                self._failure = error
                self._changed.notify_all()

    def _next(self) -> Key | None:
        """The key to be summed next, as rank 0 says; None at the end."""
        choice = torch.full((2,), -1, dtype=torch.int64, device=self._device)
        if self._rank == 0:
            with self._changed:
                self._changed.wait_for(lambda: self._ready or self._closed)
                if self._ready:
                    choice = torch.tensor(min(self._ready), device=self._device)
        dist.broadcast(choice, 0, group=self._group)
        step, layer = choice.tolist()
        return None if step < 0 else (step, layer)

    def _await_ready(self, key: Key) -> torch.Tensor:
        with self._changed:
            self._changed.wait_for(lambda: key in self._ready)
            return self._ready.pop(key)

    def _arrive(self, key: Key, vector: torch.Tensor) -> None:
        seconds = self._latency.of(self._rank, self._count)
        self._count += 1
        if self._latency.holds_link:
            time.sleep(seconds)
            seconds = 0.0
        arrival = time.monotonic() + seconds
        with self._changed:
            self._done[key] = (vector, arrival)
            self._changed.notify_all()
