"""Schedules written by hand, and a way to tamper with them."""

import dataclasses
import heapq

import numpy as np
import pytest

from elastic_consistency.schedule import Recorder, Schedule


class Hand:
    """A recorder whose clock is moved by hand."""

    def __init__(self, n_workers, hosts, **options):
        self.time = 0.0
        self.record = Recorder(lambda: self.time, n_workers=n_workers, hosts=hosts, **options)


def server(durations, n_workers, n_jobs):
    """Asynchronous server without latency; durations[k] is the computing time of job k."""
    hand = Hand(n_workers, (-1,))
    record, heap = hand.record, []

    def start(worker):
        job = record.job(worker)
        record.read(job, 0)
        record.gradient(job)
        record.begin(job)
        heapq.heappush(heap, (hand.time + durations[job % len(durations)], job, worker))

    for worker in range(n_workers):
        start(worker)
    while heap:
        hand.time, job, worker = heapq.heappop(heap)
        record.encode(job)
        record.add(0, job=job)
        record.step(0)
        record.drop(job=job, share=1.0)
        if record.n_jobs < n_jobs:
            start(worker)
    return record.finish()


def pairwise():
    """Two workers take a step each, then average: 2 PUT, 2 MIX."""
    hand = Hand(2, (0, 1))
    record = hand.record
    for worker in range(2):
        job = record.job(worker, round=0)
        record.read(job, worker)
        record.gradient(job)
        record.begin(job)
        hand.time += 1.0
        record.encode(job)
        record.add(worker, job=job)
        record.step(worker)
        record.drop(job=job, share=0.5)
    hand.time += 1.0
    messages = [record.message() for _ in range(2)]
    for worker, message in enumerate(messages):
        record.put(message, replica=worker)
    for worker in range(2):
        record.mix(worker, messages[1 - worker], weight=0.5, keep=0.5)
    for message in messages:
        record.drop(message=message)
    return record.finish()


def push_sum():
    """Worker 0 sends half of its model and mass to worker 1."""
    hand = Hand(2, (0, 1))
    record = hand.record
    message = record.message(moves=True)
    record.put(message, replica=0, weight=0.5, keep=0.5)
    hand.time += 1.0
    record.mix(1, message, keep=1.0)
    record.drop(message=message)
    return record.finish()


def blocks():
    """One worker reads and writes a model of two blocks, block by block."""
    hand = Hand(1, (-1,), block_sizes=(2, 3))
    record = hand.record
    job = record.job(0)
    record.read(job, 0, block=0)
    hand.time += 1.0
    record.read(job, 0, block=1)
    record.gradient(job)
    record.begin(job)
    for block in (1, 0):
        hand.time += 1.0
        record.encode(job, block=block)
        record.add(0, job=job, block=block)
        record.step(0, block=block)
    record.drop(job=job, share=1.0)
    return record.finish()


@pytest.fixture(scope="session")
def make_server():
    """server(durations, n_workers, n_jobs) -> Schedule."""
    return server


@pytest.fixture(scope="session")
def make_hand():
    """Hand(n_workers, hosts) with .record and .time."""
    return Hand


@pytest.fixture
def handmade():
    """Small valid schedules by name."""
    small = server([1.0, 2.0, 0.5], 2, 5)
    return {"server": small, "pairwise": pairwise(), "push_sum": push_sum(), "blocks": blocks()}


@pytest.fixture
def tamper():
    """tamper(schedule, rows={(column, row): value}, jobs={...}, messages={...}) -> Schedule."""

    def change(schedule, **tables):
        parts = {}
        for name in ("rows", "jobs", "messages"):
            table = getattr(schedule, name)
            columns = {f.name: np.array(getattr(table, f.name)) for f in dataclasses.fields(table)}
            for (column, row), value in tables.get(name, {}).items():
                columns[column][row] = value
            parts[name] = type(table)(**columns)
        return Schedule(**parts, metadata=schedule.metadata)

    return change
