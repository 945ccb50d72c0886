"""Advice names the cause that is there, and says when asynchrony cannot win."""

from dataclasses import replace

import pytest

from elastic_consistency.simulator import Cluster, Link, Worker
from elastic_consistency.simulator.delays import Constant, Exponential, Pareto
from elastic_consistency.simulator.protocols import AllReduce, AsynchronousServer
from elastic_consistency.studies.advice import advise
from elastic_consistency.studies.durations import computation_quantile, seconds_per_gradient
from elastic_consistency.studies.progress import Progress
from elastic_consistency.studies.study import Contender, Seeds
from elastic_consistency.studies.usual_ways import usual_ways
from elastic_consistency.studies.what_if import what_if


@pytest.fixture(scope="module")
def with_straggler(study):
    """Advice for four workers of which the first is ten times slower."""
    seeds = Seeds(timing=tuple(range(8)), tuning=(10, 11), replicates=8)
    return advise(usual_ways(replace(study, target=0.3, seeds=seeds)), Progress())


def test_a_straggler_is_found(with_straggler):
    assert with_straggler.weakest.startswith("worker 0;")
    assert "worker 0 as fast as the median" in with_straggler.weakest


def test_relaxing_pays_over_a_straggler(with_straggler):
    assert with_straggler.best != "synchronous"
    assert with_straggler.answer.startswith("It pays here")
    assert with_straggler.throughput_gain.lower > 2
    assert with_straggler.limits == ""


def test_the_fastest_comes_first(with_straggler):
    times = [result.time_s.value for result in with_straggler.results if result.time_s]

    assert times == sorted(times)


def test_ties_are_named_and_the_baseline_is_none_of_them(with_straggler):
    assert "synchronous" not in with_straggler.ties


def test_certified_steps_are_those_of_the_theorems(with_straggler, problem):
    smoothness = problem.constants().smoothness
    limits = [step.step_size * smoothness for step in with_straggler.steps]

    assert limits == pytest.approx([1 / 2, 1], rel=1e-9)
    assert with_straggler.estimated == ()


def test_equal_workers_cannot_win_by_throughput(study):
    """Constant times and free links: both protocols use 4 gradients a tenth of a second."""
    equal = replace(study, cluster=Cluster((Worker(Constant(0.1)),) * 4))

    advice = advise(usual_ways(equal), Progress())

    assert advice.throughput_gain.value == pytest.approx(1)
    assert "cannot win by throughput" in advice.limits
    assert advice.weakest.startswith("all workers are equally fast; all links are alike")


def test_a_cause_that_is_absent_gains_nothing(study):
    """Constant computation times and no jitter: taking either away changes nothing."""
    link = Link(latency_s=0.02)
    slow = Worker(Constant(0.1), slowdown=3.0, uplink=link, downlink=link)
    others = (Worker(Constant(0.1), uplink=link, downlink=link),) * 3
    steady = replace(study, cluster=Cluster((slow, *others), fabric=link))

    by_cause = {row.cause: row for row in what_if(steady, study.contenders[1])}

    assert by_cause["no variation of computation times"].gain.value == pytest.approx(0)
    assert by_cause["links without jitter"].gain.value == pytest.approx(0)
    # Rounds of .3 s instead of .1 s, beside a ring of 6 messages of .02 s.
    gain = by_cause["worker 0 as fast as the median"].gain.value
    assert gain == pytest.approx(0.2 / 0.42)
    assert by_cause["links that cost nothing"].gain.value == pytest.approx(0.12 / 0.42)


def test_seconds_of_a_gradient_by_hand(study):
    """Rounds of 1 s with four gradients each."""
    equal = replace(study, cluster=Cluster((Worker(Constant(1.0)),) * 4))
    contender = Contender("synchronous", AllReduce(), 40)

    assert seconds_per_gradient(equal, contender).tolist() == [0.25] * 3


def test_the_deadline_is_a_quantile_of_the_law(study):
    """P(exponential > q) = 5 % at q = 3 means, within 5 standard errors of 900 draws."""
    equal = replace(study, cluster=Cluster((Worker(Exponential(1.0)),) * 4))
    contender = Contender("asynchronous", AsynchronousServer(), 300)

    deadline = computation_quantile(equal, contender, 0.95)

    assert deadline == pytest.approx(2.996, abs=5 * (0.95 / 0.05 / 900) ** 0.5)


def test_savings_that_are_stated_together_share_their_error_rate(study):
    """Four contenders at 95 % together: 98.75 % each."""
    usual = usual_ways(study)

    assert len(usual.contenders) == 5
    assert usual.confidence == pytest.approx(1 - 0.05 / 4)


def test_a_law_without_a_mean_has_no_steady_twin(study):
    """A Pareto law of tail 0.9 has no mean, so its variation cannot be taken away."""
    heavy = replace(study, cluster=Cluster((Worker(Pareto(0.1, 0.9)),) * 2))
    contender = Contender("synchronous", AllReduce(), 8)

    causes = [row.cause for row in what_if(heavy, contender)]

    assert "no variation of computation times" not in causes
    assert "links without jitter" in causes
