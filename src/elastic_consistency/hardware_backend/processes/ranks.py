"""Processes that are ranks: start them, watch them, collect results, leave none behind."""

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import forkserver, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, final

from elastic_consistency.hardware_backend.processes.failures import RanksError
from elastic_consistency.hardware_backend.processes.invitation import Invitation, enter

_PRELOADED = [
    "elastic_consistency.hardware_backend.processes.orphans",
    "elastic_consistency.hardware_backend.processes.rank_process",
    "elastic_consistency.hardware_backend.rank_replay",
    "elastic_consistency.hardware_backend.live.rank_live",
    "elastic_consistency.hardware_backend.elastic",
]
_LAST_WORDS = 5.0  # s that ranks get to say what they saw once one of them has failed
_DEATH = 60.0  # s from the end of a rank's connection to its exit status
_BIRTH = 120.0  # s until the first sign of life


def run_ranks(
    task: Callable[..., Any],
    arguments: Sequence[Any],
    *,
    timeout: float = 60.0,
    backend: str = "gloo",
    port: int = 0,
    listener: Callable[[int], None] = lambda _row: None,
) -> list[Any]:
    """Run `task(rank, argument)` in one process a rank, and return what each returned.

    The processes stem from a fork server that has torch loaded already. In a script, call this
    under `if __name__ == "__main__"`.

    Args:
        task: A function that can be imported by its name.
        arguments: One a rank.
        timeout: Seconds without progress after which a rank that waits for nobody, or all
            ranks together, are said to hang; longer than the longest single gradient.
        backend: Of torch.distributed.
        port: Port on this machine through which the ranks meet, 0 for any free one.
        listener: Told now and then the row that every rank has reached, see `Progress.row`.

    Raises:
        RanksError: If a rank fails, is killed or hangs. All others are stopped by then.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_PRELOADED)
    start_fork_server()
    crew = _Crew(len(arguments), timeout, listener)
    try:
        for number, argument in enumerate(arguments):
            mine, theirs = context.Pipe()
            invitation = Invitation(number, len(arguments), port, backend, min(1.0, timeout / 4))
            process = context.Process(
                target=enter, args=(theirs, invitation, task, argument), daemon=True
            )
            with _interrupts_later():  # until it is known to those who end it
                process.start()
                theirs.close()
                crew.add(process, mine)
        return crew.results()
    finally:
        crew.dismiss()


def start_fork_server() -> None:
    """Start it deaf to Ctrl-C, as all of its children are: that is for us, who end them."""
    resource_tracker.ensure_running()  # before, since it ends by letting Ctrl-C through
    with _interrupts_later():
        forkserver.ensure_running()


@contextmanager
def _interrupts_later() -> Iterator[None]:
    """Ctrl-C waits: a process that loses its parent while it is born complains at length."""
    if os.name != "posix":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@final
class _Member:
    """What the parent knows of one rank."""

    def __init__(self, process: BaseProcess, connection: Connection) -> None:
        self.process, self.connection = process, connection
        self.state: tuple[int, bool, int] | None = None
        self.heard = self.moved = time.monotonic()

    def hear(self, state: tuple[int, bool, int]) -> None:
        self.heard = time.monotonic()
        if state != self.state:
            self.state, self.moved = state, self.heard

    def complaint(self, timeout: float) -> str | None:
        """Why this rank is said to hang, if it is."""
        now = time.monotonic()
        if self.state is None:
            late = now - self.heard > max(timeout, _BIRTH)
            return f"gave no sign of life for {now - self.heard:.0f} s" if late else None
        if now - self.heard > timeout:
            return f"hangs: no sign of life for {timeout:g} s, last seen {self._where()}"
        if not self.state[1] and now - self.moved > timeout:
            return f"hangs: no progress for {timeout:g} s {self._where()}"
        return None

    def stuck(self, timeout: float) -> str | None:
        """Why this rank is part of a deadlock, if it may be."""
        now = time.monotonic()
        if self.state is None or not self.state[1] or now - self.moved < timeout:
            return None
        if now - self.heard > timeout / 2:
            return None  # nobody knows what it does; its own silence will be told
        return f"waits in vain for {timeout:g} s {self._where()}"

    def _where(self) -> str:
        row = -1 if self.state is None else self.state[0]
        return f"at row {row}" if row >= 0 else "before the first row"


@final
class _Crew:
    """All ranks of one run."""

    def __init__(self, size: int, timeout: float, listener: Callable[[int], None]) -> None:
        self._size, self._timeout, self._listener = size, timeout, listener
        self._members: dict[int, _Member] = {}
        self._results: dict[int, Any] = {}
        self._failures: dict[int, str] = {}
        self._details: dict[int, str] = {}
        self._deadline = float("inf")

    def add(self, process: BaseProcess, connection: Connection) -> None:
        self._members[len(self._members)] = _Member(process, connection)

    def results(self) -> list[Any]:
        """What every rank returned.

        Raises:
            RanksError: If one of them failed.
        """
        while open_ranks := self._open():
            connections = [self._members[k].connection for k in open_ranks]
            ready = wait(connections, min(1.0, self._timeout / 8))
            for number in open_ranks:
                if self._members[number].connection in ready:
                    self._listen(number)
            self._look_for_hanging_ranks()
            if self._nobody_will_speak():
                break
        if self._failures:
            first = next(iter(self._failures))
            for number in self._open():
                self._failures[number] = f"was stopped, since rank {first} had failed"
            raise self._error()
        self._let_go()
        return [self._results[number] for number in range(self._size)]

    def _nobody_will_speak(self) -> bool:
        """After a failure: whether time is up, or those left have not begun and saw nothing."""
        unborn = all(self._members[number].state is None for number in self._open())
        return bool(self._failures) and (unborn or time.monotonic() > self._deadline)

    def _let_go(self) -> None:
        for member in self._members.values():
            with suppress(OSError):
                member.connection.send("leave")
        for member in self._members.values():
            member.process.join(_LAST_WORDS)

    def dismiss(self) -> None:
        """End whatever still runs."""
        for member in self._members.values():
            if member.process.is_alive():
                member.process.kill()  # all, before one of them misses another and says so
        for member in self._members.values():
            member.process.join()
            member.process.close()
            member.connection.close()

    def _error(self) -> RanksError:
        error = RanksError(self._failures, self._size)
        for number, text in self._details.items():
            error.add_note(f"rank {number}: {text}")
        return error

    def _open(self) -> list[int]:
        closed = self._results.keys() | self._failures.keys()
        return [number for number in self._members if number not in closed]

    def _listen(self, number: int) -> None:
        member = self._members[number]
        try:
            kind, content = member.connection.recv()
        except (EOFError, OSError):
            member.process.join(_DEATH)
            self._fail(number, _epitaph(member.process.exitcode))
            return
        if kind == "alive":
            member.hear(content)
            self._tell()
        elif kind == "port":
            self._pass_on(content)
        elif kind == "result":
            self._results[number] = content
        else:
            self._details[number] = content[1]
            self._fail(number, content[0])

    def _tell(self) -> None:
        rows = [-1 if m.state is None else m.state[0] for m in self._members.values()]
        if (row := min(rows)) >= 0:
            self._listener(row)

    def _pass_on(self, port: int) -> None:
        for number, member in self._members.items():
            if number > 0 and number not in self._failures:
                member.connection.send(port)

    def _look_for_hanging_ranks(self) -> None:
        open_ranks = self._open()
        for number in open_ranks:
            complaint = self._members[number].complaint(self._timeout)
            if complaint:
                self._fail(number, complaint)
                # Its death breaks its connections, so that those who wait for it notice.
                self._members[number].process.kill()
        stuck = {number: self._members[number].stuck(self._timeout) for number in open_ranks}
        if open_ranks and not self._failures and all(stuck.values()):
            for number, text in stuck.items():
                self._fail(number, str(text))

    def _fail(self, number: int, text: str) -> None:
        self._failures[number] = text
        self._deadline = min(self._deadline, time.monotonic() + _LAST_WORDS)


def _epitaph(exitcode: int | None) -> str:
    if exitcode is not None and exitcode < 0:
        return f"was killed by {signal.Signals(-exitcode).name}"
    return f"ended without a word, exit status {exitcode}"
