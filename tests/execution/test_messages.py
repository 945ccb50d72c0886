"""Programs of schedules with messages give the bits of the rows, whatever the protocol."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elastic_consistency.execution import DivergenceError, Engine, Execution
from elastic_consistency.execution import engine as engine_module
from elastic_consistency.execution.probes import AppliedSequence, Loss, StartedSequence
from elastic_consistency.execution.programs.translation import can_translate
from elastic_consistency.optimization.oracles import LogisticRegression, Quadratic
from elastic_consistency.optimization.update_rules import SGD, DynSGD, HeavyBall, Nesterov
from elastic_consistency.schedule import Recorder
from elastic_consistency.simulator import (
    Cluster,
    Graph,
    OnePeerExponential,
    Until,
    simulate,
)
from elastic_consistency.simulator.delays import Exponential
from elastic_consistency.simulator.protocols import (
    AllReduce,
    AsynchronousElasticAveraging,
    ElasticAveraging,
    Gossip,
    LocalSgd,
    MessagePassing,
    PairwiseAveraging,
)
from elastic_consistency.validation.strategies.schedules import simulated_schedules

D = 11
RNG = np.random.default_rng(5)
QUADRATIC = Quadratic(np.linspace(0.1, 1.0, D), initial=np.linspace(-1.0, 3.0, D))
NOISY = Quadratic(np.linspace(0.1, 1.0, D), 0.7, optimum=np.linspace(-1.0, 1.0, D))
LOGISTIC = LogisticRegression(
    RNG.standard_normal((20, D)), RNG.integers(0, 2, 20), 2, batch=4, ridge=0.1
)
PROTOCOLS = {
    "all-reduce": AllReduce(),
    "local SGD": LocalSgd(3),
    "gossip on a ring": Gossip(Graph.ring(5)),
    "gradient push": Gossip(OnePeerExponential(5)),
    "pairwise averaging": PairwiseAveraging(Graph.ring(5)),
    "message passing": MessagePassing(2, 0.3, 0.5),
    "elastic averaging": ElasticAveraging(0.15),
    "elastic averaging, asynchronous": AsynchronousElasticAveraging(0.3),
}


@pytest.fixture(autouse=True)
def kernels(monkeypatch):
    """Without Numba the kernels run as ordinary Python, to the same bits."""
    monkeypatch.setattr(engine_module, "numba_is_installed", lambda: True)


@pytest.fixture(scope="module", params=PROTOCOLS.values(), ids=list(PROTOCOLS))
def schedule(request):
    """About 60 jobs on five workers."""
    cluster = Cluster.alike(5, Exponential(1.0))
    return simulate(request.param, cluster, until=Until(jobs=60), seed=2)


def observed(schedule, oracle, rule, engine, *, chunk=8192, **options):
    """Every number of every trace, and the models, after each chunk."""
    execution = Execution(schedule, oracle, rule, engine=engine, **options)
    for _ in execution.chunks(chunk):
        pass
    measured = execution.measurement()
    numbers = {f"model {r}": model for r, model in enumerate(measured.models)}
    for name, trace in measured.traces.items():
        for field in fields(trace):
            numbers[f"{field.name} of {name}"] = getattr(trace, field.name)
    return numbers


def assert_same(found, expected):
    assert set(found) == set(expected)
    for name, value in expected.items():
        assert np.array_equal(found[name], value, equal_nan=name.startswith("model")), name


@pytest.mark.parametrize("engine", [Engine.PROGRAM, Engine.COMPILED])
@pytest.mark.parametrize("oracle", [QUADRATIC, NOISY], ids=["quadratic", "noisy"])
@pytest.mark.parametrize("rule", [SGD(0.1), DynSGD(0.2), HeavyBall(0.05, 0.9)])
def test_messages_give_the_bits_of_the_rows(schedule, engine, oracle, rule):
    probes = (Loss(every=3), *((StartedSequence(every=5),) if rule.constant_step else ()))
    options = {"seeds": (4, 5), "probes": probes}

    rows = observed(schedule, oracle, rule, Engine.ROWS, **options)
    program = observed(schedule, oracle, rule, engine, chunk=17, **options)

    assert_same(program, rows)


@pytest.mark.parametrize("oracle", [QUADRATIC, LOGISTIC], ids=["quadratic", "logistic"])
def test_any_oracle_and_rule_runs_with_messages(schedule, oracle):
    rows = observed(schedule, oracle, Nesterov(0.05, 0.9), Engine.ROWS, seeds=(1,))
    program = observed(schedule, oracle, Nesterov(0.05, 0.9), Engine.PROGRAM, seeds=(1,))

    assert_same(program, rows)


def test_single_precision_stays(schedule):
    options = {"seeds": (0,), "start": np.ones(D, np.float32)}

    rows = observed(schedule, NOISY, SGD(0.1), Engine.ROWS, **options)
    program = observed(schedule, NOISY, SGD(0.1), Engine.PROGRAM, **options)

    assert program["model 0"].dtype == np.float32
    assert_same(program, rows)


@given(
    schedule=simulated_schedules(),
    rule=st.sampled_from([SGD(0.1), DynSGD(0.2), HeavyBall(0.05, 0.9)]),
    oracle=st.sampled_from([QUADRATIC, NOISY]),
    probes=st.sampled_from([(), (AppliedSequence(),), (Loss(), AppliedSequence(every=3))]),
    chunk=st.sampled_from([3, 8192]),
)
def test_every_simulated_schedule_gives_the_same_bits(schedule, rule, oracle, probes, chunk):
    """Where a probe asks for more than programs know, FASTEST goes by rows."""
    engine = Engine.FASTEST if probes else Engine.COMPILED
    if not can_translate(schedule):
        engine = Engine.FASTEST
    options = {"seeds": (0, 1), "probes": probes}

    rows = observed(schedule, oracle, rule, Engine.ROWS, **options)
    fast = observed(schedule, oracle, rule, engine, chunk=chunk, **options)

    assert_same(fast, rows)


def test_a_run_that_is_not_over_shows_models_divided_by_their_masses(schedule):
    executions = [
        Execution(schedule, QUADRATIC, SGD(0.1), seeds=(0,), engine=engine)
        for engine in (Engine.ROWS, Engine.PROGRAM, Engine.COMPILED)
    ]

    for _ in zip(*(execution.chunks(29) for execution in executions), strict=True):
        rows, *others = (execution.measurement().models for execution in executions)
        for models in others:
            assert all(np.array_equal(a, b) for a, b in zip(models, rows, strict=True))


@pytest.mark.parametrize("engine", [Engine.PROGRAM, Engine.COMPILED])
def test_divergence_among_messages_is_told_alike(schedule, engine):
    found = []
    for chosen in (Engine.ROWS, engine):
        execution = Execution(schedule, QUADRATIC, SGD(1e40), seeds=(0, 1), engine=chosen)
        with pytest.raises(DivergenceError) as caught:
            for _ in execution.chunks():
                pass
        found.append(str(caught.value))

    assert found[0] == found[1]


@pytest.mark.parametrize("engine", [Engine.PROGRAM, Engine.COMPILED])
def test_a_message_that_nobody_takes_disturbs_nobody(engine):
    """Its second contribution comes after models that were written in between."""
    record = Recorder(lambda: 0.0, n_workers=2, hosts=(-1, -1))
    jobs = [record.job(worker) for worker in (0, 1)]
    for job in jobs:
        record.read(job, 0)
        record.gradient(job)
        record.begin(job)
        record.encode(job)
    lost = record.message()
    for job in jobs:
        record.put(lost, job=job, weight=0.5)
        for replica in (0, 1):
            record.add(replica, job=job)
            record.step(replica)
    record.drop(message=lost)
    for job in jobs:
        record.drop(job=job, share=1.0)
    schedule = record.finish()

    rows = observed(schedule, QUADRATIC, SGD(0.1), Engine.ROWS, seeds=(0,))
    program = observed(schedule, QUADRATIC, SGD(0.1), engine, seeds=(0,))

    assert_same(program, rows)
