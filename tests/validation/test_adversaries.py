"""Hand-built schedules are legal and reach exactly the constants that theory gives them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elastic_consistency.execution import Engine, execute
from elastic_consistency.execution.probes import AggregateSequence, AppliedSequence, StartedSequence
from elastic_consistency.execution.quantities import Sequence
from elastic_consistency.optimization.oracles import Linear
from elastic_consistency.optimization.update_rules import SGD
from elastic_consistency.schedule import Op
from elastic_consistency.simulator import Cluster, Until, simulate
from elastic_consistency.simulator.delays import Constant
from elastic_consistency.simulator.protocols import AsynchronousServer
from elastic_consistency.validation.adversaries import (
    crashed_broadcasts,
    late_messages,
    local_steps,
    mixing_rounds,
    one_peer_exponential,
    ring_peers,
    server_schedule,
    stand_ins,
    straggler_order,
)
from elastic_consistency.validation.gaps import (
    aligned_gap,
    gap_of,
    noise_gap,
    rms_gap,
    view_difference,
)
from elastic_consistency.validation.strategies import late_message_schedules

ORDERS = st.integers(1, 5).flatmap(
    lambda n: st.tuples(st.just(n), st.lists(st.integers(0, n - 1), max_size=25))
)


def _difference(schedule, sequence):
    schedule.check()
    return view_difference(schedule, sequence)


@given(ORDERS)
def test_every_order_of_arrivals_is_a_legal_schedule_of_the_server(case):
    n_workers, order = case
    schedule = server_schedule(order, n_workers=n_workers)

    schedule.check()
    AsynchronousServer().restate(schedule)
    assert len(schedule.jobs) == n_workers + len(order)


def test_equal_workers_in_turn_are_the_simulated_server_with_constant_delays():
    simulated = simulate(
        AsynchronousServer(), Cluster.alike(3, Constant(1.0)), until=Until(jobs=9), seed=0
    )

    built = server_schedule([0, 1, 2, 0, 1, 2], n_workers=3)

    assert np.array_equal(built.rows.op, simulated.rows.op)
    assert np.array_equal(built.rows.job, simulated.rows.job)


@given(ORDERS)
def test_the_started_gap_of_a_server_is_the_number_of_jobs_in_flight_whatever_the_order(case):
    n_workers, order = case
    schedule = server_schedule(order, n_workers=n_workers)

    gap = gap_of(schedule, Sequence.STARTED, second_moment=2.0)

    assert gap.value == 2.0 * (n_workers - 1)
    assert gap.value == 2.0 * schedule.in_flight().max()


@given(ORDERS)
def test_the_applied_gap_of_a_server_is_its_largest_staleness(case):
    n_workers, order = case
    schedule = server_schedule(order, n_workers=n_workers)

    assert aligned_gap(view_difference(schedule, Sequence.APPLIED)) == pytest.approx(
        schedule.staleness().steps.max()
    )


def test_a_straggler_stretches_the_applied_gap_and_leaves_the_started_one():
    schedule = server_schedule(straggler_order(8, 300), n_workers=8)

    assert aligned_gap(_difference(schedule, Sequence.STARTED)) == 7
    assert aligned_gap(_difference(schedule, Sequence.APPLIED)) == 300


@pytest.mark.parametrize("engine", [Engine.ROWS, Engine.FASTEST])
@given(case=ORDERS)
def test_coefficients_foretell_what_every_engine_measures(engine, case):
    """A unit slope is aligned with itself: the measured gap is the sum of the coefficients."""
    n_workers, order = case
    schedule = server_schedule(order, n_workers=n_workers)

    measured = execute(
        schedule,
        Linear(np.array([0.6, 0.8])),
        SGD(0.125),
        seeds=(0,),
        probes=(StartedSequence(), AppliedSequence()),
        engine=engine,
    )

    for sequence in (Sequence.STARTED, Sequence.APPLIED):
        foretold = aligned_gap(view_difference(schedule, sequence))
        assert measured[f"gap_{sequence.value}"].peak == pytest.approx(foretold, abs=1e-12)


@given(late_message_schedules())
def test_coefficients_foretell_what_late_messages_do_to_the_views(schedule):
    """Contributions of weight 1/p, and several of them in one step."""
    measured = execute(
        schedule, Linear(np.array([1.0])), SGD(0.125), seeds=(0,), probes=(AggregateSequence(),)
    )

    foretold = aligned_gap(view_difference(schedule, Sequence.AGGREGATE))
    assert measured["gap_aggregate"].peak == pytest.approx(foretold, abs=1e-12)


def test_late_messages_reach_the_two_constants_of_message_passing():
    """p = 8, tau = 5: (p - 1) tau / p = 4.375 aligned, sqrt((p - 1) tau) / p for noise."""
    difference = _difference(late_messages(8, 12, lambda *_: 5), Sequence.AGGREGATE)

    assert aligned_gap(difference) == pytest.approx(4.375, rel=1e-12)
    assert noise_gap(difference) == pytest.approx(math.sqrt(35) / 8, rel=1e-12)


def test_punctual_messages_leave_no_gap():
    difference = _difference(late_messages(3, 5, lambda *_: 0), Sequence.AGGREGATE)

    assert aligned_gap(difference) == pytest.approx(0, abs=1e-12)


def test_three_crashes_among_eight_leave_three_eighths():
    difference = _difference(crashed_broadcasts(8, 3), Sequence.AGGREGATE)

    assert aligned_gap(difference) == pytest.approx(0.375, rel=1e-12)


def test_standing_in_for_four_crashed_of_eight_leaves_noise_of_sqrt_20_over_8():
    schedule = crashed_broadcasts(8, 4, substitute=True)

    difference = _difference(schedule, Sequence.AGGREGATE)

    assert noise_gap(difference) == pytest.approx(math.sqrt(20) / 8, rel=1e-12)
    assert difference.sum(axis=-1) == pytest.approx(0, abs=1e-12)  # the means cancel


@pytest.mark.parametrize("p", [2, 3, 8])
def test_stand_ins_leave_noise_of_sqrt_1_minus_1_over_p(p):
    difference = _difference(stand_ins(p), Sequence.AGGREGATE)

    assert noise_gap(difference) == pytest.approx(math.sqrt((p - 1) / p), rel=1e-12)


@pytest.mark.parametrize(("n", "rounds"), [(4, 20), (8, 90)])
def test_a_ring_approaches_rho_over_1_minus_rho_as_an_rms_over_nodes(n, rounds):
    schedule = mixing_rounds(n, rounds, ring_peers(n))
    rho = (1 + 2 * math.cos(2 * math.pi / n)) / 3

    found = rms_gap(_difference(schedule, Sequence.MEAN), schedule.jobs.round)

    sum_of_powers = rho * (1 - rho ** (rounds - 1)) / (1 - rho)
    assert found == pytest.approx(sum_of_powers, rel=1e-9)


def test_the_worst_node_of_a_ring_is_worse_than_the_rms():
    schedule = mixing_rounds(8, 90, ring_peers(8))

    # Design section 9: 5.3125 for n = 8.
    assert aligned_gap(_difference(schedule, Sequence.MEAN)) == pytest.approx(5.3125, rel=1e-6)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_the_one_peer_exponential_graph_reaches_k_minus_1_as_an_rms(k):
    schedule = mixing_rounds(2**k, 4 * k, one_peer_exponential(2**k))
    difference = _difference(schedule, Sequence.MEAN)

    assert rms_gap(difference, schedule.jobs.round, last=k) == pytest.approx(k - 1, abs=1e-9)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_the_worst_node_of_the_one_peer_graph_follows_the_fitted_formula(k):
    schedule = mixing_rounds(2**k, 4 * k, one_peer_exponential(2**k))
    difference = _difference(schedule, Sequence.MEAN)

    assert aligned_gap(difference) == pytest.approx(2 * k - 4 + 2.0 ** (2 - k), rel=1e-12)
    assert noise_gap(difference) == pytest.approx(math.sqrt(1 - (k + 1) / 2**k), rel=1e-12)


def test_local_steps_leave_noise_of_h_minus_1_rounds_around_the_mean():
    """H = 5, n = 4: sqrt((H - 1)(n - 1) / n) = sqrt(3)."""
    difference = _difference(local_steps(4, 5, 3), Sequence.MEAN)

    assert noise_gap(difference) == pytest.approx(math.sqrt(3), rel=1e-12)


def test_local_steps_average_after_every_h_steps_and_at_the_end():
    rows = local_steps(2, 3, 2).rows

    mixed = np.flatnonzero(rows.op == Op.MIX)
    steps_before = [int(np.sum(rows.op[:row] == Op.STEP)) for row in mixed]

    assert steps_before == [6, 6, 12, 12]  # two nodes, three steps each


@given(st.integers(1, 4), st.integers(1, 4), st.integers(0, 10**6))
def test_an_rms_over_nodes_is_never_exceeded_by_random_gradients(n, rounds, seed):
    schedule = mixing_rounds(n, rounds, ring_peers(n))
    difference = view_difference(schedule, Sequence.MEAN)
    last = schedule.jobs.round == rounds - 1
    gradients = np.random.default_rng(seed).normal(size=(rounds, n))
    gradients /= np.sqrt((gradients**2).mean(axis=1, keepdims=True))

    gaps = difference[last, 0] @ gradients.reshape(-1)

    worst = rms_gap(difference, schedule.jobs.round)
    assert math.sqrt(float((gaps**2).mean())) <= worst + 1e-9


def test_a_sequence_that_depends_on_values_is_refused():
    with pytest.raises(ValueError, match="a schedule alone decides"):
        view_difference(server_schedule([], n_workers=2), Sequence.ERROR_CORRECTED)


@pytest.mark.parametrize("n", [1, 6])
def test_the_one_peer_graph_needs_a_power_of_two(n):
    with pytest.raises(ValueError, match="n_nodes must be a power of 2"):
        one_peer_exponential(n)
