"""Faults are recorded in the schedule, and the script read off it repeats them."""

from dataclasses import replace
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elastic_consistency.schedule import Schedule
from elastic_consistency.simulator import (
    Cluster,
    Crash,
    FaultScript,
    LateStart,
    Link,
    Partition,
    RandomCrashes,
    Until,
    faults_of,
    simulate,
)
from elastic_consistency.simulator.delays import Exponential
from elastic_consistency.simulator.faults.fault_replay import _difference
from elastic_consistency.simulator.protocols import AsynchronousServer, Rennala

LAWS = (Exponential(5.0), Exponential(2.0))
SCRIPT = FaultScript(
    (
        RandomCrashes(2, *LAWS),
        RandomCrashes(1, *LAWS),
        Crash(1, 3.0, 5.0),
        Partition((0, 1), 5.0, 15.1),
        LateStart(3, 0.1 + 0.2),
    )
)
BASE = Cluster.alike(4, Exponential(1.0), link=Link(0.05, Exponential(0.02)))


@pytest.mark.parametrize("seed", range(4))
def test_the_exact_script_of_a_run_repeats_it_event_for_event(mortal, seed, tmp_path):
    random = simulate(mortal, replace(BASE, faults=SCRIPT), until=Until(jobs=150), seed=seed)
    random.save(tmp_path / "random")

    exact = faults_of(Schedule.load(tmp_path / "random"))

    assert not any(isinstance(fault, RandomCrashes) for fault in exact.faults)
    again = simulate(mortal, replace(BASE, faults=exact), until=Until(jobs=150), seed=seed)
    assert again.digest() == random.digest()


def test_another_protocol_meets_the_same_faults():
    random = simulate(
        AsynchronousServer(), replace(BASE, faults=SCRIPT), until=Until(jobs=150), seed=1
    )
    cluster = replace(BASE, faults=faults_of(random))

    # As long as no fault comes after the end of either.
    other = simulate(Rennala(2), cluster, until=Until(time_s=float(random.rows.time[-1])), seed=9)

    met = [fault for fault in faults_of(other).faults if isinstance(fault, Crash)]
    planned = [fault for fault in cluster.faults.faults if isinstance(fault, Crash)]
    assert met == planned


def test_a_run_without_faults_has_an_empty_script():
    schedule = simulate(AsynchronousServer(), BASE, until=Until(jobs=20), seed=1)

    assert faults_of(schedule).is_empty


def test_who_never_restarts_does_not_in_the_script_either():
    cluster = replace(BASE, faults=FaultScript((Crash(1, 3.0),)))

    schedule = simulate(AsynchronousServer(), cluster, until=Until(jobs=60), seed=1)

    assert faults_of(schedule).faults == (Crash(1, 3.0, inf),)


@given(st.floats(1e-9, 1e9), st.floats(1e-9, 1e9))
def test_a_duration_leads_exactly_from_one_time_to_the_next(earlier, duration):
    later = earlier + duration

    assert earlier + _difference(earlier, later) == later
