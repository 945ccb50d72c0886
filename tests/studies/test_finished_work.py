"""Finished parts: found again when nothing changed, and only then."""

import errno
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from elastic_consistency.simulator.delays import LogNormal
from elastic_consistency.studies.comparison.contenders import compare
from elastic_consistency.studies.comparison.runs import run_loss, schedule_of
from elastic_consistency.studies.on_disk import finished_work as module
from elastic_consistency.studies.on_disk.finished_work import FinishedWork, digest_of
from elastic_consistency.studies.progress import Progress


@pytest.fixture
def kept(study, tmp_path):
    """A study whose finished parts are kept."""
    return replace(study, finished=FinishedWork(tmp_path / "parts"))


def _never():
    raise AssertionError("a finished part is computed again")


def test_a_part_is_computed_once(tmp_path):
    finished = FinishedWork(tmp_path)
    made = finished.arrays(("a", 1), lambda: {"x": np.arange(3.0), "y": np.array("text")})

    found = finished.arrays(("a", 1), _never)

    assert (found["x"].tolist(), str(found["y"]), finished.count()) == ([0, 1, 2], "text", 1)
    assert made["x"].tolist() == found["x"].tolist()


def test_a_kept_schedule_is_the_schedule(kept):
    first = schedule_of(kept, kept.contenders[0], 0)

    again = kept.finished.schedule(("unknown",), lambda: first)

    assert schedule_of(kept, kept.contenders[0], 0).digest() == first.digest() == again.digest()
    assert kept.finished.count() == 2


def test_a_kept_run_is_the_run_divergence_included(kept):
    contender = kept.contenders[0]
    schedule = schedule_of(kept, contender, 0)
    for step_size in (0.5, 1e12):
        runs = [run_loss(kept, contender, schedule, step_size, sample_seeds=(3,)) for _ in "ab"]

        assert runs[0].diverged == runs[1].diverged
        for name in ("reached_s", "time_s", "gradients", "loss"):
            assert np.array_equal(*(getattr(run, name) for run in runs), equal_nan=True)
    assert runs[0].diverged is not None


def test_a_comparison_from_kept_parts_is_the_same(kept, study):
    compare(kept, Progress())
    parts = {path.name: path.stat().st_mtime_ns for path in kept.finished.folder.iterdir()}

    again = compare(kept, Progress())

    plain = compare(study, Progress())
    for (found, _), (computed, _) in zip(again, plain, strict=True):
        assert np.array_equal(found.times_s, computed.times_s)
        assert found.digests == computed.digests
    after = {path.name: path.stat().st_mtime_ns for path in kept.finished.folder.iterdir()}
    assert after == parts


@dataclass(frozen=True)
class Own:
    """A class that does not belong to the package."""

    value: float = 1.0


def test_whatever_a_part_depends_on_changes_its_digest(study, monkeypatch):
    other = replace(study.cluster, workers=study.cluster.workers[:3])
    shifted = replace(study.oracle, features=study.oracle.features + 1e-15)
    digests = [
        digest_of(study.cluster),
        digest_of(other),
        digest_of(study.oracle),
        digest_of(shifted),
        digest_of(LogNormal(0.1, 0.25)),
        digest_of(LogNormal(0.1, 0.2500000001)),
        digest_of((1, 2), 3),
        digest_of(1, (2, 3)),
        digest_of(1.0),
        digest_of(1),
        digest_of(Own()),
    ]
    monkeypatch.setattr(module, "_code_of", lambda _: b"another file")
    digests.append(digest_of(Own()))
    monkeypatch.setattr(module, "_code_of_the_package", lambda: b"another version")
    digests.append(digest_of(study.cluster))

    assert len(set(digests)) == len(digests)


class Mode(Enum):
    """A choice."""

    FAST = 1
    SLOW = 2


@dataclass(frozen=True)
class Anything:
    """A class whose field holds whatever a study may give to it."""

    value: Any


def double(x):
    """A function of a module."""
    return 2 * x


def times(factor):
    """A function that has bound a number."""
    return lambda x: factor * x


DIFFERENT = [
    None, True, 1, 1.0, 1j, "1", b"1", Path("1"), Mode.FAST, Mode.SLOW, (1, 2), (2, 1), [1, 2],
    {"a": 1}, {"a": 2}, {1: "a", "b": 2}, frozenset({1, 2}), np.arange(3), np.arange(3.0),
    np.float32(1), Own(), Own(2.0), Anything(Own()), Anything((Own(), Mode.SLOW)), Own, LogNormal,
    double, times, times(2), times(3), partial(double, 1), partial(double, 2), abs, range(3),
]  # fmt: skip


def test_whatever_fits_a_field_has_a_digest_of_its_own():
    digests = [digest_of(Anything(value)) for value in DIFFERENT]

    assert len(set(digests)) == len(DIFFERENT)
    assert digests == [digest_of(Anything(value)) for value in DIFFERENT]
    assert digest_of(times(2)) == digest_of(times(2))  # two functions, one value


@pytest.mark.parametrize("value", [object(), np.random.default_rng(0), iter(())])
def test_a_value_without_a_digest_is_refused_by_the_name_of_its_field(value):
    with pytest.raises(TypeError, match=r"^Anything\.value must be a value that can be told apart"):
        digest_of(Own(), (Anything(value),))


def test_what_cannot_be_kept_is_refused_before_anything_runs(study, tmp_path):
    own = replace(study.contenders[0], protocol=Anything(object()))
    unkept = replace(study, contenders=(own,))

    with pytest.raises(TypeError, match=r"^Anything\.value must be a value that can be told apart"):
        replace(unkept, finished=FinishedWork(tmp_path))


def test_a_full_disk_leaves_no_half_of_a_part(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    finished = FinishedWork(tmp_path / "parts")
    finished.arrays(("a",), lambda: {"x": np.zeros(2)})
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", full)
        with pytest.raises(OSError, match="No space left"):
            finished.arrays(("b",), lambda: {"x": np.ones(2)})

    assert [path.suffix for path in finished.folder.iterdir()] == [".npz"]
    assert finished.arrays(("a",), _never)["x"].tolist() == [0, 0]


def test_nothing_is_left_when_all_is_finished(kept):
    schedule_of(kept, kept.contenders[0], 0)

    kept.finished.clear()

    assert kept.finished.count() == 0
    assert not kept.finished.folder.exists()
