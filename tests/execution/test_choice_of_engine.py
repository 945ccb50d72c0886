"""FASTEST loads machine code where that pays, and uses what is loaded already."""

import sys

import numpy as np
import pytest

from elastic_consistency.execution import Engine
from elastic_consistency.execution import engine as engine_module
from elastic_consistency.execution.programs import compiled_kernels
from elastic_consistency.optimization.oracles import Quadratic
from elastic_consistency.optimization.update_rules import SGD

KERNELS = compiled_kernels.__name__


def is_compiled(schedule, *, d, replicates=1):
    oracle, start = Quadratic(np.ones(d)), np.ones((replicates, d))
    found = engine_module.program_of(schedule, oracle, SGD(0.1), None, start, (), Engine.FASTEST)
    assert found is not None
    return found[1]


@pytest.fixture
def installed(monkeypatch):
    monkeypatch.setattr(engine_module, "numba_is_installed", lambda: True)


def test_a_short_run_does_not_load_machine_code(server, installed, monkeypatch):
    """20 jobs of 10 numbers take a millisecond; loading takes a third of a second."""
    monkeypatch.delitem(sys.modules, KERNELS, raising=False)

    assert not is_compiled(server(2, 20), d=10)
    assert KERNELS not in sys.modules


def test_a_long_run_loads_machine_code(server, installed, monkeypatch):
    """100 jobs of a million numbers take NumPy about a third of a second."""
    monkeypatch.delitem(sys.modules, KERNELS, raising=False)

    assert is_compiled(server(2, 100), d=10**6)


def test_a_short_run_uses_what_is_loaded(server, installed, monkeypatch):
    monkeypatch.setitem(sys.modules, KERNELS, compiled_kernels)

    assert is_compiled(server(2, 20), d=10)
    assert not is_compiled(server(2, 20), d=10, replicates=64)
