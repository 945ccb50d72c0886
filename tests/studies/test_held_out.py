"""Predictions of live runs, tried on simulated ones, whose truth is known."""

from dataclasses import replace

import numpy as np
import pytest

from elastic_consistency.optimization.oracles import Quadratic
from elastic_consistency.optimization.update_rules import SGD
from elastic_consistency.schedule import Op
from elastic_consistency.simulator import Cluster, Graph, Link, Until, Worker, simulate
from elastic_consistency.simulator.delays import Constant, Exponential, Gamma
from elastic_consistency.simulator.protocols import (
    AllReduce,
    PairwiseAveraging,
    QueuedServer,
    SharedMemory,
)
from elastic_consistency.studies.held_out import (
    PREDICTABLE,
    counterpart_of,
    figures_of,
    phases_of,
    predict_held_out,
    predicted,
)
from elastic_consistency.studies.held_out.laws import fit_phase
from elastic_consistency.studies.real_processes.live_check import LiveSettings
from elastic_consistency.studies.traces.fitting import _fit

SERVICE = 0.0283
PEERS = Graph(((1, 3), (0, 2), (1, 3), (0, 2)))
COMPUTE = (0.1017, 0.1339, 0.2093, 0.1711)  # no two events at the same time


def _link(seconds):
    return Link(jitter=seconds if not isinstance(seconds, float) else Constant(seconds))


def _cluster(laws, *, up=0.0, down=0.0, between=0.0):
    workers = tuple(Worker(law, uplink=_link(up), downlink=_link(down)) for law in laws)
    return Cluster(workers, fabric=Link(latency_s=between))


STEADY = tuple(Constant(seconds) for seconds in COMPUTE)
NOISY = tuple(Gamma(20.0, seconds / 20) for seconds in COMPUTE)


def _run(protocol: str, laws, *, seed: int = 0, jobs: int = 240):
    """A schedule of each protocol in which every phase takes time."""
    made = {
        "server": (QueuedServer(Constant(SERVICE)), _cluster(laws, up=0.0219, down=0.0107)),
        "all-reduce": (AllReduce(), _cluster(laws, between=0.004)),
        "pairwise": (PairwiseAveraging(PEERS, bipartite=True), _cluster(laws, between=0.01)),
        "hogwild": (SharedMemory((2, 3), Constant(0.01), Constant(0.003)), _cluster(laws)),
    }
    schedule = simulate(*made[protocol], until=Until(jobs=jobs), seed=seed)
    return _as_recorded(schedule, SERVICE) if protocol == "server" else schedule


def _as_recorded(schedule, service: float):
    """A live server records an update as it takes it up, the simulator when it is done with it."""
    rows = schedule.rows
    early = np.isin(rows.op, (Op.ADD, Op.STEP, Op.DROP))
    return replace(schedule, rows=replace(rows, time=rows.time - service * early))


SHARED = {
    "server": {"pull": 0.0107, "push": 0.0219, "service": SERVICE},
    "all-reduce": {"collective": 6 * 0.004},
    "pairwise": {"exchange": 0.02},
    "hogwild": {"read": 0.01, "write": 0.003},
}


@pytest.mark.parametrize("protocol", PREDICTABLE)
def test_phases_are_those_of_the_cluster(protocol):
    """Constant laws are recovered exactly, although pushes queue at the server."""
    phases = phases_of(_run(protocol, STEADY), protocol)

    for seconds, truth in zip(phases.compute, COMPUTE, strict=True):
        assert len(seconds) >= 20
        assert np.allclose(seconds, truth, rtol=0, atol=1e-12)
    assert phases.shared.keys() == SHARED[protocol].keys()
    for name, truth in SHARED[protocol].items():
        assert len(phases.shared[name]) >= 20
        assert np.allclose(phases.shared[name], truth, rtol=0, atol=1e-12)


@pytest.mark.parametrize("protocol", PREDICTABLE)
def test_the_counterpart_of_a_run_without_chance_has_its_times(protocol):
    """Event for event: the same rows at the same times."""
    run = _run(protocol, STEADY)
    counterpart = counterpart_of(run, protocol)

    again = simulate(counterpart.protocol, counterpart.cluster, until=Until(jobs=240), seed=0)

    assert all(law.fits for law in counterpart.laws)
    assert np.array_equal(np.bincount(again.rows.op), np.bincount(run.rows.op))
    if protocol == "server":
        again = _as_recorded(again, SERVICE)
    assert float(np.abs(again.rows.time - run.rows.time).max()) <= 1e-9


@pytest.mark.parametrize("protocol", PREDICTABLE)
def test_what_was_fitted_to_one_run_predicts_another(protocol):
    """Figures stay within a tenth: mean times vary by 1.5 % or less, ten deviations and more."""
    runs = [_run(protocol, NOISY, seed=seed, jobs=300) for seed in (1, 2)]

    found = predicted(runs, protocol)

    assert found.holds
    for figure in found.figures:
        assert figure.error <= 0.1 * figure.held_out[0]


@pytest.mark.parametrize("protocol", PREDICTABLE)
def test_a_cluster_that_changed_is_not_predicted_and_the_phase_is_named(protocol):
    """The quickest worker takes four times as long in the held-out runs.

    Of a worker's mean over 30 gradients or more, 25 % are six standard deviations.
    """
    slower = (Gamma(20.0, 4 * COMPUTE[0] / 20), *NOISY[1:])
    fitted = _run(protocol, NOISY, seed=1, jobs=300)
    others = [_run(protocol, slower, seed=seed, jobs=300) for seed in (2, 3)]

    found = predicted([fitted, *others], protocol)

    shift = {s.phase: s.held_out_s / s.fitted_s for s in found.shifts}
    assert shift.pop("compute of worker 0") == pytest.approx(4, rel=0.25)
    assert all(0.75 < other < 1.25 for other in shift.values())
    time = found.figures[0]
    assert time.error > 0.1 * np.mean(time.held_out)


def test_the_error_is_judged_by_the_spread_between_live_runs():
    fitted, *others = (_run("server", NOISY, seed=seed, jobs=100) for seed in range(3))

    time = predicted([fitted, *others], "server").figures[0]

    values = [figures_of(run, "server").step_s for run in (fitted, *others)]
    assert (time.fitted, *time.held_out) == tuple(values)
    assert time.spread == max(values) - min(values)
    assert time.allowed == max(0.1 * np.mean(values[1:]), 2 * time.spread)
    assert time.error == abs(time.predicted - np.mean(values[1:]))
    assert time.holds == (time.error <= time.allowed)


def test_figures_of_a_server_are_those_of_theory():
    """Four workers at work all the time: three others are applied meanwhile, c = sqrt of that."""
    run = _run("server", STEADY)

    figures = figures_of(run, "server")

    steps = run.staleness().steps
    assert figures.staleness == pytest.approx(steps.mean(), rel=0.05)
    assert figures.gap == pytest.approx(figures.staleness**0.5, rel=0.1)


def test_an_all_reduce_takes_the_mean_of_the_longest():
    """Reference: the slowest of four and the collective, one gradient each."""
    figures = figures_of(_run("all-reduce", STEADY), "all-reduce")

    assert figures.step_s == pytest.approx((max(COMPUTE) + 0.024) / 4, rel=0.05)
    assert figures.staleness == figures.gap == 0


def test_a_law_that_fits_is_used_and_a_tail_that_does_not_fit_keeps_the_data():
    """Body and tail at 5 % each; the mixture has a tail that no law on offer has."""
    u = (np.arange(2000) + 0.5) / 2000
    smooth = Exponential(0.1).quantile(u)
    mixed = np.where(np.arange(2000) % 10 == 0, 5.0, smooth)

    good, bad = fit_phase("pull", smooth), fit_phase("pull", mixed)

    assert good.fits
    assert good.law.mean() == pytest.approx(smooth.mean(), rel=0.02)
    assert not bad.fits
    assert bad.law.mean() == pytest.approx(mixed.mean(), rel=1e-12)
    assert bad.law.variance() == pytest.approx(mixed.var(), rel=1e-12)


def test_a_heavy_tail_is_seen_where_the_body_fits():
    """A tenth of the data, instead of a twentieth, lies above the law's 95 % quantile."""
    law = Exponential(0.1)
    seconds = law.quantile((np.arange(200) + 0.5) / 200)
    heavy = np.where(np.arange(200) >= 180, 1.35 * seconds, seconds)

    light, fit = _fit(law, seconds), _fit(law, heavy)

    assert light.holds
    assert (light.tail, fit.tail) == (0.05, 0.1)
    assert fit.distance <= fit.band
    assert not fit.holds


def test_clocks_that_cross_make_a_phase_no_shorter_than_nothing():
    law = fit_phase("pull", np.array([-1e-5, 0.0, 1e-5])).law

    assert law.mean() == pytest.approx(1e-5 / 3)


@pytest.mark.parametrize(
    ("settings", "held_out", "told"),
    [
        (LiveSettings("push-sum"), 1, "protocol must be one of server, all-reduce, pairwise"),
        (LiveSettings("server"), 0, "held_out must be a number of runs >= 1, got 0"),
        (LiveSettings("hogwild", blocks=1), 1, "blocks must be a number >= 2"),
    ],
)
def test_what_cannot_be_predicted_is_refused(settings, held_out, told):
    with pytest.raises(ValueError, match=told):
        predict_held_out(settings, Quadratic(np.ones(3)), SGD(0.1), held_out=held_out)


def test_a_run_too_short_for_all_workers_to_be_at_work_is_refused():
    with pytest.raises(ValueError, match="give more"):
        figures_of(_run("server", STEADY, jobs=3), "server")


def test_only_hogwild_pauses_between_blocks():
    with pytest.raises(ValueError, match="read_pause_s must be finite seconds"):
        LiveSettings("server", read_pause_s=0.1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("protocol", "gradients", "read_pause_s"),
    [("server", 300, 0.0), ("pairwise", 100, 0.0), ("hogwild", 100, 0.005)],
)
def test_live_runs_are_predicted(protocol, gradients, read_pause_s):
    """Within a tenth, or within twice the spread between live runs, whichever is larger."""
    settings = LiveSettings(
        protocol, 3, gradients, 0, (0.03, 0.03, 0.06), read_pause_s=read_pause_s
    )
    problem = Quadratic(np.linspace(0.1, 1.0, 12), variance=0.5)

    found = predict_held_out(settings, problem, SGD(0.05))

    assert found.holds, found.figures
