"""The recorder hands out its rows at once, or part by part while it goes on."""

from dataclasses import fields

import numpy as np

from elastic_consistency.schedule import Recorder, Rows


def _record_job(record):
    job = record.job(0)
    record.read(job, 0)
    record.gradient(job)
    record.begin(job)
    record.encode(job)
    record.add(0, job=job)
    record.step(0)
    record.drop(job=job, share=1.0)


def test_rows_since_a_row_are_the_end_of_all_rows():
    times = iter(range(1000))
    record = Recorder(lambda: float(next(times)), n_workers=1, hosts=(-1,))
    for _ in range(5):
        _record_job(record)
    rows = record.finish().rows

    for first in (0, 1, 7, len(rows)):
        part = record.rows_since(first)
        for column in fields(Rows):
            expected = getattr(rows, column.name)[first:]
            assert np.array_equal(getattr(part, column.name), expected)
            assert getattr(part, column.name).dtype == expected.dtype


def test_recording_goes_on_while_parts_are_held():
    record = Recorder(lambda: 0.0, n_workers=1, hosts=(-1,))
    parts, seen = [record.rows_since(0)], 0
    for _ in range(50):
        _record_job(record)
        parts.append(record.rows_since(seen))
        seen = record.n_rows

    assert [len(part) for part in parts] == [0] + [6] * 50
    joined = np.concatenate([part.op for part in parts])
    assert np.array_equal(joined, record.finish().rows.op)
