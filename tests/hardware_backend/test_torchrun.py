"""Replay in processes that somebody else started, as torchrun does."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from recorded_schedules import all_reduce

from elastic_consistency.execution import execute
from elastic_consistency.hardware_backend.torchrun import replay_under_torchrun
from elastic_consistency.optimization.update_rules import SGD

SCRIPT = Path(__file__).parent / "torchrun_script.py"


def _environment() -> dict[str, str]:
    path = os.pathsep.join([str(SCRIPT.parent), *sys.path])
    return os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}


def _start(folder: Path, rounds: tuple[int, ...]) -> list[subprocess.Popen]:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = str(probe.getsockname()[1])
    variables = {"WORLD_SIZE": str(len(rounds)), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    return [
        subprocess.Popen(
            [sys.executable, str(SCRIPT), str(folder), str(count)],
            env=_environment() | variables | {"RANK": str(rank)},
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank, count in enumerate(rounds)
    ]


def test_every_rank_gets_the_whole_result(tmp_path, quadratic):
    expected = execute(all_reduce(3, 5), quadratic, SGD(0.3), seeds=(4, 5))

    ranks = _start(tmp_path, (5, 5))
    told = [rank.communicate(timeout=100)[1] for rank in ranks]

    assert [rank.returncode for rank in ranks] == [0, 0], told
    results = [np.load(path) for path in tmp_path.iterdir()]
    assert len(results) == 2
    for models in results:
        assert np.allclose(models, np.stack(expected.models), rtol=1e-12, atol=0)


def test_ranks_that_loaded_different_schedules_all_say_so(tmp_path):
    ranks = _start(tmp_path, (5, 6))
    told = [rank.communicate(timeout=100)[1] for rank in ranks]

    assert all("MismatchError: All ranks must have the same order" in text for text in told)
    assert list(tmp_path.iterdir()) == []


def test_without_torchrun_the_missing_variables_are_named(quadratic, monkeypatch):
    for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MASTER_PORT", "1")

    with pytest.raises(ValueError, match=r"needs \['RANK', 'WORLD_SIZE', 'MASTER_ADDR'\]"):
        replay_under_torchrun(all_reduce(3, 1), quadratic, SGD(0.3), seeds=(0,))


@pytest.mark.slow
def test_torchrun_itself_runs_the_script(tmp_path):
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]

    run = subprocess.run(
        [*command, str(SCRIPT), str(tmp_path), "5"],
        env=_environment(),
        capture_output=True,
        text=True,
        timeout=200,
    )

    assert run.returncode == 0, run.stderr
    assert len(list(tmp_path.iterdir())) == 2
