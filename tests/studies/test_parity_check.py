"""A parity check reports what the replay gave, or why there was none."""

import numpy as np
import pytest

from elastic_consistency.optimization.oracles import Quadratic
from elastic_consistency.optimization.update_rules import SGD
from elastic_consistency.simulator import Cluster, Until, simulate
from elastic_consistency.simulator.delays import Constant
from elastic_consistency.simulator.protocols import AllReduce
from elastic_consistency.studies.progress import Progress
from elastic_consistency.studies.real_processes import parity_check


@pytest.mark.parametrize("torch_is_there", [True, False])
def test_a_schedule_is_replayed_wherever_torch_is(tmp_path, monkeypatch, torch_is_there):
    schedule = simulate(AllReduce(), Cluster.alike(2, Constant(1.0)), until=Until(jobs=4), seed=0)
    schedule.save(tmp_path / "first.parquet")
    monkeypatch.setattr(parity_check, "has_torch", lambda: torch_is_there)
    heard = []

    check = parity_check.check_parity(
        tmp_path / "first.parquet",
        Quadratic(np.ones(2)),
        SGD(0.1),
        settings=parity_check.ReplaySettings(pace=1.0),
        progress=Progress(lambda _what, done: heard.append(done)),
    )

    assert check.digest == schedule.digest()
    assert check.skipped == ("" if torch_is_there else parity_check.NO_TORCH)
    assert check.holds is (True if torch_is_there else None)
    assert (max(heard, default=0) > 0) is torch_is_there
