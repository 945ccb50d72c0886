"""Workers on one device compute side by side, and nobody uses a gradient that is not finished."""

from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from recorded_schedules import all_reduce

from elastic_consistency.execution import Executor, execute
from elastic_consistency.execution.executor import records_of
from elastic_consistency.hardware_backend import worker_streams
from elastic_consistency.hardware_backend.worker_streams import WorkerStreams
from elastic_consistency.optimization.update_rules import SGD
from elastic_consistency.schedule import Op


class _Stream:
    """A stream that writes down who waits for whom."""

    def __init__(self, told: list, name: str) -> None:
        self._told, self.name = told, name

    def wait_stream(self, other) -> None:
        self._told.append(("wait", self.name, other.name))


@pytest.fixture
def told(monkeypatch):
    """What a device module is told: waits, and on which stream a gradient is computed."""
    told, names = [], iter("ABCDEF")
    main = _Stream(told, "main")
    current = [main]

    @contextmanager
    def stream(chosen):
        current.append(chosen)
        yield
        current.pop()

    module = SimpleNamespace(
        Stream=lambda: _Stream(told, next(names)),
        current_stream=lambda: current[-1],
        stream=stream,
    )
    fake = SimpleNamespace(get_device_module=lambda device: module, Tensor=torch.Tensor)
    monkeypatch.setattr(worker_streams, "torch", fake)
    told.append(current)
    return told


class _Watched:
    """An oracle that writes down on which stream it computes."""

    draws_per_job = 0

    def __init__(self, told: list) -> None:
        self._told, self._current = told, told.pop()

    def gradient(self, view, draws, worker):
        self._told.append(("gradient", worker, self._current[-1].name))
        return view


def test_gradients_overlap_until_each_is_encoded(told):
    """Three workers of an all-reduce: no wait between their gradients, one before each ENCODE."""
    streams = WorkerStreams(_Watched(told), torch.device("cpu"))
    rows = [(Op.GRADIENT, w) for w in range(3)] + [(Op.ENCODE, w) for w in (2, 0, 1)]

    for op, worker in streams.joined(rows):
        if op == Op.GRADIENT:
            streams.gradient(torch.zeros(1, 2), np.zeros((1, 0)), worker)
        else:
            told.append(("encode", worker))

    assert told == [
        ("wait", "A", "main"), ("gradient", 0, "A"),
        ("wait", "B", "main"), ("gradient", 1, "B"),
        ("wait", "C", "main"), ("gradient", 2, "C"),
        ("wait", "main", "C"), ("encode", 2),
        ("wait", "main", "A"), ("encode", 0),
        ("wait", "main", "B"), ("encode", 1),
    ]  # fmt: skip


def test_a_worker_keeps_its_stream_and_its_view_until_the_end_of_its_job(told):
    streams = WorkerStreams(_Watched(told), torch.device("cpu"))
    view = torch.zeros(1, 2)

    for _ in range(2):
        streams.gradient(view, np.zeros((1, 0)), 4)
        assert streams._read[4] is view
        list(streams.joined([(Op.ENCODE, 4)]))
        assert 4 not in streams._read

    assert [event[2] for event in told if event[0] == "gradient"] == ["A", "A"]


def test_a_second_block_of_a_job_waits_no_more(told):
    streams = WorkerStreams(_Watched(told), torch.device("cpu"))
    streams.gradient(torch.zeros(1, 2), np.zeros((1, 0)), 0)
    told.clear()

    list(streams.joined([(Op.ENCODE, 0), (Op.ENCODE, 0)]))

    assert told == [("wait", "main", "A")]


def test_streams_of_a_cpu_change_no_bit(quadratic):
    schedule, start = all_reduce(4, 6), torch.tensor(quadratic.start())[None]
    expected = execute(schedule, quadratic, SGD(0.3), seeds=(0,), start=start)
    streams = WorkerStreams(quadratic, torch.device("cpu"))
    executor = Executor(schedule.metadata, streams, SGD(0.3), seeds=(0,), start=start)

    executor.follow(streams.joined(records_of(schedule.rows, [0] * len(schedule.rows))))

    for replica, model in enumerate(expected.models):
        assert torch.equal(executor.model(replica), model)
