"""Replay in processes that somebody else started, as torchrun does."""

import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from recorded_schedules import all_reduce

from elastic_consistency.execution import execute
from elastic_consistency.hardware_backend import torchrun
from elastic_consistency.hardware_backend.torchrun import replay_under_torchrun
from elastic_consistency.optimization.compression import ErrorFeedback, TopK
from elastic_consistency.optimization.update_rules import SGD

SCRIPT = Path(__file__).parent / "torchrun_script.py"


def _environment() -> dict[str, str]:
    path = os.pathsep.join([str(SCRIPT.parent), *sys.path])
    return os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}


def _run(folder: Path, port: int, rounds: tuple[int, ...], *more: str) -> list[tuple[int, str]]:
    """Exit status and stderr of each rank."""
    variables = {"WORLD_SIZE": str(len(rounds)), "MASTER_ADDR": "127.0.0.1"}
    variables |= {"MASTER_PORT": str(port)}
    ranks = [
        subprocess.Popen(
            [sys.executable, str(SCRIPT), str(folder), str(count), *more],
            env=_environment() | variables | {"RANK": str(rank)},
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank, count in enumerate(rounds)
    ]
    try:
        told = [rank.communicate()[1] for rank in ranks]
    finally:
        for rank in ranks:
            rank.kill()
    return [(rank.returncode, text) for rank, text in zip(ranks, told, strict=True)]


def test_every_rank_gets_the_whole_result(tmp_path, quadratic, free_port):
    expected = execute(all_reduce(3, 5), quadratic, SGD(0.3), seeds=(4, 5))

    ended = _run(tmp_path, free_port, (5, 5))

    assert [status for status, _ in ended] == [0, 0], ended
    results = [np.load(path) for path in tmp_path.iterdir()]
    assert len(results) == 2
    for models in results:
        assert np.allclose(models, np.stack(expected.models), rtol=1e-12, atol=0)


def test_a_codec_and_ordered_sums_have_the_bits_of_one_process(tmp_path, quadratic, free_port):
    codec = ErrorFeedback(TopK(4))
    expected = execute(all_reduce(3, 5), quadratic, SGD(0.3), codec=codec, seeds=(4, 5))

    ended = _run(tmp_path, free_port, (5, 5), "compressed")

    assert [status for status, _ in ended] == [0, 0], ended
    for path in tmp_path.iterdir():
        assert np.array_equal(np.load(path), np.stack(expected.models))


def test_ranks_that_loaded_different_schedules_all_say_so(tmp_path, free_port):
    ended = _run(tmp_path, free_port, (5, 6))

    assert all("MismatchError: All ranks must have the same order" in text for _, text in ended)
    assert list(tmp_path.iterdir()) == []


def test_without_torchrun_the_missing_variables_are_named(quadratic, monkeypatch):
    for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MASTER_PORT", "1")

    with pytest.raises(ValueError, match=r"needs \['RANK', 'WORLD_SIZE', 'MASTER_ADDR'\]"):
        replay_under_torchrun(all_reduce(3, 1), quadratic, SGD(0.3), seeds=(0,))


def test_an_option_that_does_not_exist_is_named(quadratic, monkeypatch):
    for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setattr(torchrun, "_joined", lambda *_: nullcontext())
    monkeypatch.setattr(torchrun, "replay_rank", lambda *_: pytest.fail("it began all the same"))

    with pytest.raises(TypeError, match=r"unknown options \['odered'\]"):
        replay_under_torchrun(all_reduce(1, 1), quadratic, SGD(0.3), seeds=(0,), odered=True)


@pytest.mark.slow
def test_torchrun_itself_runs_the_script(tmp_path):
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]

    run = subprocess.run(
        [*command, str(SCRIPT), str(tmp_path), "5"],
        env=_environment(),
        capture_output=True,
        text=True,
    )

    assert run.returncode == 0, run.stderr
    assert len(list(tmp_path.iterdir())) == 2
