"""Whoever is judged meets every bound that speaks of it, with the constants of its schedule."""

from dataclasses import replace
from math import cos, pi, sqrt
from pathlib import Path

import numpy as np
import pytest

from elastic_consistency.bounds import catalogue, get, list_bounds
from elastic_consistency.execution.quantities import Quantity
from elastic_consistency.optimization.compression import QSGD, ErrorFeedback, ScaledSign, TopK
from elastic_consistency.optimization.update_rules import HeavyBall, Nesterov
from elastic_consistency.simulator import Graph, OnePeerExponential
from elastic_consistency.simulator.delays import Constant
from elastic_consistency.simulator.layer_profile import Layer, LayerProfile
from elastic_consistency.simulator.protocols import (
    AllReduce,
    AsynchronousServer,
    BlockCoordinate,
    CrashFaults,
    Gossip,
    Layerwise,
    LocalSgd,
    MessagePassing,
    NormBounded,
    PairwiseAveraging,
    Scheduler,
    SharedMemory,
)
from elastic_consistency.simulator.protocols.crash_faults import BroadcastCrash
from elastic_consistency.studies.comparison.runs import schedule_of
from elastic_consistency.studies.files import load_study
from elastic_consistency.studies.judging.agenda import agenda_of
from elastic_consistency.studies.judging.certification import certify, obstacle
from elastic_consistency.studies.judging.claims import ceilings, mean_over_nodes
from elastic_consistency.studies.judging.figures import mixing_rate
from elastic_consistency.studies.judging.limits import limits_of
from elastic_consistency.validation import Method, Outcome

PROFILE = LayerProfile((Layer("first", 2, 1.0, 2.0), Layer("second", 3, 1.0, 2.0)))
SUBSTITUTED = CrashFaults((BroadcastCrash(1, 3, (0,)),), substitute=True)

# Who is judged; by which bounds of B, the smallest first; with which constants, from theory; on
# four workers and five parameters.
FAMILIES = {
    "server": (
        {"protocol": AsynchronousServer()},
        "server_started_gap server_in_flight_gap server_applied_gap",
        {"n": 4, "c_jobs": 3},
    ),
    "momentum": (
        {"protocol": AsynchronousServer(), "rule": HeavyBall(1.0, 0.9)},
        "combined_gap",
        {},
    ),
    "error feedback": (
        {"protocol": AsynchronousServer(), "codec": ErrorFeedback(TopK(2))},
        "server_error_feedback_gap",
        {"gamma": 1 - 2 / 5, "n": 4},
    ),
    "shared memory": (
        {"protocol": SharedMemory((2, 3), Constant(0.01), Constant(0.01))},
        "shared_memory_gap published_shared_memory_gap",
        {"d": 5},
    ),
    "message passing": (
        {"protocol": MessagePassing(lag=2)},
        (
            "message_drop_gap published_message_drop_gap message_passing_gap "
            "published_message_passing_gap message_passing_noise_gap"
        ),
        {"tau": 2, "p": 4, "w_min": 1.0},
    ),
    "crashes": (
        {"protocol": CrashFaults((BroadcastCrash(1, 3, (0,)),))},
        "crash_gap published_crash_gap",
        {"f": 1, "p": 4, "w_min": 0.75},
    ),
    "stand-ins": (
        {"protocol": SUBSTITUTED},
        "crash_substitution_gap published_crash_substitution_gap",
        {"f": 1},
    ),
    "variance-bounded": (
        {"protocol": Layerwise(PROFILE, Scheduler.VARIANCE_BOUNDED)},
        "elastic_variance_gap published_elastic_variance_gap",
        {"p": 4},
    ),
    "ring": (
        {"protocol": Gossip(Graph.ring(4))},
        "gossip_gap push_sum_gap",
        {"rho": (1 + 2 * cos(2 * pi / 4)) / 3, "w_min": 1.0},
    ),
    "one peer": (
        {"protocol": Gossip(OnePeerExponential(4))},
        "one_peer_exponential_gap",
        {"k": 2},
    ),
    "local steps": ({"protocol": LocalSgd(5)}, "local_sgd_gap", {"H": 5}),
    "averaged TopK": (
        {"protocol": AllReduce(), "codec": ErrorFeedback(TopK(2))},
        (
            "error_feedback_gap topk_gap published_error_feedback_gap published_topk_gap "
            "karimireddy_error_feedback_gap"
        ),
        {"gamma": 1 - 2 / 5, "K": 2, "d": 5},
    ),
    "averaged signs": (
        {"protocol": AllReduce(), "codec": ErrorFeedback(ScaledSign())},
        (
            "error_feedback_gap one_bit_gap published_error_feedback_gap published_one_bit_gap "
            "karimireddy_error_feedback_gap"
        ),
        {"gamma": 1 - 1 / 5},
    ),
    "averaged heavy ball": (
        {"protocol": AllReduce(), "rule": HeavyBall(1.0, 0.9)},
        "heavy_ball_gap",
        {"mu": 0.9},
    ),
    "averaged Nesterov": (
        {"protocol": AllReduce(), "rule": Nesterov(1.0, 0.9)},
        "nesterov_gap",
        {"mu": 0.9},
    ),
}


@pytest.fixture(scope="module", params=FAMILIES)
def judged(request, study):
    change, bounds, constants = FAMILIES[request.param]
    contender = replace(study.contenders[0], jobs=80, **change)
    schedule = schedule_of(study, contender, 0)
    step_size = 0.001 / study.oracle.constants().smoothness
    many = replace(study, certificate=replace(study.certificate, replicates=400))
    return certify(many, contender, schedule, step_size), bounds.split(), constants


def _gaps(certification):
    return [v for v in certification.verdicts if v.quantity is Quantity.GAP]


def test_every_bound_of_b_that_says_of_which_runs_it_speaks_is_judged_on_one():
    judged = {name for _, bounds, _ in FAMILIES.values() for name in bounds.split()}
    silent = {
        b.name for b in list_bounds() if b.quantity is Quantity.GAP and isinstance(b.scope, str)
    }

    every = {bound.name for bound in list_bounds() if bound.quantity is Quantity.GAP}
    assert every - silent == judged | {"elastic_norm_gap", "elastic_norm_any_gap"}  # see below


def test_the_schedule_gives_the_constants(judged):
    certification, bounds, constants = judged

    values = certification.values
    assert {name: values[name] for name in constants} == pytest.approx(constants)
    assert certification.gaps[0].bound_name == bounds[0]
    if "B" in values:  # no theorem speaks of torn reads
        assert values["B"] == pytest.approx(get(bounds[0]).evaluate(values))


def test_true_bounds_are_not_violated_and_gaps_have_a_proved_interval(judged):
    certification, bounds, _ = judged

    told = {verdict.bound: verdict for verdict in certification.verdicts}
    assert Outcome.VIOLATED not in {verdict.outcome for verdict in told.values()}
    assert Outcome.NOT_APPLICABLE not in {told[name].outcome for name in bounds}
    assert told[bounds[-1]].outcome is Outcome.CONSISTENT, told[bounds[-1]].sentence
    assert {v.estimate.method for v in _gaps(certification)} == {Method.EMPIRICAL_BERNSTEIN}


def test_bounds_whose_requirements_fail_are_not_applicable(study):
    """A stand-in is no missing message: what is there in excess is not held back."""
    contender = replace(study.contenders[0], jobs=40, protocol=SUBSTITUTED)

    certification = certify(study, contender, schedule_of(study, contender, 0), 0.001)

    (verdict,) = (v for v in certification.verdicts if v.bound == "crash_gap")
    assert verdict.outcome is Outcome.NOT_APPLICABLE
    assert any("held back from its view" in reason for reason in verdict.failed)


def test_a_schedule_that_gradients_decided_meets_the_norm_test_for_its_own_samples_only(study):
    """(p - 1) M / p holds whatever was decided; the sharper bound and the theorems say nothing."""
    contender = replace(study.contenders[0], jobs=80, protocol=NormBounded(PROFILE, 0.5))
    many = replace(study, certificate=replace(study.certificate, replicates=400))

    schedule = schedule_of(study, contender, 0)
    certification = certify(many, contender, schedule, study.step_shares[0] / 100)

    told = {verdict.bound: verdict for verdict in certification.verdicts}
    assert told["elastic_norm_any_gap"].outcome is Outcome.CONSISTENT
    assert told["elastic_norm_gap"].outcome is Outcome.NOT_APPLICABLE
    assert any("at least beta of its norm" in text for text in told["elastic_norm_gap"].failed)
    others = {v.outcome for name, v in told.items() if not name.startswith("elastic")}
    assert others == {Outcome.NOT_APPLICABLE}


def test_the_measured_gap_is_there_and_below_its_bound(judged):
    for gap in judged[0].gaps:
        assert 0 < gap.time_average <= gap.peak <= gap.bound
        assert np.all(np.diff(gap.time_s) >= 0)


def test_steps_are_those_of_the_auxiliary_sequence(judged):
    """Eighty gradients are eighty steps at a server and twenty rounds of four workers."""
    certification, bounds, _ = judged
    at_a_server = bounds[0].startswith(("server", "combined"))

    if bounds[0].startswith("crash"):  # rounds of three from the crash on
        assert 20 <= certification.values["T"] <= 27
    elif "T" in certification.values:
        assert certification.values["T"] == (80 if at_a_server else 20)


def _own_bound(factor):
    """A multiple of (n - 1) M; the gap of four workers with one gradient each is above none."""
    return replace(
        get("server_started_gap"),
        name="mine",
        expression=factor * get("server_started_gap").expression,
        proof=None,
    )


def test_a_bound_is_judged_because_it_is_in_the_catalogue(study, monkeypatch):
    monkeypatch.setattr(catalogue, "_BOUNDS", (*catalogue._BOUNDS, _own_bound(2)))

    many = replace(study, certificate=replace(study.certificate, replicates=400))

    told = _verdict_on(many, "mine")

    assert told.outcome is Outcome.CONSISTENT
    assert told.bound_value == pytest.approx(
        2 * _verdict_on(study, "server_started_gap").bound_value
    )


def test_a_bound_of_ones_own_is_judged_beside_the_catalogue(study):
    """A false one is violated, although nothing of the package knows its name."""
    certificate = replace(study.certificate, replicates=4000, own_bounds=(_own_bound(1e-3),))

    told = _verdict_on(replace(study, certificate=certificate), "mine")

    assert told.outcome is Outcome.VIOLATED


def test_no_bound_of_ones_own_takes_a_name_of_the_catalogue(study):
    with pytest.raises(ValueError, match=r"Certificate\.own_bounds must be bounds under names"):
        replace(study.certificate, own_bounds=(get("server_started_gap"),))


def test_a_study_file_judges_the_bounds_of_a_module_that_is_allowed(tmp_path, monkeypatch):
    """The module is on the path; the flag names it, and the file names its bound."""
    (tmp_path / "bounds_of_mine.py").write_text(
        "from dataclasses import replace\n"
        "from elastic_consistency.bounds import Scope, get\n"
        "scope = Scope(rules=('heavy_ball',), codecs=())\n"
        "mine = replace(get('server_started_gap'), name='mine', scope=scope)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    text = (Path(__file__).parent / "small.toml").read_text()
    path = tmp_path / "study.toml"
    path.write_text(
        text.rstrip() + '\n[certificate]\ngradients = 16\nreplicates = 8\nbounds = ["mine"]\n'
    )

    loaded = load_study(path, modules=("bounds_of_mine",))

    assert [bound.name for bound in loaded.certificate.own_bounds] == ["mine"]
    assert _verdict_on(loaded, "mine").bound == "mine"


def _verdict_on(study, name):
    contender = replace(study.contenders[0], jobs=40)
    step_size = 0.001 / study.oracle.constants().smoothness
    certification = certify(study, contender, schedule_of(study, contender, 0), step_size)
    (verdict,) = (v for v in certification.verdicts if v.bound == name)
    return verdict


def test_momentum_steps_with_its_auxiliary_step_size(study):
    contender = replace(study.contenders[0], jobs=40, rule=HeavyBall(1.0, 0.9))

    certification = certify(study, contender, schedule_of(study, contender, 0), 0.001)

    assert certification.values["alpha"] == pytest.approx(0.01)
    moment = limits_of(study.oracle, study.certificate.radius).constants.second_moment ** 0.5
    assert certification.values["B"] == pytest.approx(3 * moment + 9 * moment)


def test_a_random_codec_has_no_range_on_every_path(study):
    contender = replace(study.contenders[0], jobs=40, codec=ErrorFeedback(QSGD(4)))

    agenda = agenda_of(study, contender, schedule_of(study, contender, 0))

    assert ceilings(agenda, agenda.measured(agenda.bounds[0])) == ()


@pytest.mark.parametrize(
    ("protocol", "told"),
    [
        (PairwiseAveraging(Graph.ring(4)), "every gradient counts one part in p"),
        (Gossip(OnePeerExponential(4), lag=1), "multiply to exact averaging"),
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

    assert "LocalSgd with HeavyBall" in obstacle(study, contender, schedule_of(study, contender, 0))


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
    assert sum(rates) == pytest.approx(study.certificate.error_rate)  # of two figures


def test_a_bound_of_another_family_is_refused(study):
    asked = replace(study, certificate=replace(study.certificate, bounds=("gossip_gap",)))
    contender = replace(study.contenders[0], jobs=40)

    told = obstacle(asked, contender, schedule_of(asked, contender, 0))

    assert told.startswith("gossip_gap does not speak about asynchronous: it speaks of replicas")
    assert "; those that do: server_started_gap, server_in_flight_gap" in told
