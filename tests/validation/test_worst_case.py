"""Constants that theory calls tight are reached, and searches find what is known to be worst."""

import math
from pathlib import Path

import numpy as np
import pytest

from elastic_consistency.bounds import get
from elastic_consistency.optimization.compression import QSGD, ScaledSign, Scaling, TopK
from elastic_consistency.simulator.protocols import AsynchronousServer
from elastic_consistency.validation.adversaries import server_schedule
from elastic_consistency.validation.worst_case import (
    climb_residual,
    coordinate_ascent,
    evolve_delays,
    format_table,
    tightness_table,
)
from elastic_consistency.validation.worst_case.residuals import (
    flat_gradient,
    one_entry,
    one_left_over,
    refill,
    residual_norms,
)
from elastic_consistency.validation.worst_case.tightness import constants, without_case


@pytest.fixture(scope="module")
def table():
    return tightness_table()


def test_every_constant_has_a_system():
    assert without_case() == ()


def test_no_system_exceeds_its_constant(table):
    assert [line.bound for line in table if line.ratio > 1 + 1e-9] == []


def test_every_constant_that_is_called_tight_is_reached_to_one_per_cent(table):
    tight = {line.bound: line.ratio for line in table if get(line.bound).tight}

    assert tight.keys() == {bound.name for bound in constants() if bound.tight}
    assert min(tight.values()) >= 0.99


@pytest.mark.parametrize("name", ["one_peer_exponential_gap", "local_sgd_gap"])
def test_the_constants_of_exact_averaging_are_attained(table, name):
    """(k - 1) M on the one-peer graph and (H - 1) M for local steps, as rms over the nodes."""
    (line,) = [line for line in table if line.bound == name]

    assert 0.99 <= line.ratio <= 1 + 1e-9


def test_every_loose_line_has_a_reason_and_no_other_has_one(table):
    """Where the ratio is below one half, a better adversary or a better bound is wanted."""
    loose = [line.bound for line in table if line.ratio < 0.5]

    assert [line.bound for line in table if line.reason] == loose


def test_of_the_derived_constants_only_one_has_no_system_that_reaches_half(table):
    best = {}
    for line in table:
        best[line.bound] = max(line.ratio, best.get(line.bound, 0.0))

    loose = {name for name, ratio in best.items() if ratio < 0.5}

    assert {name for name in loose if not name.startswith("published")} == {"one_bit_gap"}


def test_the_page_of_tightness_is_the_table(table):
    """To write it anew: paste what `format_table(tightness_table())` returns."""
    page = Path(__file__).parents[2] / "docs" / "explanation" / "tightness.md"

    assert format_table(table) in page.read_text("utf-8")


def test_the_published_constants_are_loose_by_the_ratios_that_theory_gives():
    names = ("published_error_feedback_gap", "published_elastic_variance_gap")

    by_name = {line.bound: line.ratio for line in tightness_table(names)}

    assert by_name["published_error_feedback_gap"] == pytest.approx(1 / 1.70, rel=0.005)
    assert by_name["published_elastic_variance_gap"] == pytest.approx(math.sqrt(7 / 8) / 3)


def test_the_table_is_written_with_a_line_a_case_and_the_reasons_below():
    text = format_table(tightness_table(("crash_gap", "published_elastic_variance_gap")))

    head, _, crash, variance, _, reason = text.splitlines()
    assert head.startswith("| constant | worst found | bound | ratio |")
    assert crash.startswith("| crash_gap | 0.375 | 0.375 | 1.000 | 3 of 8 crash |")
    assert variance.startswith("| published_elastic_variance_gap | 0.93541 | 3 | 0.312 |")
    assert reason.startswith("- `published_elastic_variance_gap`: the certified constant")


class TestResiduals:
    def test_the_ramp_of_topk(self):
        """d / K = 32: ages 0 to 31, sqrt(31 * 63 / 6) = 18.0416."""
        norms = residual_norms(TopK(1), flat_gradient(32, 96))

        assert norms[0] == pytest.approx(math.sqrt(31 * 63 / 6), rel=1e-12)

    @pytest.mark.parametrize("d", [2, 3, 8])
    def test_refilling_along_a_sine_reaches_the_best_of_all_periodic_residuals(self, d):
        found = residual_norms(TopK(1), refill(d, 2000 * d))[0]

        # Growing from 0 in T steps costs at most ||level|| / T, here 1 / 2000 of the norm.
        assert found == pytest.approx(1 / (2 * math.sin(math.pi / (4 * d - 2))), rel=1e-3)

    def test_gradients_of_the_refill_have_norm_at_most_one(self):
        assert np.linalg.norm(refill(5, 500), axis=-1).max() <= 1 + 1e-12

    @pytest.mark.parametrize("d", [2, 5, 100])
    def test_one_entry_left_over_rises_to_its_fixed_point(self, d):
        """K = d - 1: 1 / sqrt(d - 1), whose ratio to the constant tends to 1 with d."""
        gradients = one_left_over(d, 200)

        assert np.linalg.norm(gradients, axis=-1) == pytest.approx(1)
        found = residual_norms(TopK(d - 1), gradients)[0]
        assert found == pytest.approx(1 / math.sqrt(d - 1), rel=1e-9)

    @pytest.mark.parametrize("d", [2, 3, 50])
    def test_one_entry_again_and_again_costs_one_bit_the_root_of_d_minus_one(self, d):
        gradients = one_entry(d, 60 * d)

        assert np.linalg.norm(gradients, axis=-1).max() <= 1 + 1e-12
        found = residual_norms(ScaledSign(), gradients)[0]
        assert found == pytest.approx(math.sqrt(d - 1), rel=1e-6)

    def test_no_climb_of_one_bit_in_two_dimensions_exceeds_one(self):
        """|| |w_1| - |w_2| || / sqrt(2) <= 1 for w = e + g, |e| <= 1, |g| = 1; see the page."""
        _, value = climb_residual(ScaledSign(), 2, 12, rounds=300)

        assert 0.99 < value <= 1 + 1e-12

    @pytest.mark.parametrize("gamma", [0.5, 0.9])
    def test_a_constant_gradient_is_the_worst_for_the_scaling_codec(self, gamma):
        norms = residual_norms(Scaling(gamma), flat_gradient(1, 400))

        assert norms[0] == pytest.approx(math.sqrt(gamma) / (1 - math.sqrt(gamma)), rel=1e-8)

    def test_climbing_finds_the_worst_of_topk_in_two_dimensions(self):
        """The best periodic one is 1 / (2 sin(pi / 6)) = 1, and nothing better is known."""
        _, value = climb_residual(TopK(1), 2, 12, rounds=150)

        assert value == pytest.approx(1, abs=0.02)

    def test_climbing_beats_the_best_periodic_residual_of_topk_in_three_dimensions(self):
        """A last push that need not be repeated gains a tenth; (2 / pi) d is not reached."""
        gradients, value = climb_residual(TopK(1), 3, 18, rounds=300)

        assert np.linalg.norm(gradients, axis=-1) == pytest.approx(1)
        assert residual_norms(TopK(1), gradients[None])[0] == pytest.approx(value)
        assert 1 / (2 * math.sin(math.pi / 10)) < value < 6 / math.pi

    @pytest.mark.parametrize("codec", [TopK(1), ScaledSign(), Scaling(0.5)])
    def test_no_climb_exceeds_the_constant_of_contractions(self, codec):
        gamma = codec.contraction(3)

        _, value = climb_residual(codec, 3, 12, rounds=60)

        assert value <= math.sqrt(gamma) / (1 - math.sqrt(gamma))

    def test_a_random_codec_is_refused(self):
        with pytest.raises(ValueError, match="must be deterministic"):
            residual_norms(QSGD(4), flat_gradient(3, 2))


class TestSearches:
    def test_coordinate_ascent_finds_the_order_that_lets_one_worker_wait(self):
        """It sits out nine exchanges with the others, and perhaps their last deliveries."""

        def staleness(order):
            schedule = server_schedule(order, n_workers=3)
            return float(schedule.staleness().steps.max())

        order, value = coordinate_ascent(staleness, [0, 1, 2] * 3, 3)

        assert 9 <= value <= 9 + 2
        assert len(set(order)) == 2

    def test_coordinate_ascent_stops_where_no_single_change_helps(self):
        order, value = coordinate_ascent(lambda o: -float(sum(o)), [2, 2], 3)

        assert (order, value) == ([0, 0], 0)

    def test_evolved_delays_find_a_straggler(self):
        """With 30 jobs and 3 workers the last one to deliver can miss all others: 29."""
        cluster, value = evolve_delays(
            lambda schedule: float(schedule.staleness().steps.max()),
            AsynchronousServer(),
            3,
            jobs=30,
        )

        times = sorted(worker.compute.mean() for worker in cluster.workers)
        assert value == 29
        assert times[-1] > 10 * times[0]

    def test_no_delays_move_the_started_gap_of_a_server(self):
        from elastic_consistency.execution.quantities import Sequence
        from elastic_consistency.validation.gaps import gap_of

        _, value = evolve_delays(
            lambda schedule: gap_of(schedule, Sequence.STARTED, second_moment=1).value,
            AsynchronousServer(),
            3,
            jobs=12,
            generations=3,
        )

        assert value == 2
