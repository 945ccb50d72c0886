"""The row by row interpreter is the specification; a program gives the same bits."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elastic_consistency.execution import DivergenceError, Engine, Execution, execute
from elastic_consistency.execution import engine as engine_module
from elastic_consistency.execution.probes import AppliedSequence, Loss, StartedSequence
from elastic_consistency.execution.programs import tiles as tiles_module
from elastic_consistency.optimization.compression import TopK
from elastic_consistency.optimization.oracles import (
    LeastSquares,
    Linear,
    LogisticRegression,
    Quadratic,
)
from elastic_consistency.optimization.update_rules import (
    SGD,
    AdamW,
    Clipped,
    Cosine,
    DelayAdaptive,
    DynSGD,
    HeavyBall,
    Nesterov,
    NormClip,
    Scheduled,
    StalenessAwareSGD,
    WorkerMomentum,
)
from elastic_consistency.schedule import Recorder

D = 5
RNG = np.random.default_rng(7)
ORACLES = [
    Quadratic(np.linspace(0.1, 1.0, D)),
    Quadratic(np.linspace(0.1, 1.0, D), 0.7, optimum=np.linspace(-1, 1, D)),
    Quadratic(np.ones(D), 0.2, offsets=np.array([[1.0] * D, [-3.0] * D, [2.0] * D])),
    Linear(np.array([0.3, -0.0, 1.0, -2.0, 0.0])),
    Linear(np.ones(D), 0.4),
    LeastSquares(RNG.standard_normal((20, D)), RNG.standard_normal(20), batch=3),
    LogisticRegression(RNG.standard_normal((20, D)), RNG.integers(0, 2, 20), 2, batch=4, ridge=0.1),
]
RULES = [
    SGD(0.1),
    DynSGD(0.2),
    StalenessAwareSGD(0.1),
    DelayAdaptive(0.3, 1.0),
    HeavyBall(0.05, 0.9),
    Nesterov(0.05, 0.9),
    AdamW(0.01),
    Scheduled(SGD(0.1), Cosine(6)),
]
PROBES = st.sets(
    st.sampled_from(
        [
            AppliedSequence(),
            AppliedSequence(every=3),
            StartedSequence(every=2),
            Loss(),
            Loss(every=4, target=0.5),
        ]
    ),
    max_size=3,
).filter(lambda chosen: len({type(p) for p in chosen}) == len(chosen))


@st.composite
def server_schedules(draw):
    """Jobs that read, wait, are added one or more times or discarded, steps now or later."""
    n_workers, replicas = 3, draw(st.integers(1, 3))
    record = Recorder(lambda: clock[0], n_workers=n_workers, hosts=(-1,) * replicas)
    clock, held, filled = [0.0], {}, set()
    choice = st.tuples(
        st.integers(0, n_workers - 1),
        st.integers(0, replicas - 1),
        st.sampled_from(["add", "add and step", "twice", "discard"]),
        st.sampled_from([1.0, 0.5, -0.25]),
    )
    for worker, replica, what, weight in draw(st.lists(choice, min_size=1, max_size=60)):
        clock[0] += 1.0
        job = held.pop(worker, None)
        if job is None:
            job = held[worker] = record.job(worker)
            record.read(job, replica)
            record.gradient(job)
            record.begin(job)
            continue
        record.encode(job)
        if what == "discard":
            record.drop(job=job, share=0.0)
            continue
        targets = [replica, (replica + 1) % replicas] if what == "twice" else [replica]
        for target in targets:
            record.add(target, job=job, weight=weight)
            filled.add(target)
        if what == "add and step":
            record.step(replica)
            filled.discard(replica)
        record.drop(job=job, share=weight)
    for replica in sorted(filled):
        record.step(replica)
    return record.finish()


def assert_same(a, b):
    assert set(a.traces) == set(b.traces)
    for name, trace in a.traces.items():
        for field in fields(trace):
            ours, theirs = getattr(trace, field.name), getattr(b.traces[name], field.name)
            assert np.array_equal(ours, theirs, equal_nan=field.name not in _WORDS), (name, field)
    for ours, theirs in zip(a.models, b.models, strict=True):
        assert ours.dtype == theirs.dtype
        assert np.array_equal(ours, theirs, equal_nan=True)


_WORDS = ("name", "quantity", "sequence", "count")


@pytest.fixture(autouse=True)
def kernels(monkeypatch):
    """Without Numba the kernels run as ordinary Python, to the same bits."""
    monkeypatch.setattr(engine_module, "numba_is_installed", lambda: True)


def run(schedule, oracle, rule, engine, *, chunk=8192, **options):
    execution = Execution(schedule, oracle, rule, engine=engine, **options)
    for _ in execution.chunks(chunk):
        pass
    return execution.measurement()


def fast_or_rows(engine, schedule, probes):
    """Started gaps of schedules with discarded jobs go by rows; FASTEST knows that."""
    by_rows = (schedule.jobs.share == 0).any() and any(
        isinstance(probe, StartedSequence) for probe in probes
    )
    return Engine.FASTEST if by_rows else engine


@given(
    schedule=server_schedules(),
    oracle=st.sampled_from(ORACLES),
    rule=st.sampled_from(RULES),
    probes=PROBES,
    n_seeds=st.integers(1, 3),
    chunk=st.sampled_from([1, 7, 8192]),
)
def test_a_program_gives_the_bits_of_the_rows(schedule, oracle, rule, probes, n_seeds, chunk):
    schedule.check()
    options = {"seeds": tuple(range(n_seeds)), "probes": tuple(probes)}

    engine = fast_or_rows(Engine.PROGRAM, schedule, probes)

    rows = run(schedule, oracle, rule, Engine.ROWS, **options)
    program = run(schedule, oracle, rule, engine, chunk=chunk, **options)

    assert_same(program, rows)


@given(
    schedule=server_schedules(),
    oracle=st.sampled_from([ORACLES[k] for k in (0, 1, 3, 4)]),
    rule=st.sampled_from(RULES[:5]),
    probes=PROBES,
    n_seeds=st.integers(1, 3),
    chunk=st.sampled_from([1, 7, 8192]),
)
def test_compiled_loops_give_the_bits_of_the_rows(schedule, oracle, rule, probes, n_seeds, chunk):
    options = {"seeds": tuple(range(n_seeds)), "probes": tuple(probes)}

    engine = fast_or_rows(Engine.COMPILED, schedule, probes)

    rows = run(schedule, oracle, rule, Engine.ROWS, **options)
    compiled = run(schedule, oracle, rule, engine, chunk=chunk, **options)

    assert_same(compiled, rows)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("oracle", ORACLES)
def test_a_long_run_gives_the_same_bits(server, oracle, rule):
    """Long enough for blocks of gaps and many looks for infinities."""
    schedule = server(3, 300)
    probes = (AppliedSequence(every=50), Loss(every=7), StartedSequence(every=31))
    options = {"seeds": (4, 5), "probes": probes[: 3 if rule.constant_step else 2]}

    rows = run(schedule, oracle, rule, Engine.ROWS, **options)
    program = run(schedule, oracle, rule, Engine.PROGRAM, **options)

    assert_same(program, rows)


def test_thinned_traces_are_the_same(server):
    """A trace that keeps 512 points is thinned twice in 3000 observations."""
    options = {"seeds": (4, 5), "probes": (AppliedSequence(), Loss(), StartedSequence())}

    rows = run(server(3, 3000), ORACLES[1], SGD(0.1), Engine.ROWS, **options)
    program = run(server(3, 3000), ORACLES[1], SGD(0.1), Engine.PROGRAM, chunk=1000, **options)

    assert_same(program, rows)


@pytest.mark.parametrize("engine", [Engine.PROGRAM, Engine.COMPILED])
@pytest.mark.parametrize("d", [1, 7, 8, 9, 127, 128, 129, 1000, 9001])
def test_gaps_of_every_length_are_summed_in_the_same_order(server, d, engine):
    oracle = Quadratic(np.linspace(0.1, 1.0, d), initial=np.random.default_rng(d).normal(size=d))
    options = {"seeds": (0, 1), "probes": (AppliedSequence(),)}

    rows = run(server(4, 20), oracle, SGD(0.3), Engine.ROWS, **options)
    program = run(server(4, 20), oracle, SGD(0.3), engine, **options)

    assert_same(program, rows)


@pytest.mark.parametrize("tile", [1, 2 * D, 3 * D])
def test_tiles_of_replicates_change_nothing(server, monkeypatch, tile):
    options = {"seeds": tuple(range(7)), "probes": (AppliedSequence(every=9), Loss(every=5))}
    whole = run(server(3, 200), ORACLES[1], HeavyBall(0.05, 0.5), Engine.ROWS, **options)

    monkeypatch.setattr(tiles_module, "TILE", tile)
    tiled = run(server(3, 200), ORACLES[1], HeavyBall(0.05, 0.5), Engine.PROGRAM, **options)

    assert_same(tiled, whole)


@pytest.mark.parametrize("threads", [1, 2, 3, 9])
def test_threads_change_nothing(server, monkeypatch, threads):
    options = {"seeds": tuple(range(7)), "probes": (AppliedSequence(every=9), Loss(every=5))}
    rows = run(server(3, 200), ORACLES[1], HeavyBall(0.05, 0.5), Engine.ROWS, **options)

    monkeypatch.setattr(tiles_module, "n_threads", lambda: threads)
    threaded = run(
        server(3, 200), ORACLES[1], HeavyBall(0.05, 0.5), Engine.COMPILED, chunk=99, **options
    )

    assert_same(threaded, rows)


@pytest.mark.parametrize("start", [np.float32, np.float64])
def test_the_dtype_of_the_start_is_kept(server, start):
    options = {"seeds": (0,), "probes": (AppliedSequence(),), "start": np.ones(D, start)}

    rows = run(server(3, 80), ORACLES[1], SGD(0.1), Engine.ROWS, **options)
    program = run(server(3, 80), ORACLES[1], SGD(0.1), Engine.PROGRAM, **options)

    assert program.models[0].dtype == start
    assert_same(program, rows)


@pytest.mark.parametrize(
    ("engine", "tile", "threads"),
    [
        (Engine.PROGRAM, 1, 1),
        (Engine.PROGRAM, 30_000, 1),
        (Engine.COMPILED, 30_000, 1),
        (Engine.COMPILED, 30_000, 2),
        (Engine.COMPILED, 30_000, 3),
    ],
)
def test_divergence_is_found_at_the_same_step_with_the_same_traces(
    server, monkeypatch, engine, tile, threads
):
    """Replicates diverge at different steps; the first one counts, whatever tile it is in."""
    monkeypatch.setattr(tiles_module, "TILE", tile)
    monkeypatch.setattr(tiles_module, "n_threads", lambda: threads)
    start = np.array([[1.0], [1e100], [1e-100]])
    oracle = Quadratic(np.array([1.0]), 0.0)
    found = []
    for chosen in (Engine.ROWS, engine):
        execution = Execution(
            server(2, 3000),
            oracle,
            SGD(30.0),
            seeds=(0, 1, 2),
            start=start,
            engine=chosen,
            probes=(AppliedSequence(every=10), Loss(every=3)),
        )
        with pytest.raises(DivergenceError) as caught:
            for _ in execution.chunks(8192):  # one chunk, in which all of them diverge
                pass
        error = caught.value
        where = (error.job, error.worker, error.replica, error.step)
        found.append((where, execution.measurement().traces))

    rows, program = found
    assert rows[0] == program[0]
    for name, trace in rows[1].items():
        for field in ("time", "position", "values", "mean", "last", "count"):
            ours = getattr(program[1][name], field)
            assert np.array_equal(ours, getattr(trace, field), equal_nan=True), (name, field)


def test_infinity_after_the_last_look_is_refused_at_the_end(server):
    oracle = Quadratic(np.array([1.0]), 0.0)
    for engine in (Engine.ROWS, Engine.PROGRAM, Engine.COMPILED):
        with pytest.raises(
            DivergenceError, match=r"after step 9 \(last update: job 8 of worker 0\)"
        ):
            execute(server(1, 9), oracle, SGD(1e200), seeds=(0,), engine=engine)


@pytest.mark.parametrize(
    "options",
    [
        {"rule": WorkerMomentum(0.1, 0.9)},
        {"rule": Clipped(SGD(0.1), NormClip(1.0))},
        {"codec": TopK(2)},
    ],
)
def test_what_a_program_cannot_express_is_executed_by_rows(server, options):
    options = {"rule": SGD(0.1), **options}
    rule = options.pop("rule")

    with pytest.raises(ValueError, match=r"Engine\.PROGRAM cannot express"):
        execute(server(2, 20), ORACLES[0], rule, seeds=(0,), engine=Engine.PROGRAM, **options)

    chosen = execute(server(2, 20), ORACLES[0], rule, seeds=(0,), **options)
    rows = execute(server(2, 20), ORACLES[0], rule, seeds=(0,), engine=Engine.ROWS, **options)
    assert_same(chosen, rows)


def test_blocks_are_executed_by_rows():
    record = Recorder(lambda: 0.0, n_workers=1, hosts=(-1,), block_sizes=(2, 3))

    with pytest.raises(ValueError, match=r"Engine\.PROGRAM cannot express"):
        execute(record.finish(), ORACLES[0], SGD(0.1), seeds=(0,), engine=Engine.PROGRAM)


def test_a_run_that_is_not_over_shows_its_present_model(server):
    execution = Execution(server(2, 60), ORACLES[0], SGD(0.1), seeds=(0,))
    other = Execution(server(2, 60), ORACLES[0], SGD(0.1), seeds=(0,), engine=Engine.ROWS)

    for _ in zip(execution.chunks(11), other.chunks(11), strict=True):
        assert np.array_equal(execution.measurement().models[0], other.measurement().models[0])


def test_compiled_loops_need_numba(server, monkeypatch):
    monkeypatch.setattr(engine_module, "numba_is_installed", lambda: False)

    with pytest.raises(ModuleNotFoundError, match=r"elastic-consistency\[speed\]"):
        execute(server(2, 9), ORACLES[0], SGD(0.1), seeds=(0,), engine=Engine.COMPILED)


@pytest.mark.parametrize("oracle", [ORACLES[2], ORACLES[5]])
def test_what_the_kernels_do_not_know_is_refused(server, oracle):
    with pytest.raises(ValueError, match=r"Engine\.COMPILED cannot express"):
        execute(server(3, 9), oracle, SGD(0.1), seeds=(0,), engine=Engine.COMPILED)


@pytest.mark.parametrize("engine", [Engine.ROWS, Engine.PROGRAM, Engine.COMPILED])
def test_a_schedule_without_rows_leaves_the_start(engine):
    empty = Recorder(lambda: 0.0, n_workers=1, hosts=(-1,)).finish()

    measured = execute(
        empty,
        ORACLES[0],
        SGD(0.1),
        seeds=(0, 1),
        engine=engine,
        probes=(AppliedSequence(), Loss(every=3)),
    )

    assert np.array_equal(measured.models[0], np.ones((2, D)))
    assert measured["gap_applied"].count == 0
    assert measured["loss"].count == 1
