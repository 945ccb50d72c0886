"""Who is said to hang, and when: the watch over ranks, on a clock that stands still until told."""

import multiprocessing
from types import SimpleNamespace

import pytest

from elastic_consistency.hardware_backend import RanksError
from elastic_consistency.hardware_backend.processes import ranks
from elastic_consistency.hardware_backend.processes.ranks import _Crew

PATIENCE = 40.0
HEARTBEAT = 1.0


class _Process:
    """A process as the crew sees one."""

    exitcode = -9

    def __init__(self) -> None:
        self.killed = False

    def kill(self) -> None:
        self.killed = True

    def join(self, _seconds: float | None = None) -> None: ...


class _Watch:
    """A crew, the other ends of its pipes, and its clock."""

    def __init__(self, monkeypatch, size: int) -> None:
        self.now, self.script, self.said = 0.0, [], {}
        self.rows, self.processes, self._ends = [], [], []
        self.crew = _Crew(size, PATIENCE, self.rows.append)
        monkeypatch.setattr(ranks, "time", SimpleNamespace(monotonic=lambda: self.now))
        monkeypatch.setattr(ranks, "wait", self._wait)
        for _ in range(size):
            mine, theirs = multiprocessing.Pipe()
            self.processes.append(_Process())
            self.crew.add(self.processes[-1], mine)
            self._ends.append(theirs)

    def _wait(self, connections, seconds):
        """Time passes as long as nobody speaks."""
        self.now += seconds
        for number, state in list(self.said.items()):
            message = state(self.now) if callable(state) else state
            if message is not None:
                self._ends[number].send(message)
                if message[0] != "alive":
                    del self.said[number]
        return [connection for connection in connections if connection.poll()]

    def outcome(self, said: dict) -> dict[int, str]:
        """What is said of the ranks, given what each says at every moment."""
        self.said = said
        with pytest.raises(RanksError) as caught:
            self.crew.results()
        return caught.value.failures


@pytest.fixture
def watch(monkeypatch):
    return _Watch(monkeypatch, 3)


WAITING = ("alive", (5, True, 0))


def _working(now: float):
    return "alive", (int(now), False, 0)


def _lost_contact_once(number: int, watch: _Watch):
    """Waits for another rank until that one is killed, and then says so."""

    def speak(_now):
        if watch.processes[number].killed:
            return "error", ("ContactLostError: receiving failed at row 5", "")
        return WAITING

    return speak


def test_a_rank_without_progress_is_named_after_exactly_the_patience(watch):
    stuck = ("alive", (7, False, 0))
    others = _lost_contact_once(2, watch)

    failures = watch.outcome({0: others, 1: others, 2: stuck})

    assert list(failures) == [2, 0, 1]
    assert failures[2] == "hangs: no progress for 40 s at row 7"
    assert failures[0] == failures[1] == "ContactLostError: receiving failed at row 5"
    assert PATIENCE < watch.now <= PATIENCE + 4 * HEARTBEAT
    assert [process.killed for process in watch.processes] == [False, False, True]


def test_a_silent_rank_is_named_although_it_said_that_it_waits(watch):
    others = _lost_contact_once(1, watch)

    failures = watch.outcome({0: others, 1: lambda now: WAITING if now <= 3 else None, 2: others})

    assert failures[1] == "hangs: no sign of life for 40 s, last seen at row 5"
    assert 3 + PATIENCE < watch.now <= 3 + PATIENCE + 4 * HEARTBEAT


def test_ranks_that_all_wait_are_a_deadlock(watch):
    failures = watch.outcome(dict.fromkeys(range(3), WAITING))

    assert failures == dict.fromkeys(range(3), "waits in vain for 40 s at row 5")


def test_ranks_that_wait_for_one_that_works_are_no_deadlock(watch):
    """However long it works: here twenty times the patience."""

    def last(now):
        return _working(now) if now < 20 * PATIENCE else ("error", ("ValueError: at last", ""))

    failures = watch.outcome({0: WAITING, 1: WAITING, 2: last})

    assert next(iter(failures.items())) == (2, "ValueError: at last")


def test_a_rank_that_waits_for_its_time_is_no_deadlock(watch):
    """A nap is a sign of life, as a row is."""

    def napping(now):
        if now > 20 * PATIENCE:
            return "error", ("ValueError: at last", "")
        return "alive", (5, True, int(now))

    failures = watch.outcome(dict.fromkeys(range(3), napping))

    assert set(failures.values()) == {"ValueError: at last"}


def test_the_listener_hears_of_the_slowest_rank_once_all_have_begun(watch):
    """Rank 2 begins late and does two rows a second, the others stand at row 9."""
    stands = ("alive", (9, False, 0))

    def late(now):
        if now > 4:
            return "error", ("ValueError: at last", "")
        return ("alive", (2 * int(now), False, 0)) if now >= 2 else None

    watch.outcome({0: stands, 1: stands, 2: late})

    assert list(dict.fromkeys(watch.rows)) == [4, 6, 8]


def test_survivors_that_say_nothing_are_stopped(watch):
    """They go on working and see nothing of the failure."""
    failures = watch.outcome({0: ("error", ("ValueError: no", "")), 1: _working, 2: _working})

    assert failures == {
        0: "ValueError: no",
        1: "was stopped, since rank 0 had failed",
        2: "was stopped, since rank 0 had failed",
    }
    assert watch.now > ranks._LAST_WORDS


def test_nobody_waits_for_the_last_words_of_the_unborn(watch):
    failures = watch.outcome({0: ("error", ("OSError: port 1 is in use", "")), 1: None, 2: None})

    assert list(failures.values())[1:] == ["was stopped, since rank 0 had failed"] * 2
    assert watch.now <= 2 * HEARTBEAT


def test_a_rank_that_is_never_born_is_noticed(watch):
    failures = watch.outcome({0: WAITING, 1: None, 2: WAITING})

    assert failures[1] == f"gave no sign of life for {ranks._BIRTH + 1:.0f} s"
