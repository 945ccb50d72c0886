"""Every family is judged against its own bound, with the constants of its own schedule."""

from dataclasses import replace
from math import cos, pi, sqrt

import numpy as np
import pytest

from elastic_consistency.bounds import get
from elastic_consistency.optimization.compression import QSGD, ErrorFeedback, TopK
from elastic_consistency.optimization.update_rules import HeavyBall
from elastic_consistency.simulator import Graph, OnePeerExponential
from elastic_consistency.simulator.protocols import (
    AsynchronousServer,
    BlockCoordinate,
    CrashFaults,
    Gossip,
    LocalSgd,
    MessagePassing,
    PairwiseAveraging,
)
from elastic_consistency.simulator.protocols.crash_faults import BroadcastCrash
from elastic_consistency.studies.certification import certify, obstacle
from elastic_consistency.studies.claims import mean_over_nodes
from elastic_consistency.studies.elastic_families import family_of, mixing_rate
from elastic_consistency.studies.runs import schedule_of
from elastic_consistency.validation import Method, Outcome

# Who is judged; by which bound; with which constants, from theory; on four workers.
FAMILIES = {
    "momentum": (
        {"protocol": AsynchronousServer(), "rule": HeavyBall(1.0, 0.9)},
        "combined_gap",
        {"mu": 0.9, "c_jobs": 3},
    ),
    "error feedback": (
        {"protocol": AsynchronousServer(), "codec": ErrorFeedback(TopK(2))},
        "server_error_feedback_gap",
        {"gamma": 1 - 2 / 5, "n": 4},
    ),
    "message passing": (
        {"protocol": MessagePassing(lag=2)},
        "message_passing_gap",
        {"tau": 2, "p": 4, "w_min": 1.0},
    ),
    "crashes": (
        {"protocol": CrashFaults((BroadcastCrash(1, 3, (0,)),))},
        "crash_gap",
        {"f": 1, "p": 4, "w_min": 0.75},
    ),
    "ring": (
        {"protocol": Gossip(Graph.ring(4))},
        "gossip_gap",
        {"rho": (1 + 2 * cos(2 * pi / 4)) / 3, "w_min": 1.0},
    ),
    "one peer": (
        {"protocol": Gossip(OnePeerExponential(4))},
        "one_peer_exponential_gap",
        {"k": 2},
    ),
    "local steps": ({"protocol": LocalSgd(5)}, "local_sgd_gap", {"H": 5}),
}


@pytest.fixture(scope="module", params=FAMILIES)
def judged(request, study):
    change, bound, constants = FAMILIES[request.param]
    contender = replace(study.contenders[0], jobs=80, **change)
    schedule = schedule_of(study, contender, 0)
    step_size = 0.001 / study.oracle.constants().smoothness
    many = replace(study, certificate=replace(study.certificate, replicates=400))
    return certify(many, contender, schedule, step_size), bound, constants


def test_the_schedule_gives_the_constants(judged):
    certification, bound, constants = judged

    values = certification.values
    assert {name: values[name] for name in constants} == pytest.approx(constants)
    assert values["B"] == get(bound).evaluate(values)
    assert certification.gaps[0].bound_name == bound


def test_true_bounds_are_not_violated_and_gaps_have_a_proved_interval(judged):
    certification, bound, _ = judged

    outcomes = {verdict.bound: verdict.outcome for verdict in certification.verdicts}
    assert Outcome.VIOLATED not in outcomes.values()
    assert len(outcomes) == 3
    assert outcomes[bound] is Outcome.CONSISTENT, certification.verdicts[0].sentence
    assert Outcome.NOT_APPLICABLE not in outcomes.values()
    assert certification.verdicts[0].bound == bound
    assert certification.verdicts[0].estimate.method is Method.EMPIRICAL_BERNSTEIN


def test_the_measured_gap_is_there_and_below_its_bound(judged):
    (gap,) = judged[0].gaps

    assert 0 < gap.time_average <= gap.peak <= gap.bound
    assert np.all(np.diff(gap.time_s) >= 0)


def test_steps_are_those_of_the_auxiliary_sequence(judged):
    """Eighty gradients are eighty steps at a server and twenty rounds of four workers."""
    certification, bound, _ = judged
    at_a_server = bound in ("combined_gap", "server_error_feedback_gap")

    if bound == "crash_gap":  # rounds of three from the crash on
        assert 20 <= certification.values["T"] <= 27
    else:
        assert certification.values["T"] == (80 if at_a_server else 20)
    promised = "single" if at_a_server else "parallel"
    assert all(promised in step.bound for step in certification.steps)


def test_momentum_steps_with_its_auxiliary_step_size(study):
    contender = replace(study.contenders[0], jobs=40, rule=HeavyBall(1.0, 0.9))

    certification = certify(study, contender, schedule_of(study, contender, 0), 0.001)

    assert certification.values["alpha"] == pytest.approx(0.01)
    moment = certification.values["M"]
    assert certification.values["B"] == pytest.approx(3 * moment + 9 * moment)


def test_a_random_codec_has_no_range_on_every_path(study):
    contender = replace(study.contenders[0], jobs=40, codec=ErrorFeedback(QSGD(4)))

    family = family_of(contender, schedule_of(study, contender, 0))

    assert not family.gaps[0].every_path


@pytest.mark.parametrize(
    ("protocol", "told"),
    [
        (PairwiseAveraging(Graph.ring(4)), "a schedule of PairwiseAveraging"),
        (Gossip(OnePeerExponential(4), lag=1), "a schedule of Gossip"),
        (BlockCoordinate((2, 3)), "as a whole"),
    ],
)
def test_protocols_without_a_bound_say_so(study, protocol, told):
    contender = replace(study.contenders[0], protocol=protocol, jobs=40)

    assert told in obstacle(study, contender, schedule_of(study, contender, 0))


def test_away_from_a_server_only_plain_sgd_is_judged(study):
    contender = replace(
        study.contenders[0], protocol=LocalSgd(2), jobs=40, rule=HeavyBall(1.0, 0.9)
    )

    assert "plain SGD" in obstacle(study, contender, schedule_of(study, contender, 0))


def test_a_path_mixes_as_its_spectrum_says():
    """Metropolis weights on three nodes in a row: eigenvalues 1, 2/3 and 0."""
    assert mixing_rate(Graph(((1,), (0, 2), (1,)))) == pytest.approx(2 / 3)


def test_the_mean_over_nodes_is_that_of_each_round():
    values = np.array([[1.0, 4.0], [3.0, 0.0], [9.0, 2.0]])

    means = mean_over_nodes(values, np.array([0, 1, 0]))

    assert means.tolist() == [[5.0, 3.0], [3.0, 0.0]]


def test_the_rms_over_nodes_is_what_local_steps_build(study):
    """Noise alone, no mean gradient: sqrt(H - 1) sigma sqrt(1 - 1/n), by independence."""
    from elastic_consistency.optimization.oracles import Quadratic

    oracle = Quadratic(np.full(40, 1e-9), variance=1.0, initial=np.full(40, 1.0))
    contender = replace(study.contenders[0], protocol=LocalSgd(5), jobs=20)
    noisy = replace(study, oracle=oracle, certificate=replace(study.certificate, replicates=400))

    (gap,) = certify(noisy, contender, schedule_of(noisy, contender, 0), 0.01).gaps

    # 400 replicates x 4 workers x 40 coordinates: deviation of the mean square below 0.01.
    assert gap.peak == pytest.approx(sqrt(4 * (1 - 1 / 4)), rel=0.03)


def test_only_the_bounds_that_are_asked_for_are_judged(study):
    names = ("server_applied_gap", "nonconvex_single_step")
    asked = replace(study, certificate=replace(study.certificate, bounds=names))
    contender = replace(study.contenders[0], jobs=40)

    certification = certify(asked, contender, schedule_of(asked, contender, 0), 0.01)

    assert tuple(verdict.bound for verdict in certification.verdicts) == names
    assert [gap.sequence for gap in certification.gaps] == ["applied"]
    rates = [verdict.error_rate for verdict in certification.verdicts]
    assert sum(rates) == pytest.approx(study.certificate.error_rate)


def test_a_bound_of_another_family_is_refused(study):
    asked = replace(study, certificate=replace(study.certificate, bounds=("gossip_gap",)))
    contender = replace(study.contenders[0], jobs=40)

    told = obstacle(asked, contender, schedule_of(asked, contender, 0))

    assert told.startswith("gossip_gap does not speak about asynchronous; those that do: server_st")
