"""Whatever goes wrong in a rank is said clearly and soon, and no process is left behind."""

import os
import re
import socket
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from multiprocessing.reduction import ForkingPickler
from pathlib import Path

import numpy as np
import psutil
import pytest
from faulty_tasks import Sabotage, misbehave, number_squared
from recorded_schedules import all_reduce, asynchronous_server

from elastic_consistency.hardware_backend import Placement, RanksError, replay, run_ranks
from elastic_consistency.hardware_backend.order import Order
from elastic_consistency.hardware_backend.replay import _replay_part
from elastic_consistency.optimization.compression import TopK
from elastic_consistency.optimization.oracles import Quadratic
from elastic_consistency.optimization.update_rules import SGD

SCHEDULES = {"server": asynchronous_server(4, 40), "all-reduce": all_reduce(4, 12)}
PATIENCE = 4.0

pytestmark = pytest.mark.usefixtures("no_process_left")


def test_results_come_back_by_rank():
    assert run_ranks(number_squared, [3, 5, 7]) == [(0, 9), (1, 25), (2, 49)]


@pytest.mark.usefixtures("long_last_words")
@pytest.mark.parametrize("name", SCHEDULES)
def test_a_killed_rank_gives_an_error_on_all_others(quadratic, name):
    sabotage = Sabotage(quadratic, "kill", worker=0)

    with pytest.raises(RanksError) as caught:
        replay(SCHEDULES[name], sabotage, SGD(0.1), seeds=(0,), ranks=3)

    failures = caught.value.failures
    assert set(failures) == {0, 1, 2}
    assert failures[1] == "was killed by SIGKILL"
    for rank in (0, 2):
        assert failures[rank].startswith("ContactLostError: ")
        assert "at row" in failures[rank]


@pytest.mark.parametrize("deed", ["sleep", "stop"])
def test_a_hanging_rank_ends_the_run_after_the_patience(quadratic, deed):
    """Asleep in a gradient, or stopped by the system with its threads.

    A machine that is loaded enough may make another rank hang first; test_crew says who is named.
    """
    sabotage = Sabotage(quadratic, deed, worker=1)

    with pytest.raises(RanksError) as caught:
        replay(SCHEDULES["all-reduce"], sabotage, SGD(0.1), seeds=(0,), ranks=3, timeout=PATIENCE)

    failures = list(caught.value.failures.values())
    assert len(failures) == 3
    assert re.match(f"hangs: no .* for {PATIENCE:g} s", failures[0])
    others = r"ContactLostError: |hangs: no |was stopped, since rank \d had failed"
    assert all(re.match(others, text) for text in failures[1:])


def test_an_error_in_one_rank_is_told_with_its_own_words(quadratic):
    sabotage = Sabotage(quadratic, "fail", worker=2)

    with pytest.raises(RanksError, match="the gradient is not to be had") as caught:
        replay(SCHEDULES["server"], sabotage, SGD(0.1), seeds=(0,), ranks=4)

    assert any("faulty_tasks.py" in note for note in caught.value.__notes__)


def test_ranks_that_all_wait_in_vain_are_noticed():
    with pytest.raises(RanksError, match=f"(waits in vain|hangs: no .*) for {PATIENCE:g} s"):
        run_ranks(misbehave, ["", ""], timeout=PATIENCE)


def test_a_rank_that_ends_without_a_word_is_noticed():
    with pytest.raises(RanksError) as caught:
        run_ranks(misbehave, ["kill", ""])

    assert caught.value.failures[0] == "was killed by SIGKILL"
    assert 1 in caught.value.failures


def test_a_divergence_names_replica_and_step(quadratic):
    with pytest.raises(RanksError, match="DivergenceError: Replica 0 is not finite"):
        replay(asynchronous_server(2, 2000), quadratic, SGD(1e6), seeds=(0,), ranks=2)


def test_a_port_in_use_is_named():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        with pytest.raises(RanksError, match=f"port {port} on 127.0.0.1 is in use"):
            run_ranks(number_squared, [1, 2], port=port)


def test_a_free_port_can_be_chosen(free_port):
    assert run_ranks(number_squared, [1, 2], port=free_port) == [(0, 1), (1, 4)]


def _order(schedule, oracle) -> Order:
    return Order(schedule, oracle, SGD(0.1), None, (0,), Placement(2), "cpu", "float64", False)


@pytest.mark.usefixtures("long_last_words")
def test_ranks_with_different_schedules_refuse_to_start(quadratic):
    orders = [_order(SCHEDULES["server"], quadratic), _order(asynchronous_server(4, 41), quadratic)]

    with pytest.raises(RanksError, match="must have the same order") as caught:
        run_ranks(_replay_part, orders)

    texts = list(caught.value.failures.values())
    assert len(texts) == 2
    assert all(order.schedule.digest()[:12] in text for order in orders for text in texts)


def test_ranks_with_different_problems_refuse_to_start(quadratic):
    other = replace(quadratic, initial=quadratic.start() * 2)
    orders = [_order(SCHEDULES["server"], quadratic), _order(SCHEDULES["server"], other)]

    with pytest.raises(RanksError, match="MismatchError"):
        run_ranks(_replay_part, orders)


OTHER = {
    "oracle": Quadratic(np.linspace(0.1, 1.1, 12), variance=0.5),  # that of the tests ends at 1
    "schedule": SCHEDULES["all-reduce"],
    "rule": SGD(0.2),
    "codec": TopK(2),
    "seeds": (1,),
    "placement": Placement(2, explicit=(1, 0, 0, 0, 0)),
    "dtype": "float32",
    "ordered": True,
    "pace": 0.5,
}


@pytest.mark.parametrize("field", OTHER)
def test_ranks_that_differ_in_any_point_have_different_fingerprints(quadratic, field):
    order = _order(SCHEDULES["server"], quadratic)

    assert replace(order, **{field: OTHER[field]}).fingerprint() != order.fingerprint()
    assert replace(order).fingerprint() == order.fingerprint()


def test_ranks_die_with_their_parent(tmp_path):
    """Nobody cleans up after a parent that is killed; the ranks notice by themselves."""
    script, pids = tmp_path / "parent.py", tmp_path / "pids"
    script.write_text(
        textwrap.dedent(f"""
        from faulty_tasks import hang_for_ever
        from elastic_consistency.hardware_backend import run_ranks
        if __name__ == "__main__":
            run_ranks(hang_for_ever, [{str(pids)!r}] * 3, timeout=500)
        """)
    )
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    with subprocess.Popen(
        [sys.executable, str(script)], env=os.environ | {"PYTHONPATH": path}
    ) as parent:
        try:
            _until(lambda: pids.exists() and pids.read_text().count("\n") == 3)
        finally:
            parent.kill()
    born = [int(pid) for pid in pids.read_text().split()]

    _until(lambda: not any(_lives(pid) for pid in born))


@pytest.mark.parametrize("bytes_sent", [0, 1, 40, 4000])
def test_a_rank_whose_parent_is_killed_while_it_is_born_ends_without_a_word(bytes_sent):
    """It is a process that reads from its parent what it shall do, and gets half of it."""
    script = (
        "import sys\n"
        "import elastic_consistency.hardware_backend.processes.orphans\n"
        "from multiprocessing import spawn\n"
        "spawn._main(sys.stdin.fileno(), None)\n"
    )
    half = bytes(ForkingPickler.dumps({"dir": "x" * 5000}))[:bytes_sent]

    born = subprocess.run([sys.executable, "-c", script], input=half, capture_output=True)

    assert (born.returncode, born.stderr) == (1, b"")


def test_other_errors_of_a_rank_that_is_born_are_shown():
    script = (
        "import elastic_consistency.hardware_backend.processes.orphans\n"
        "raise ImportError('no such task')\n"
    )

    born = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)

    assert born.stderr.endswith("ImportError: no such task\n")


def _lives(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _until(claim) -> None:
    """Wait for a claim; the limit of a whole test is the only deadline."""
    while not claim():
        time.sleep(0.05)
