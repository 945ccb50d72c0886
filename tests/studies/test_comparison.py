"""Contenders meet the same delays and samples, and the step size is chosen elsewhere."""

from dataclasses import replace

import numpy as np
import pytest

from elastic_consistency.execution import execute
from elastic_consistency.execution.probes.loss import Loss
from elastic_consistency.schedule import Op
from elastic_consistency.simulator import Cluster, Link, Worker
from elastic_consistency.simulator.delays import Constant, LogNormal
from elastic_consistency.simulator.protocols import AllReduce, AsynchronousServer, Ringmaster
from elastic_consistency.studies.comparison.contenders import compare
from elastic_consistency.studies.comparison.durations import seconds_per_gradient
from elastic_consistency.studies.comparison.runs import (
    gradients_per_change,
    run_loss,
    schedule_of,
)
from elastic_consistency.studies.comparison.savings import savings
from elastic_consistency.studies.comparison.tuning import tune
from elastic_consistency.studies.progress import Progress
from elastic_consistency.studies.study import Contender, Seeds
from elastic_consistency.studies.summaries.staleness_figures import staleness_figures


@pytest.fixture(scope="module")
def results(study):
    return tuple(result for result, _ in compare(study, Progress()))


def test_an_asynchronous_server_wins_over_a_straggler(study, results):
    (saving,) = savings(study, results)

    assert saving.pays is True
    assert saving.share.lower > 0
    assert saving.sentence.startswith("It pays here: asynchronous saves between")


def test_asynchrony_does_not_pay_where_its_links_are_slow(study):
    """Equal workers, ten seconds to the server and none between workers."""
    far = Link(latency_s=10.0)
    workers = (Worker(Constant(0.1), uplink=far, downlink=far),) * 4
    slow = replace(study, cluster=Cluster(workers))

    (saving,) = savings(slow, tuple(result for result, _ in compare(slow, Progress())))

    assert saving.pays is False
    assert saving.share.upper < 0
    assert saving.sentence.startswith("It does not pay here: asynchronous takes between")


def test_one_worker_makes_both_protocols_the_same(study):
    """With one worker and no network both are SGD: a saving of exactly 0 decides nothing."""
    alone = replace(
        study,
        cluster=Cluster((Worker(LogNormal(0.1, 0.3)),)),
        contenders=tuple(replace(c, jobs=40) for c in study.contenders),
    )

    first, second = (result for result, _ in compare(alone, Progress()))
    (saving,) = savings(alone, (first, second))

    assert np.array_equal(first.times_s, second.times_s)
    assert (saving.share.value, saving.pays) == (0.0, None)
    assert saving.sentence.startswith("It cannot be told")


def test_too_few_schedules_give_no_interval(study, results):
    """Two schedules and a confidence of 99.99 %: Student's t reaches to infinity."""
    two = [replace(result, times_s=result.times_s[:2]) for result in results]

    (saving,) = savings(replace(study, confidence=0.9999), tuple(two))

    assert saving.sentence.endswith("2 schedules are too few for an interval.")


def test_a_target_out_of_reach_has_no_saving(study):
    hopeless = replace(study, target=1e-9)

    results = tuple(result for result, _ in compare(hopeless, Progress()))
    (saving,) = savings(hopeless, results)

    assert [result.time_s for result in results] == [None, None]
    assert (saving.share, saving.pays) == (None, None)
    assert "reached the target in 0 of 9 runs" in saving.sentence


def test_a_contender_that_misses_the_target_does_not_pay(study):
    short = replace(study.contenders[0], jobs=4)
    unequal = replace(study, contenders=(short, study.contenders[1]))

    results = tuple(result for result, _ in compare(unequal, Progress()))

    assert savings(unequal, results)[0].pays is False


def test_the_fastest_candidate_is_chosen(study):
    best, worst = tune(study, study.contenders[1], Progress())

    assert best.mean_time_s <= worst.mean_time_s
    assert {best.step_share, worst.step_share} == {1 / 2, 1 / 8}


def test_step_sizes_are_tuned_on_the_seeds_for_that_and_on_no_others(study):
    def tuned(**seeds):
        changed = replace(study, seeds=replace(study.seeds, **seeds))
        return [c.mean_time_s for c in tune(changed, study.contenders[0], Progress())]

    assert tuned(timing=(7, 8)) == tuned()
    assert tuned(tuning=(11,)) != tuned()


def test_a_step_size_that_diverges_is_never_chosen(study):
    wild = replace(study, step_shares=(1e6, 1 / 4))

    candidates = tune(wild, study.contenders[0], Progress())

    assert candidates[0].step_share == 1 / 4


def test_time_to_target_is_that_of_a_plain_execution(study):
    """The same figure from a run that never stops early."""
    contender = study.contenders[0]
    schedule = schedule_of(study, contender, 5)
    rule = replace(contender.rule, step_size=0.5)
    probe = Loss(target=study.target_loss())
    plain = execute(schedule, study.oracle, rule, seeds=(3, 4), probes=(probe,))

    for early in (False, True):
        run = run_loss(study, contender, schedule, 0.5, sample_seeds=(3, 4), stop_at_target=early)
        assert np.array_equal(run.reached_s, plain["time_to_target_s"].values[0])


def test_intervals_rest_on_schedules_not_on_replicates(results):
    for result in results:
        assert (result.time_s.n_schedules, result.time_s.n_replicates) == (3, 3)
        assert result.time_s.value == pytest.approx(result.times_s.mean())


def test_synchronous_training_is_never_stale(results):
    assert (results[1].staleness.largest, results[1].staleness.p99) == (0, 0)


def test_the_staleness_histogram_counts_every_update(results):
    assert results[0].staleness.counts.sum() == 3 * 160


def test_tuning_on_the_seeds_of_the_comparison_is_refused():
    with pytest.raises(ValueError, match=r"Seeds\.tuning must be other seeds"):
        Seeds(timing=(0, 1), tuning=(1,))


def test_schedules_use_disjoint_samples():
    seeds = Seeds(timing=(0, 1, 2), tuning=(9,), replicates=4)

    used = [sample for timing in (0, 1, 2, 9) for sample in seeds.samples(timing)]

    assert len(set(used)) == 16


def test_gradients_count_what_a_round_takes_in(study):
    """A round of four workers takes in four gradients."""
    contender = Contender("synchronous", AllReduce(), 40)
    run = run_loss(study, contender, schedule_of(study, contender, 0), 0.5, sample_seeds=(0,))

    assert run.gradients.tolist() == [4.0 * k for k in range(11)]


def test_discarded_gradients_count_nowhere(study):
    """Each step of Ringmaster takes one gradient; those that came too late are not among them."""
    contender = Contender("ringmaster", Ringmaster(2), 80)
    schedules = [schedule_of(study, contender, seed) for seed in study.seeds.timing]

    applied = [int((schedule.rows.op == Op.STEP).sum()) for schedule in schedules]

    assert max(applied) < 80
    assert [gradients_per_change(schedule) for schedule in schedules] == [1.0] * len(schedules)
    ends = [float(schedule.rows.time[-1]) for schedule in schedules]
    expected = [end / count for end, count in zip(ends, applied, strict=True)]
    assert seconds_per_gradient(study, contender) == pytest.approx(expected)


def test_the_protocol_is_named(results):
    assert results[0].algorithm == "AsynchronousServer x SGD x Identity"
    assert results[0].summary.protocol == AsynchronousServer.__name__


def test_the_bins_of_staleness_hold_the_largest(results):
    figures = results[0].staleness

    assert figures.edges[0] == 0
    assert figures.edges[-2] <= figures.largest < figures.edges[-1]


def test_the_largest_staleness_lies_inside_of_the_last_bin(study):
    """Four equal workers in turn: staleness 3, which is an edge of the bins."""
    schedule = schedule_of(
        replace(study, cluster=Cluster((Worker(Constant(1.0)),) * 4)), study.contenders[0], 0
    )

    figures = staleness_figures([schedule], confidence=0.95, seed=0)

    assert (figures.largest, figures.mean) == (3, None)
    assert figures.edges[-1] > 3
