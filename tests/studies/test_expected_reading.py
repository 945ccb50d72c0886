"""Work on large files is foretold from a small piece of it."""

import errno
import gzip
from itertools import count

import pyarrow
import pytest
from pyarrow import parquet

from elastic_consistency.simulator import Cluster, Until, Worker, simulate
from elastic_consistency.simulator.delays import Constant
from elastic_consistency.simulator.protocols import AsynchronousServer
from elastic_consistency.studies import expected_reading
from elastic_consistency.studies.expected_reading import seconds_of_rows, seconds_of_traces
from elastic_consistency.studies.traces.step_tables import read_table


@pytest.fixture
def seconds_pass(monkeypatch):
    """Each look at the clock is a second later."""
    clock = count()
    monkeypatch.setattr(expected_reading, "perf_counter", lambda: float(next(clock)))


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "schedule.parquet"
    cluster = Cluster((Worker(Constant(0.1)),) * 2)
    simulate(AsynchronousServer(), cluster, until=Until(jobs=50), seed=0).save(path)
    return path


def test_short_schedules_and_other_files_are_not_worth_a_word(saved, tmp_path):
    other = tmp_path / "other.parquet"
    other.write_text("no parquet")

    assert seconds_of_rows((saved, other, tmp_path / "none.parquet"), len) == 0


def test_seconds_grow_with_the_rows(saved, monkeypatch, seconds_pass):
    """The pilot takes one second: two files take twice as long as one."""
    monkeypatch.setattr(expected_reading, "_LARGE_ROWS", 1)
    pilots = []

    one = seconds_of_rows((saved,), pilots.append)
    two = seconds_of_rows((saved, saved), pilots.append)

    assert two == pytest.approx(2 * one)
    assert one == pytest.approx(expected_reading._rows_in(saved) / len(pilots[0].rows))


def test_without_room_for_a_trial_nothing_is_foretold(saved, monkeypatch):
    """Work that needs no room must not fail for want of it."""
    monkeypatch.setattr(expected_reading, "_LARGE_ROWS", 1)

    def without_room(_pilot):
        raise OSError(errno.ENOSPC, "no room")

    assert seconds_of_rows((saved,), without_room) == 0


def test_the_first_megabyte_of_a_trace_tells_of_the_rest(tmp_path, monkeypatch, seconds_pass):
    """One second for the head: a file of four heads takes four."""
    path = tmp_path / "trace.json"
    path.write_text('{"traceEvents": [' + ", ".join(['{"ph": "X"}'] * 1000) + "]}")
    monkeypatch.setattr(expected_reading, "_LARGE_BYTES", 100)
    monkeypatch.setattr(expected_reading, "_PILOT_CHARACTERS", path.stat().st_size // 4)

    assert seconds_of_traces([path], len) == pytest.approx(4, rel=0.01)
    assert seconds_of_traces([tmp_path / "steps.csv"], len) == 0


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".parquet"])
def test_two_pieces_of_a_table_tell_of_the_rest(tmp_path, monkeypatch, ending):
    """Work that takes 10 s a file and 1 s for 100 rows takes 90 s for 8,000 rows."""
    path, rows = tmp_path / f"steps{ending}", 8_000
    _write(path, rows)
    clock = [0.0]

    def work(piece):
        clock[0] += 10 + read_table(piece).tally.read / 100

    monkeypatch.setattr(expected_reading, "perf_counter", lambda: clock[0])
    monkeypatch.setattr(expected_reading, "_LARGE_BYTES", 1)
    monkeypatch.setattr(expected_reading, "_PIECES", (2_000, 20_000))

    assert seconds_of_traces([path], work) == pytest.approx(90, rel=0.01)


def test_a_table_that_cannot_be_read_is_left_to_the_reader(tmp_path, monkeypatch):
    monkeypatch.setattr(expected_reading, "_LARGE_BYTES", 1)
    path = tmp_path / "steps.parquet"
    path.write_text("no parquet")

    assert seconds_of_traces([path], len) == 0


def _write(path, rows):
    """Rows that all have the same length."""
    if path.suffix == ".parquet":
        table = {"worker": [7] * rows, "seconds": [0.25] * rows}
        parquet.write_table(pyarrow.table(table), path)
        return
    text = "worker,seconds\n" + "7,0.25\n" * rows
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
