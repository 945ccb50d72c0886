"""A log of patterns makes the schedule that a recorder makes row by row."""

from elastic_consistency.schedule import Metadata, Op, Recorder
from elastic_consistency.simulator.row_patterns import PatternLog, RowPattern

PATTERNS = (
    (RowPattern(Op.READ, job=0, replica=2), RowPattern(Op.GRADIENT, job=0)),
    (
        RowPattern(Op.ENCODE, job=0),
        RowPattern(Op.PUT, job=0, message=1, weight=0.5),
        RowPattern(Op.PUT, message=1, replica=2, weight=0.25, keep=0.75),
    ),
    (
        RowPattern(Op.ADD, message=1, replica=2, weight=2.0),
        RowPattern(Op.STEP, fixed_replica=1),
        RowPattern(Op.MIX, message=1, replica=2, weight=0.5, keep=0.5),
        RowPattern(Op.DROP, message=1),
        RowPattern(Op.DROP, job=0, share=0.125),
    ),
)


def test_patterns_write_what_a_recorder_writes():
    hosts, now = (2, -1, 1), 0.0
    log = PatternLog(PATTERNS, n_operands=3, metadata=Metadata(n_workers=3, hosts=hosts, seed=5))
    record = Recorder(lambda: now, n_workers=3, hosts=hosts, seed=5)
    for k in range(6):
        now = 0.5 * k
        replica = 2 * (k % 2)
        job, message = log.job(k % 3, now), log.message()
        log.note((now, 0, job, -1, replica))
        assert (record.job(k % 3), record.message()) == (job, message)
        record.begin(job)
        record.read(job, replica)
        record.gradient(job)

        log.note((now, 1, job, message, replica))
        record.encode(job)
        record.put(message, job=job, weight=0.5)
        record.put(message, replica=replica, weight=0.25, keep=0.75)
        if k < 5:
            log.note((now, 2, job, message, replica))
            record.add(replica, message=message, weight=2.0)
            record.step(1)
            record.mix(replica, message, weight=0.5, keep=0.5)
            record.drop(message=message)
            record.drop(job=job, share=0.125)

    assert log.finish().digest() == record.finish().digest()


def test_an_empty_log_is_an_empty_schedule():
    metadata = Metadata(n_workers=1, hosts=(-1,))

    assert len(PatternLog(PATTERNS, n_operands=3, metadata=metadata).finish().rows) == 0
