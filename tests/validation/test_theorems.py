"""Theorems of the catalogue as property tests: Hypothesis looks for a counterexample."""

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from elastic_consistency.bounds import get
from elastic_consistency.bounds.symbols import M, n
from elastic_consistency.execution.quantities import Sequence
from elastic_consistency.optimization.compression import ErrorFeedback, Scaling, TopK
from elastic_consistency.optimization.oracles import Linear, Quadratic
from elastic_consistency.optimization.update_rules import SGD, HeavyBall
from elastic_consistency.simulator import Cluster, Until, simulate
from elastic_consistency.simulator.delays import Constant
from elastic_consistency.simulator.protocols import (
    Gossip,
    IncrementalAggregate,
    LocalSgd,
    MessagePassing,
    Rennala,
    Ringmaster,
)
from elastic_consistency.validation.adversaries import server_schedule
from elastic_consistency.validation.gaps import gap_of, noise_gap, rms_gap, view_difference
from elastic_consistency.validation.small_study import SmallStudy
from elastic_consistency.validation.strategies import (
    assert_bound_holds,
    graphs,
    late_message_schedules,
    linears,
    quadratics,
    server_schedules,
    servers,
    simulated_schedules,
    studies,
    workers,
)

FEW = settings(max_examples=settings().max_examples // 2)
SERVER = studies(schedule=server_schedules())
SEQUENTIAL = server_schedules(max_workers=1)
FEEDBACK = st.builds(
    ErrorFeedback,
    st.builds(Scaling, st.sampled_from((0.25, 0.5, 0.9))) | st.builds(TopK, st.integers(1, 3)),
)
MOMENTUM = st.builds(HeavyBall, st.just(0.25), st.sampled_from((0.5, 0.75, 0.9)))


@pytest.mark.parametrize(
    "name", ["server_started_gap", "server_in_flight_gap", "server_applied_gap"]
)
@given(study=SERVER)
def test_gaps_of_a_server_hold_for_every_order_of_arrivals(name, study):
    assert_bound_holds(get(name), study)


def test_a_run_whose_gradients_are_all_discarded_breaks_nothing():
    """A batch that is never full: no view counts, so there is no gap."""
    alone = simulate(Rennala(2), Cluster.alike(1, Constant(1.0)), until=Until(jobs=1), seed=0)
    study = SmallStudy(alone, Quadratic(np.ones(1)), SGD(0.5))

    verdict = assert_bound_holds(get("server_applied_gap"), study)

    assert (alone.jobs.share == 0).all()
    assert verdict.estimate.value == 0


@given(study=SERVER)
def test_the_sum_of_all_staleness_is_the_identity_for_every_order_of_arrivals(study):
    """(n - 1) T - n (n - 1) / 2, exactly, T all updates: an equality is judged from both sides."""
    n_updates = len(study.schedule.jobs)

    verdict = assert_bound_holds(get("total_staleness"), study, values={"T": n_updates})

    assert verdict.margin == 0


@FEW
@given(threshold=st.integers(1, 4), data=st.data())
def test_the_staleness_that_is_left_after_discarding_is_bounded(threshold, data):
    schedule = simulated_schedules(protocol=st.just(Ringmaster(threshold)))
    study = data.draw(studies(schedule=schedule))
    applied = int((study.schedule.jobs.share > 0).sum())

    assert_bound_holds(get("discarded_staleness"), study, values={"R": threshold, "T": applied})


def test_workers_as_many_as_the_threshold_attain_the_staleness_that_is_left():
    """Equal ones in turn, n = R = 3: all but R (R - 1) / 2 of (R - 1) T."""
    schedule = server_schedule([k % 3 for k in range(197)], n_workers=3)
    study = SmallStudy(schedule, Linear(np.ones(1)), SGD(0.5))

    verdict = assert_bound_holds(get("discarded_staleness"), study, values={"R": 3, "T": 200})

    assert verdict.margin == 3


@FEW
@given(study=studies(schedule=simulated_schedules(protocol=servers())))
def test_the_gap_by_jobs_in_flight_holds_for_every_server_and_cluster(study):
    assert_bound_holds(get("server_in_flight_gap"), study)


@pytest.mark.parametrize("lag", [0, 1, 2])
@FEW
@given(data=st.data())
def test_simulated_messages_stay_within_their_constant(lag, data):
    schedule = simulated_schedules(protocol=st.just(MessagePassing(lag)))

    study = data.draw(studies(schedule=schedule))

    assert_bound_holds(get("message_passing_gap"), study, values={"tau": lag})


@FEW
@given(steps=st.integers(1, 3), data=st.data())
def test_local_steps_stay_within_their_constant_for_noise(steps, data):
    schedule = data.draw(simulated_schedules(protocol=st.just(LocalSgd(steps))))

    gap = noise_gap(view_difference(schedule, Sequence.MEAN))

    values = {"H": steps, "n": schedule.metadata.n_workers, "sigma": 1}
    assert gap <= get("local_sgd_noise_gap").evaluate(values) * (1 + 1e-9)


@pytest.mark.parametrize(
    "name",
    ["nonconvex_single_step", "strongly_convex_single_step", "nonconvex_sharp_family"],
)
@given(study=studies(schedule=server_schedules(), oracle=quadratics()))
def test_convergence_theorems_hold_on_quadratics_for_every_order_of_arrivals(name, study):
    assert_bound_holds(get(name), study, values={"theta": 0.5})


@pytest.mark.parametrize("name", ["bounded_staleness_nonconvex", "delayed_gradient_descent"])
@given(study=studies(schedule=server_schedules(), oracle=quadratics()))
def test_theorems_without_bounded_gradients_hold_for_every_order_of_arrivals(name, study):
    assert_bound_holds(get(name), study, values={"tau": study.values()["tau_max"]})


@given(study=studies(schedule=SEQUENTIAL, oracle=quadratics(), codec=FEEDBACK))
def test_error_feedback_converges_as_certified(study):
    assert_bound_holds(get("error_feedback_nonconvex"), study)


@given(study=studies(schedule=SEQUENTIAL, rule=MOMENTUM))
def test_heavy_ball_stays_within_its_constant(study):
    assert_bound_holds(get("heavy_ball_gap"), study)


@given(study=studies(schedule=SEQUENTIAL, codec=FEEDBACK))
def test_error_feedback_of_one_node_stays_within_its_constant(study):
    assert_bound_holds(get("error_feedback_gap"), study)


@given(study=studies(schedule=late_message_schedules(max_lateness=2)))
def test_late_messages_stay_within_their_constant(study):
    assert_bound_holds(get("message_passing_gap"), study, values={"tau": 2})


def _mixing_matrix(graph):
    """Metropolis weights, written as in their paper."""
    degree = [len(others) for others in graph.neighbours]
    matrix = np.zeros((len(degree), len(degree)))
    for i, others in enumerate(graph.neighbours):
        for j in others:
            matrix[i, j] = 1 / (1 + max(degree[i], degree[j]))
        matrix[i, i] = 1 - matrix[i].sum()
    return matrix


@FEW
@given(graph=graphs(), data=st.data())
def test_gossip_on_any_graph_stays_within_its_constant(graph, data):
    n_nodes = graph.n_nodes()
    machines = st.lists(workers(), min_size=n_nodes, max_size=n_nodes).map(tuple)
    schedule = data.draw(
        simulated_schedules(protocol=st.just(Gossip(graph)), cluster=st.builds(Cluster, machines))
    )

    rho = float(np.linalg.norm(_mixing_matrix(graph) - 1 / n_nodes, 2))
    rounds = schedule.jobs.round
    gap = rms_gap(view_difference(schedule, Sequence.MEAN), rounds, last=len(np.unique(rounds)))

    assert gap <= get("gossip_gap").evaluate({"rho": rho, "M": 1}) * (1 + 1e-9) + 1e-9


def test_the_gap_by_jobs_in_flight_needs_weights_of_at_most_one():
    """PIAG applies a gradient in many steps, each time with weight 1/n: its weight may exceed 1.

    The slowest worker's gradient is applied ten times before its next one arrives. What is not
    yet applied of it exceeds the one job that it counts for.
    """
    cluster = Cluster.of_laws([Constant(1.0), Constant(1.0), Constant(10.0)])
    schedule = simulate(IncrementalAggregate(), cluster, until=Until(jobs=60), seed=0)

    gap = gap_of(schedule, Sequence.STARTED, second_moment=1.0)

    assert np.nanmax(schedule.jobs.share) > 1
    assert gap.value > schedule.in_flight().max()


def test_the_gap_by_jobs_in_flight_says_nothing_where_a_job_weighs_more_than_one():
    cluster = Cluster.of_laws([Constant(1.0), Constant(1.0), Constant(10.0)])
    schedule = simulate(IncrementalAggregate(), cluster, until=Until(jobs=60), seed=0)
    study = SmallStudy(schedule, Linear(np.ones(1)), SGD(0.5))

    with pytest.raises(AssertionError, match="server_in_flight_gap says nothing here"):
        assert_bound_holds(get("server_in_flight_gap"), study)


@given(p=st.integers(1, 7))
def test_nodes_that_average_at_once_have_no_gap_not_even_by_rounding(p):
    """H = 1: the constant is 0, and sums of p times 1/p must not exceed it by 1e-17."""
    cluster = Cluster.alike(p, Constant(1.0))
    schedule = simulate(LocalSgd(1), cluster, until=Until(jobs=6 * p), seed=0)

    assert not view_difference(schedule, Sequence.MEAN).any()


@pytest.mark.parametrize("name", ["server_started_gap", "server_in_flight_gap"])
def test_the_gaps_of_a_server_say_nothing_where_there_is_no_single_model(name):
    """Local steps leave the server's order: the started gap exceeds any number of workers."""
    schedule = simulate(LocalSgd(4), Cluster.alike(2, Constant(1.0)), until=Until(jobs=16), seed=0)
    study = SmallStudy(schedule, Linear(np.ones(1)), SGD(0.5))

    with pytest.raises(AssertionError, match=f"{name} says nothing here"):
        assert_bound_holds(get(name), study)


@pytest.mark.parametrize(
    "name", ["server_started_gap", "server_in_flight_gap", "server_applied_gap"]
)
@given(study=studies())
def test_no_study_that_is_drawn_breaks_a_gap_of_a_server(name, study):
    """Whatever it is of, the verdict knows whether the theorem speaks of it."""
    assert_bound_holds(get(name), study)


class TestWrongBounds:
    """What is false is broken, and the counterexample is the smallest one."""

    def _wrong(self, name, expression):
        return replace(get(name), expression=expression, proof=None)

    def test_one_worker_too_few_in_the_gap_of_a_server(self):
        wrong = self._wrong("server_started_gap", (n - 1) * M / 2)

        @given(studies(schedule=server_schedules(), oracle=linears(max_dimension=1)))
        def search(study):
            assert_bound_holds(wrong, study)

        with pytest.raises(AssertionError) as failure:
            search()

        figures = "gap measured 1 (exact), server_started_gap <= 0.5"
        # Two workers, no exchange: the second reads before the first delivers.
        assert str(failure.value).splitlines() == [
            f"{figures}: the whole interval is beyond the bound.",
            "time  worker 0  worker 1  server",
            "0     read #0   read #1",
            "1                         add #0",
            "2                         add #1",
        ]

    @pytest.mark.parametrize(
        ("name", "factor", "kind"),
        [
            ("server_applied_gap", sp.Rational(9, 10), {"schedule": server_schedules()}),
            ("message_passing_gap", sp.Rational(1, 2), {"schedule": late_message_schedules()}),
            (
                "heavy_ball_gap",
                sp.Rational(4, 5),
                {"schedule": SEQUENTIAL, "rule": MOMENTUM, "oracle": linears(max_dimension=1)},
            ),
            (
                "error_feedback_gap",
                sp.Rational(9, 10),
                {
                    "schedule": SEQUENTIAL,
                    "oracle": linears(max_dimension=1),
                    "codec": st.just(ErrorFeedback(Scaling(0.25))),
                },
            ),
        ],
    )
    def test_a_constant_that_is_too_small_is_broken(self, name, factor, kind):
        wrong = self._wrong(name, factor * get(name).expression)

        @settings(phases=(Phase.generate, Phase.target))
        @given(studies(**kind))
        def search(study):
            assert_bound_holds(wrong, study, values={"tau": 3})

        with pytest.raises(AssertionError, match=f"{name} <= "):
            search()


def test_a_bound_that_says_nothing_fails_outside_a_property_test():
    """Else a test that is never about its theorem would pass."""

    study = SmallStudy(server_schedule([], n_workers=2), Linear(np.ones(1)), SGD(0.5))

    with pytest.raises(AssertionError, match="heavy_ball_gap says nothing here"):
        assert_bound_holds(get("heavy_ball_gap"), study)


def test_a_study_with_estimated_constants_is_judged_conditionally(monkeypatch):
    known = Linear.constants

    def estimated(self, radius=float("inf")):
        return replace(known(self, radius), estimated=frozenset({"second_moment"}))

    monkeypatch.setattr(Linear, "constants", estimated)
    schedule = server_schedule([0, 1, 2, 0, 1, 2], n_workers=3)
    study = SmallStudy(schedule, Linear(np.ones(1)), SGD(0.1))

    estimate = study.measure(get("server_started_gap"))

    assert estimate.conditional_on == {"second_moment"}
