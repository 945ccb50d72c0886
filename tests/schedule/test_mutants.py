"""Schedules with one row doubled, deleted or swapped do not pass unnoticed.

Every mutant keeps its times in place, so the rule about time is not what catches it. A mutant
that changes no value is of no interest. A mutant that is another legal schedule is exempt, and
that is proved: the durations are read off the mutant, and a program that shares nothing with
the simulator must arrive at the very same table.
"""

import dataclasses
import heapq
from collections import Counter

import numpy as np
import pytest

from elastic_consistency.execution import execute
from elastic_consistency.optimization.oracles import Quadratic
from elastic_consistency.optimization.update_rules import SGD
from elastic_consistency.schedule import Op, Recorder, ScheduleError
from elastic_consistency.simulator import Cluster, Link, Until, simulate
from elastic_consistency.simulator.delays import Exponential
from elastic_consistency.simulator.protocols import AllReduce, AsynchronousServer

ORACLE = Quadratic(np.array([0.3, 0.7, 1.1]), 1.0)
REACH = 12  # rows that are swapped lie at most this far apart


def simulated(protocol, *, latency_s):
    cluster = Cluster.of_laws([Exponential(1.0)] * 3, link=Link(latency_s=latency_s))
    return simulate(protocol, cluster, until=Until(jobs=15), seed=2)


CASES = {
    "server": (AsynchronousServer(), 0.0),
    "server with latency": (AsynchronousServer(), 0.3),
    "all-reduce": (AllReduce(), 0.0),
    "all-reduce with latency": (AllReduce(), 0.3),
}


def rearranged(schedule, order, times):
    columns = {
        f.name: getattr(schedule.rows, f.name)[order] for f in dataclasses.fields(schedule.rows)
    }
    columns["time"] = np.array(times)
    return dataclasses.replace(schedule, rows=type(schedule.rows)(**columns))


def mutants(schedule):
    every, time = np.arange(len(schedule.rows)), schedule.rows.time
    for row in every:
        yield "deleted", rearranged(schedule, np.delete(every, row), np.delete(time, row))
        doubled = np.insert(every, row, row)
        yield "doubled", rearranged(schedule, doubled, time[doubled])
        for other in range(row + 1, min(row + REACH, len(every))):
            order = every.copy()
            order[[row, other]] = order[[other, row]]
            yield "swapped", rearranged(schedule, order, time)


def final_models(schedule):
    measured = execute(schedule, ORACLE, SGD(0.2), seeds=(1,))
    return np.stack([np.asarray(model) for model in measured.models])


def changes_values(schedule, reference):
    """Whether an execution ends elsewhere, or nowhere."""
    try:
        models = final_models(schedule)
    except (KeyError, IndexError, TypeError, ValueError, StopIteration):
        return True
    return not np.array_equal(models, reference)


def catcher(schedule, protocol):
    """What notices that something is wrong; None when nothing does."""
    try:
        schedule.check()
    except ScheduleError:
        return "check"
    influence = schedule.influence()
    if np.abs(influence.final - influence.shares).max() > 1e-12:
        return "influence"
    try:
        protocol.restate(schedule)
    except ScheduleError:
        return "restatement"
    return None


def time_of(schedule, op):
    rows = np.flatnonzero((schedule.rows.op == op) & (schedule.rows.job >= 0))
    time = np.full(len(schedule.jobs), np.nan)
    time[schedule.rows.job[rows[::-1]]] = schedule.rows.time[rows[::-1]]
    return time


def replayed_server(mutant):
    """The asynchronous server with the durations of `mutant`, as a heap of three event kinds."""
    read, encode, add = (time_of(mutant, op) for op in (Op.READ, Op.ENCODE, Op.ADD))
    begin, clock, heap, pushed = mutant.jobs.begin, [0.0], [], 0
    record = Recorder(
        lambda: clock[0],
        n_workers=mutant.metadata.n_workers,
        hosts=(-1,),
        seed=mutant.metadata.seed,
    )

    def push(time, kind, job):
        nonlocal pushed
        heapq.heappush(heap, (time, pushed, kind, job))
        pushed += 1

    def start(worker):
        job = record.job(worker)
        record.read(job, 0)
        record.gradient(job)
        record.begin(job, begin[job])
        push(encode[job], "computed", job)

    for worker in range(mutant.metadata.n_workers):
        start(worker)
    while heap:
        clock[0], _, kind, job = heapq.heappop(heap)
        if kind == "computed":
            record.encode(job)
            if add[job] > clock[0]:
                push(add[job], "arrived", job)
                continue
        record.add(0, job=job)
        record.step(0)
        record.drop(job=job, share=1.0)
        if record.n_jobs < len(read):
            start(int(mutant.jobs.worker[job]))
    return record.finish()


def is_another_legal_schedule(mutant, protocol):
    if not isinstance(protocol, AsynchronousServer):
        return False
    if np.isnan([time_of(mutant, op) for op in (Op.ENCODE, Op.ADD)]).any():
        return False
    return replayed_server(mutant).digest() == mutant.digest()


def tally(schedule, protocol):
    reference, seen = final_models(schedule), Counter()
    for kind, mutant in mutants(schedule):
        if not changes_values(mutant, reference):
            seen[kind, "changes nothing"] += 1
            continue
        caught = catcher(mutant, protocol)
        if caught is None and is_another_legal_schedule(mutant, protocol):
            caught = "exempt: another legal schedule"
        seen[kind, caught or "escaped"] += 1
    return seen


@pytest.mark.parametrize("name", CASES)
def test_the_program_that_proves_exemptions_repeats_the_simulator(name):
    protocol, latency = CASES[name]
    schedule = simulated(protocol, latency_s=latency)

    assert is_another_legal_schedule(schedule, protocol) == isinstance(protocol, AsynchronousServer)


@pytest.mark.parametrize("name", CASES)
def test_mutants_that_change_values_are_caught(name, record_property):
    protocol, latency = CASES[name]
    schedule = simulated(protocol, latency_s=latency)
    schedule.check()
    protocol.restate(schedule)

    seen = tally(schedule, protocol)

    report = {f"{kind}: {what}": count for (kind, what), count in sorted(seen.items())}
    record_property("mutants", report)
    print(name, report)  # noqa: T201  (shown by pytest -rP)
    for kind in ("deleted", "doubled", "swapped"):
        caught = sum(seen[kind, by] for by in ("check", "influence", "restatement"))
        assert caught >= 0.95 * (caught + seen[kind, "escaped"])
        assert caught > 0
