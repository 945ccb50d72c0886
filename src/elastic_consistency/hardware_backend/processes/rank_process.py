"""The life of one rank: it joins the others, does its task, and says how that went."""

import os
import socket
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from multiprocessing.connection import Connection
from typing import Any, final

import torch
import torch.distributed as dist

from elastic_consistency.hardware_backend.processes.failures import MismatchError
from elastic_consistency.hardware_backend.processes.invitation import Invitation

ADDRESS = "127.0.0.1"
_UNATTENDED = timedelta(hours=12)  # the parent notices who hangs long before the transport does


@final
class Progress:
    """Where a rank stands; its main thread writes, its messenger thread reads.

    Attributes:
        row: Row of the schedule, or any other number that grows with the work.
        waiting: Whether it waits for another rank, or for its time to come.
        naps: How often it has waited for its time; a rank that only naps is alive.
    """

    __slots__ = ("naps", "row", "waiting")

    def __init__(self) -> None:
        self.row, self.waiting, self.naps = -1, False, 0

    def state(self) -> tuple[int, bool, int]:
        """All of it, for the parent."""
        return self.row, self.waiting, self.naps


@final
@dataclass(frozen=True, slots=True, eq=False)
class Rank:
    """What a task knows of the rank that it runs on.

    Attributes:
        number: 0 to size - 1.
        size: Number of ranks.
        store: Key-value store that all ranks share.
        progress: Where the rank stands.
    """

    number: int
    size: int
    store: Any
    progress: Progress

    def agree(self, what: str, fingerprint: str) -> None:
        """Make sure that all ranks have the same fingerprint.

        Raises:
            MismatchError: On every rank, if one of them differs.
        """
        self.progress.waiting = True
        self.store.set(f"{what}/{self.number}", fingerprint)
        theirs = [self.store.get(f"{what}/{k}").decode() for k in range(self.size)]
        self.store.set(f"{what}-read/{self.number}", "")
        if self.number == 0:
            # Rank 0 may serve the store: it must not go before all others have read.
            self.store.wait([f"{what}-read/{k}" for k in range(self.size)])
        self.progress.waiting = False
        if len(set(theirs)) > 1:
            told = ", ".join(f"rank {k}: {text[:60]}" for k, text in enumerate(theirs))
            raise MismatchError(f"All ranks must have the same {what}, got {told}.")


def live(
    connection: Connection, invitation: Invitation, task: Callable[..., Any], argument: Any
) -> None:
    """Entry point of the process; every message to the parent is a (kind, content) pair."""
    torch.set_num_threads(1)
    os.environ.setdefault("GLOO_SOCKET_IFNAME", _loopback())
    progress = Progress()
    messenger = _Messenger(connection, progress)
    try:
        store = _meet(messenger, invitation)
        progress.waiting = True
        messenger.start(invitation.heartbeat)
        dist.init_process_group(
            invitation.backend,
            store=dist.PrefixStore("group", store),
            rank=invitation.number,
            world_size=invitation.size,
            timeout=_UNATTENDED,
        )
        progress.waiting = False
        rank = Rank(invitation.number, invitation.size, dist.PrefixStore("task", store), progress)
        result = task(rank, argument)
        progress.waiting = True
        messenger.send("result", result)
        # Nobody tears its connections down, nor the store, while another rank needs them.
        messenger.await_leave()
        dist.destroy_process_group()
    except BaseException as error:  # noqa: BLE001  (whatever it is, the parent must hear of it)
        with suppress(OSError):  # the parent may be gone
            messenger.send("error", (_told(error), traceback.format_exc()))
        # Destructors of a broken process group may wait for ranks that are gone.
        os._exit(1)


def _told(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def _meet(messenger: "_Messenger", invitation: Invitation) -> Any:
    """The shared store: rank 0 serves it and tells the others its port through the parent."""
    first = invitation.number == 0
    try:
        if first:
            store = _store(invitation.port, serves=True)
            messenger.send("port", store.port)
            return store
        port = messenger.receive()
        return _store(port, serves=False)
    except dist.DistNetworkError as error:
        if "EADDRINUSE" in str(error):
            raise OSError(f"port {invitation.port} on {ADDRESS} is in use") from error
        raise


def _store(port: int, *, serves: bool) -> Any:
    return dist.TCPStore(
        ADDRESS, port, is_master=serves, timeout=_UNATTENDED, wait_for_workers=False
    )


def _loopback() -> str:
    names = [name for _, name in socket.if_nameindex()]
    return next((name for name in names if name.startswith("lo")), names[0])


@final
class _Messenger:
    """Talks to the parent: signs of life while it lives, an end of this process when it dies."""

    def __init__(self, connection: Connection, progress: Progress) -> None:
        self._connection, self._progress = connection, progress
        self._lock = threading.Lock()
        self._leave = threading.Event()

    def send(self, kind: str, content: Any) -> None:
        with self._lock:
            self._connection.send((kind, content))

    def receive(self) -> Any:
        return self._connection.recv()

    def await_leave(self) -> None:
        """Wait until all ranks have handed in their results."""
        self._leave.wait()

    def start(self, heartbeat: float) -> None:
        threading.Thread(target=self._talk, args=(heartbeat,), daemon=True).start()

    def _talk(self, heartbeat: float) -> None:
        try:
            self._show_life()
            while not self._connection.poll(heartbeat):
                self._show_life()
            self._connection.recv()  # the permission to leave, or the end of the parent
            self._leave.set()
        except (EOFError, OSError):
            os._exit(1)

    def _show_life(self) -> None:
        self.send("alive", self._progress.state())
