"""Rules and codecs on the executor, with the operations that their docstrings spell."""

from math import pi, sin, sqrt

import numpy as np
import pytest

from elastic_consistency.execution import DivergenceError, execute
from elastic_consistency.execution.probes import StartedSequence
from elastic_consistency.optimization.compression import ErrorFeedback, Scaling, TopK
from elastic_consistency.optimization.oracles import GemanMcClure, Linear, Quadratic
from elastic_consistency.optimization.update_rules import (
    ADAG,
    AGN,
    EASGD,
    GEM,
    SGD,
    Downpour,
    HeavyBall,
    Nesterov,
    PrintedGEM,
    SignedGEM,
    WorkerMomentum,
)
from elastic_consistency.optimization.update_rules.easgd import largest_stable_exchange_weight
from elastic_consistency.schedule import Recorder

SERVER = 0
SPECTRUM = np.linspace(0.1, 1.0, 20)


def _recorder(n_workers, *, local_replicas):
    hosts = (-1, *range(n_workers)) if local_replicas else (-1,)
    return Recorder(lambda: 0.0, n_workers=n_workers, hosts=hosts)


def _checked(recorder):
    schedule = recorder.finish()
    schedule.check()
    return schedule


def _begin(recorder, worker, replica):
    job = recorder.job(worker)
    recorder.begin(job)
    recorder.read(job, replica)
    return job


def _sequential(n_jobs):
    """One worker: read, compute, add, step."""
    recorder = _recorder(1, local_replicas=False)
    for _ in range(n_jobs):
        job = _begin(recorder, 0, SERVER)
        recorder.gradient(job)
        recorder.encode(job)
        recorder.add(SERVER, job=job)
        recorder.step(SERVER)
        recorder.drop(job=job, share=1.0)
    return _checked(recorder)


def _stale(n_jobs, staleness):
    """Round robin of staleness + 1 workers: every update is `staleness` steps old."""
    recorder = _recorder(staleness + 1, local_replicas=False)
    flying = []
    for number in range(n_jobs):
        if len(flying) > staleness:
            _commit(recorder, flying.pop(0))
        flying.append(_begin(recorder, number % (staleness + 1), SERVER))
        recorder.gradient(flying[-1])
    for job in flying:
        _commit(recorder, job)
    return _checked(recorder)


def _commit(recorder, job):
    recorder.encode(job)
    recorder.add(SERVER, job=job)
    recorder.step(SERVER)
    recorder.drop(job=job, share=1.0)


def _pulled_round_robin(n_workers, n_rounds, *, own_commit_in_view):
    """The operations of GEM: READ of the next job before ENCODE of the last."""
    recorder = _recorder(n_workers, local_replicas=own_commit_in_view)
    exchange = _commit_into_view if own_commit_in_view else _commit_beside_view
    jobs = {}
    for worker in range(n_workers):
        jobs[worker] = _begin(recorder, worker, SERVER)
        recorder.gradient(jobs[worker])
    for commit in range(n_rounds * n_workers):
        worker = commit % n_workers
        jobs[worker] = exchange(recorder, worker, jobs[worker])
    return _checked(recorder)


def _commit_beside_view(recorder, worker, job):
    following = recorder.job(worker)
    recorder.read(following, SERVER)
    recorder.gradient(following)
    _commit(recorder, job)
    recorder.begin(following)
    return following


def _commit_into_view(recorder, worker, job):
    pull, pulled = recorder.job(worker), recorder.message()
    recorder.read(pull, SERVER)
    recorder.put(pulled, replica=SERVER)
    recorder.encode(job)
    recorder.add(SERVER, job=job)
    recorder.step(SERVER)
    recorder.mix(worker + 1, pulled, keep=0.0)
    recorder.drop(message=pulled)
    recorder.drop(job=pull, share=0.0)
    recorder.add(worker + 1, job=job)
    recorder.step(worker + 1)
    recorder.drop(job=job, share=1.0)
    following = _begin(recorder, worker, worker + 1)
    recorder.gradient(following)
    return following


def _elastic(n_rounds, weight):
    """EASGD of one worker with replica 1, exchange before the step."""
    recorder = _recorder(1, local_replicas=True)
    for _ in range(n_rounds):
        job = _begin(recorder, 0, 1)
        recorder.gradient(job)
        recorder.encode(job)
        mine, centre = recorder.message(), recorder.message()
        recorder.put(mine, replica=1)
        recorder.put(centre, replica=SERVER)
        recorder.mix(1, centre, keep=1 - weight, weight=weight)
        recorder.mix(SERVER, mine, keep=1 - weight, weight=weight)
        recorder.drop(message=mine)
        recorder.drop(message=centre)
        recorder.add(1, job=job)
        recorder.step(1)
        recorder.drop(job=job, share=1.0)
    return _checked(recorder)


def _windows(n_windows, window, commit_weight):
    """Downpour and AGN of one worker: pull, local steps, commit."""
    recorder = _recorder(1, local_replicas=True)
    for _ in range(n_windows):
        pulled, commit = recorder.message(), recorder.message()
        recorder.put(pulled, replica=SERVER)
        recorder.mix(1, pulled, keep=0.0)
        recorder.drop(message=pulled)
        for _ in range(window):
            job = _begin(recorder, 0, 1)
            recorder.gradient(job)
            recorder.encode(job)
            recorder.add(1, job=job)
            recorder.step(1)
            recorder.put(commit, job=job, weight=commit_weight)
            recorder.drop(job=job, share=commit_weight)
        recorder.add(SERVER, message=commit)
        recorder.step(SERVER)
        recorder.drop(message=commit)
    return _checked(recorder)


def _gap(schedule, rule, codec=None, oracle=None):
    """Largest started gap over jobs, in units of the auxiliary step size."""
    measured = execute(
        schedule,
        oracle or Linear(np.array([1.0])),
        rule,
        seeds=(0,),
        codec=codec,
        probes=(StartedSequence(every=1),),
    )
    return float(measured["gap_started"].values.max())


@pytest.mark.parametrize(("rule", "gap"), [(HeavyBall(0.01, 0.9), 9.0), (Nesterov(0.01, 0.9), 8.1)])
def test_momentum_reaches_its_gap(rule, gap):
    assert _gap(_sequential(1500), rule) == pytest.approx(gap, rel=1e-9)


def test_momentum_at_the_worker_has_the_gap_of_the_heavy_ball():
    assert _gap(_sequential(1500), WorkerMomentum(0.01, 0.9)) == pytest.approx(9.0, rel=1e-9)


@pytest.mark.parametrize(("gamma", "target"), [(0.5, 2.4142), (0.9, 18.4868), (0.99, 198.4987)])
def test_error_feedback_reaches_its_gap(gamma, target):
    gap = _gap(_sequential(4000), SGD(0.01), ErrorFeedback(Scaling(gamma)))

    assert gap == pytest.approx(target, abs=1e-4)


def test_top_k_reaches_its_ramp():
    """d / K = 32: sqrt(31 * 63 / 6) = 18.0416."""
    flat = Linear(np.full(32, 1 / sqrt(32)))

    gap = _gap(_sequential(128), SGD(0.01), ErrorFeedback(TopK(1)), flat)

    assert gap == pytest.approx(18.0416, abs=1e-4)


@pytest.mark.parametrize("staleness", [1, 4])
def test_stale_sgd_is_stable_up_to_its_limit(staleness):
    limit = 2 * sin(pi / (2 * (2 * staleness + 1)))
    schedule = _stale(6000, staleness)
    sizes = [
        abs(execute(schedule, Quadratic(np.ones(1)), SGD(f * limit), seeds=(0,)).models[0].item())
        for f in (0.99, 1.01)
    ]

    assert sizes[0] < 1e-2
    assert sizes[1] > 1e2


@pytest.mark.parametrize("rate", [0.5, 1.0, 1.5])
def test_easgd_is_stable_up_to_its_limit(rate):
    limit = largest_stable_exchange_weight(rate)
    sizes = []
    for weight in (0.98 * limit, 1.02 * limit):
        rule = EASGD(rate, weight / rate)
        schedule = _elastic(2500, rule.exchange_weight)
        models = execute(schedule, Quadratic(np.ones(1)), rule, seeds=(0,)).models
        sizes.append(sum(abs(model.item()) for model in models))

    assert sizes[0] < 1e-3
    assert sizes[1] > 1e3


@pytest.mark.parametrize(
    ("rule", "own_commit"),
    [(PrintedGEM(0.25), False), (GEM(0.25), True)],
    ids=["printed", "as_run"],
)
@pytest.mark.parametrize("n_workers", [1, 2, 5, 10])
def test_gem_has_its_share_of_the_speed_of_its_proxy(rule, own_commit, n_workers):
    """Two runs whose lengths differ by whole periods of n + 1 rounds."""
    positions = []
    for n_rounds in (300, 300 + 2 * (n_workers + 1)):
        schedule = _pulled_round_robin(n_workers, n_rounds, own_commit_in_view=own_commit)
        measured = execute(schedule, Linear(np.array([1.0])), rule, seeds=(0,))
        positions.append(measured.models[SERVER].item())

    speed = (positions[0] - positions[1]) / (2 * (n_workers + 1))
    proxy = 0.25 / (1 - 0.9)
    assert speed / proxy == pytest.approx(n_workers / (n_workers + 1), rel=1e-6)


def test_signed_gem_has_the_speed_of_its_proxy():
    positions = []
    for n_rounds in (300, 310):
        schedule = _pulled_round_robin(5, n_rounds, own_commit_in_view=True)
        rule = SignedGEM(0.25, clamp=(-np.inf, np.inf))
        measured = execute(schedule, Linear(np.array([1.0])), rule, seeds=(0,))
        positions.append(measured.models[SERVER].item())

    assert (positions[0] - positions[1]) / 10 == pytest.approx(0.25 / (1 - 0.9), rel=1e-9)


@pytest.mark.parametrize("n_workers", [5, 20])
def test_printed_gem_stops_as_diverged_and_the_clamp_at_zero_cures_it(n_workers):
    schedule = _pulled_round_robin(n_workers, 6000 // n_workers, own_commit_in_view=False)
    oracle = Quadratic(SPECTRUM)

    with pytest.raises(DivergenceError):
        execute(schedule, oracle, PrintedGEM(0.05), seeds=(0,))
    clamped = PrintedGEM(0.05, clamp=(0.0, np.inf))
    final = execute(schedule, oracle, clamped, seeds=(0,)).models[SERVER]

    assert np.abs(final).max() < 0.1


@pytest.mark.parametrize("kind", [Downpour, AGN])
def test_windows_of_local_steps_equal_their_closed_form(kind):
    """On x^2 / 2: lambda steps shrink by (1 - a)^lambda; AGN commits 1 / lambda of the way."""
    rule = kind(0.25, 3)

    final = execute(_windows(4, 3, rule.commit_weight), Quadratic(np.ones(1)), rule, seeds=(0,))

    way = 1 - 0.75**3
    shrink = 1 - way * rule.commit_weight
    assert final.models[SERVER].item() == pytest.approx(shrink**4, rel=1e-12)


def test_adag_damps_by_the_distance_that_others_moved():
    """Two workers on f = x, eta = 1: first commits 1; 1 / (1 + 1); then distance 1/2."""
    schedule = _pulled_round_robin(2, 2, own_commit_in_view=False)

    final = execute(schedule, Linear(np.array([1.0])), ADAG(1.0), seeds=(0,)).models[SERVER]

    # Worker 0 pulled 0; worker 1 pulls -1 and damps by 2; worker 0 pulls -3/2 having viewed 0;
    # worker 1 pulls again having viewed -1.
    x = -1.0 - 1 / 2
    third = 1 / (1 + 1.5**2)
    fourth = 1 / (1 + (x - third + 1.0) ** 2)
    assert final.item() == pytest.approx(x - third - fourth, rel=1e-12)


def test_replicates_run_as_they_do_alone():
    oracle = GemanMcClure(np.ones(3), 0.5)
    schedule = _stale(60, 2)
    codec = ErrorFeedback(TopK(1))

    together = execute(schedule, oracle, SGD(0.1), seeds=(3, 4), codec=codec).models[SERVER]

    for row, seed in enumerate((3, 4)):
        alone = execute(schedule, oracle, SGD(0.1), seeds=(seed,), codec=codec).models[SERVER]
        assert (together[row] == alone[0]).all()
