"""What people are told who wait: how long it will take, and how much of it is over."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from time import perf_counter
from typing import final

from elastic_consistency.cli.output import progress_bar, say_aside
from elastic_consistency.studies.progress import Progress

_LONG = 2.0  # seconds that nobody minds
_ENOUGH, _SHARE = 0.5, 0.1  # seconds and share of work from which all of it can be told


def announce(
    seconds: float,
    *,
    quiet: bool,
    finished: int = 0,
    foretold: Callable[[], tuple[str, ...]] = tuple,
) -> None:
    """Say how long it will take if it is long, and what it will be able to tell, on stderr.

    Args:
        seconds: All of it, roughly.
        quiet: Say nothing.
        finished: Parts that an interrupted run has left.
        foretold: Says it, a line each.
    """
    if seconds >= _LONG:
        rest = f"; {finished} parts of it are finished already" if finished else ""
        for line in (f"about {float(f'{seconds:.2g}'):g} s{rest}", *foretold()):
            say_aside(line, quiet=quiet)


@contextmanager
def clock_bar(what: str, seconds: float, *, quiet: bool) -> Iterator[None]:
    """A bar that follows the clock, for work that does not say how far it is.

    Args:
        what: What is being done.
        seconds: How long it will take, roughly.
        quiet: Show nothing.
    """
    announce(seconds, quiet=quiet)
    if seconds < _LONG:
        yield
        return
    with progress_bar(quiet=quiet) as progress, _ticking(progress, what, seconds):
        yield


@contextmanager
def measured_bar(*, quiet: bool) -> Iterator[Progress]:
    """A bar for work that says how far it is; its first second tells how long it will take."""
    with progress_bar(quiet=quiet) as progress:
        yield Progress(_Foretelling(progress, quiet=quiet).say)


@final
class _Foretelling:
    """Passes progress on, and says once how long all of it will take if that is long."""

    __slots__ = ("_begin", "_first", "_progress", "_quiet", "_told")

    def __init__(self, progress: Progress, *, quiet: bool) -> None:
        self._progress, self._quiet = progress, quiet
        self._begin, self._told = perf_counter(), False
        self._first: tuple[float, float] | None = None

    def say(self, what: str, done: float) -> None:
        elapsed = perf_counter() - self._begin
        if self._first is None:
            self._first = elapsed, done  # what came before is done once
        taken, share = elapsed - self._first[0], done - self._first[1]
        if not self._told and share > _SHARE and elapsed > _ENOUGH:
            self._told = True
            announce(elapsed + taken * (1 - done) / share, quiet=self._quiet)
        self._progress.say(what, done)


@contextmanager
def _ticking(progress: Progress, what: str, seconds: float) -> Iterator[None]:
    over, begin = Event(), perf_counter()

    def tick() -> None:
        while not over.wait(0.2):
            progress.say(what, min(0.99, (perf_counter() - begin) / seconds))

    clock = Thread(target=tick, daemon=True)
    clock.start()
    try:
        yield
    finally:
        over.set()
        clock.join()
