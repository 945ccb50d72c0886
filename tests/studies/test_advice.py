"""Advice names the cause that is there, and says when asynchrony cannot win."""

from dataclasses import replace

import numpy as np
import pytest

from elastic_consistency.optimization.compression import ErrorFeedback, TopK
from elastic_consistency.optimization.oracles import Constants
from elastic_consistency.simulator import Cluster, Link, Payload, Worker
from elastic_consistency.simulator.delays import Constant, Exponential, Pareto
from elastic_consistency.simulator.protocols import AllReduce, AsynchronousServer, LocalSgd
from elastic_consistency.studies.advice.ranking import advise
from elastic_consistency.studies.advice.settings_to_paste import (
    communication_window,
    norm_threshold,
)
from elastic_consistency.studies.advice.usual_ways import usual_ways
from elastic_consistency.studies.comparison.durations import (
    computation_quantile,
    seconds_per_gradient,
)
from elastic_consistency.studies.comparison.what_if import slowest_link, what_if
from elastic_consistency.studies.progress import Progress
from elastic_consistency.studies.study import Contender, Seeds


@pytest.fixture(scope="module")
def with_straggler(study):
    """Advice for four workers of which the first is ten times slower."""
    seeds = Seeds(timing=tuple(range(8)), tuning=(10, 11), replicates=8)
    return advise(usual_ways(replace(study, target=0.3, seeds=seeds)), Progress())


def test_a_straggler_is_found(with_straggler):
    assert with_straggler.weakest.startswith("worker 0;")
    assert "worker 0 at the median speed" in with_straggler.weakest


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
    assert advice.weakest.startswith("all workers are equally fast; the links, which are all alike")


def test_a_cause_that_is_absent_gains_nothing(study):
    """Constant computation times and no jitter: taking either away changes nothing."""
    link = Link(latency_s=0.02)
    slow = Worker(Constant(0.1), slowdown=3.0, uplink=link, downlink=link)
    others = (Worker(Constant(0.1), uplink=link, downlink=link),) * 3
    steady = replace(study, cluster=Cluster((slow, *others), fabric=link))

    by_cause = {row.cause: row for row in what_if(steady, study.contenders[1])}

    assert by_cause["constant computation times"].gain.value == pytest.approx(0)
    assert by_cause["links without jitter"].gain.value == pytest.approx(0)
    # Rounds of .3 s instead of .1 s, beside a ring of 6 messages of .02 s.
    gain = by_cause["worker 0 at the median speed"].gain.value
    assert gain == pytest.approx(0.2 / 0.42)
    assert by_cause["links that cost nothing"].gain.value == pytest.approx(0.12 / 0.42)


def test_losses_and_compression_are_taken_away_and_b_is_told(study):
    """A server of four: 3 M, and 4 sqrt(g) / (1 - sqrt(g)) M more for error feedback, g = 3/5."""
    lossy = Link(latency_s=0.02, loss=0.5, resend_s=1.0)
    cluster = Cluster((Worker(Constant(0.1), uplink=lossy, downlink=lossy),) * 4, fabric=lossy)
    compressed = replace(study.contenders[0], codec=ErrorFeedback(TopK(2)))
    contenders = (compressed, replace(study.contenders[0], name="plain", jobs=400))
    losing = replace(study, cluster=cluster, contenders=contenders)

    by_cause = {row.cause: row for row in what_if(losing, contenders[1])}

    root = (3 / 5) ** 0.5
    assert by_cause["as it is"].gap == pytest.approx(3 + 4 * root / (1 - root))
    assert by_cause["no compression"].gap == pytest.approx(3)
    assert by_cause["no compression"].gain.value == 0  # of the other, which does not compress
    # One second on average for each way, beside .1 + .04 s.
    assert by_cause["nothing lost"].gain.value == pytest.approx(2 / 2.14, abs=0.05)
    assert "nothing lost" not in {row.cause for row in what_if(study, study.contenders[1])}


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
    """Five contenders at 95 % together: 99 % each; links add two ways to send less."""
    free = usual_ways(replace(study, cluster=Cluster((Worker(Constant(0.1)),) * 4)))
    linked = usual_ways(study)

    assert (len(free.contenders), len(linked.contenders)) == (6, 8)
    assert free.confidence == pytest.approx(1 - 0.05 / 5)
    assert linked.confidence == pytest.approx(1 - 0.05 / 7)


def test_where_links_cost_nothing_nobody_sends_less(study):
    free = replace(study, cluster=Cluster((Worker(Constant(0.1)),) * 4))

    assert not any(isinstance(each.protocol, LocalSgd) for each in usual_ways(free).contenders)


def test_where_links_cost_most_local_steps_win(study):
    """A ring of six messages of 1 s around steps of .1 s: 25 local steps share one such ring."""
    link = Link(latency_s=1.0)
    slow = Cluster((Worker(Constant(0.1), uplink=link, downlink=link),) * 4, fabric=link)
    contenders = tuple(replace(each, jobs=1000) for each in study.contenders)

    advice = advise(
        usual_ways(replace(study, cluster=slow, target=0.3, contenders=contenders)), Progress()
    )

    assert advice.best == "25 local steps"  # 1000 gradients of 4 workers with ten averages
    assert advice.weakest.startswith("the links, which are all alike; all workers")
    assert {"compressed", "25 local steps"} <= {result.name for result in advice.results}


def test_what_is_taken_for_granted_of_the_server_is_said_and_matters(study):
    """Four links of 1 s for what travels: a server with one such link serves one at a time."""
    link = Link(bandwidth_bytes_per_s=1e6)
    equal = Cluster((Worker(Constant(0.1), uplink=link, downlink=link),) * 4, fabric=link)
    contenders = tuple(replace(each, jobs=100) for each in study.contenders)
    wide = replace(study, payload=Payload.uncompressed(1e6), contenders=contenders, cluster=equal)
    narrow = replace(wide, cluster=replace(equal, server_bandwidth_bytes_per_s=1e6))

    spread, shared = (advise(usual_ways(each), Progress()) for each in (wide, narrow))

    # A ring of 4 takes 1.5 s: rounds of 1.6 s with 4 gradients. Four free links: 4 in 2.1 s. All
    # four meet at the server: 4 s there and 4 s back, beside 2.1 s.
    assert spread.throughput_gain.value == pytest.approx(1.6 / 2.1, rel=0.05)
    assert shared.throughput_gain.value == pytest.approx(1.6 / 10.1, rel=0.05)
    assert "server_bandwidth_bytes_per_s" in spread.assumed
    assert shared.assumed == ""
    assert "cannot win by throughput" in shared.limits


def test_the_slowest_link_is_that_of_what_travels():
    """A megabyte takes 1 s over the second link, and .1 s of latency over the first."""
    late, narrow = Link(latency_s=0.1), Link(bandwidth_bytes_per_s=1e6)
    workers = tuple(Worker(Constant(1.0), uplink=each, downlink=each) for each in (late, narrow))

    assert slowest_link(Cluster(workers), Payload()) == 0
    assert slowest_link(Cluster(workers), Payload.uncompressed(1e6)) == 1


def test_a_law_without_a_mean_has_no_steady_twin(study):
    """A Pareto law of tail 0.9 has no mean, so its variation cannot be taken away."""
    heavy = replace(study, cluster=Cluster((Worker(Pareto(0.1, 0.9)),) * 2))
    contender = Contender("synchronous", AllReduce(), 8)

    causes = [row.cause for row in what_if(heavy, contender)]

    assert "constant computation times" not in causes
    assert "links without jitter" in causes


def test_the_communication_window_by_hand():
    """1 s of links for a gradient of .1 s: 9 s of computing make the links a tenth."""
    link = Link(latency_s=0.1, bandwidth_bytes_per_s=100.0)
    worker = Worker(Constant(0.1), uplink=link, downlink=link)
    cluster = Cluster((worker, Worker(Constant(0.1))), fabric=link)

    assert communication_window(cluster, Payload(model_bytes=50.0, update_bytes=30.0)) == 90
    assert communication_window(Cluster((Worker(Constant(0.1)),) * 2), Payload()) == 1


def test_the_norm_threshold_makes_the_gap_equal_to_the_noise():
    """p = 2, M = 2, sigma = .6: sqrt(1 - beta^2) 2 / 2 = .6 at beta = .8."""
    constants = Constants(1.0, 0.1, 0.36, 4.0, 0.0, 1.0)

    assert norm_threshold(constants, 2) == pytest.approx(0.8)
    assert norm_threshold(replace(constants, variance=1.0), 2) == 0.0


def test_every_constant_to_paste_has_its_reason(with_straggler):
    told = {setting.name: setting for setting in with_straggler.settings}

    assert {
        "staleness bound [steps]",
        "deadline of a gradient [s]",
        "communication window [gradients]",
        "beta of the norm-bounded scheduler",
        "step size, damped",
    } <= told.keys()
    assert all(setting.reason for setting in told.values())
    # Two ways of 5 ms + 5 ms of jitter for a median of 0.1 s: 9 * 0.02 / 0.103 < 2 gradients.
    assert told["communication window [gradients]"].value == 2


def test_a_contender_that_diverges_is_named(study):
    """3.5 / L is beyond 2 / L, where even gradient descent on a quadratic diverges."""
    from elastic_consistency.optimization.oracles import Quadratic

    oracle = Quadratic(np.array([1.0, 0.5]), variance=0.001, initial=np.ones(2))
    long = tuple(replace(contender, jobs=4000) for contender in study.contenders)
    seeds = Seeds(timing=(0, 1), tuning=(9,), replicates=1)
    wild = replace(study, oracle=oracle, contenders=long, step_shares=(3.5,), seeds=seeds)

    advice = advise(wild, Progress())

    assert len(advice.diverged) == 2
    assert advice.diverged[0].startswith("asynchronous diverged on 2 of 2 schedules")
    assert "of worker" in advice.diverged[0]
