"""Three events of every rule, worked by hand with dyadic numbers, on every array library."""

import numpy as np
import pytest

from elastic_consistency.optimization.update_rules import (
    ADAG,
    AGN,
    EASGD,
    GEM,
    SGD,
    AdamW,
    Clipped,
    DelayAdaptive,
    Downpour,
    DynSGD,
    HeavyBall,
    Nesterov,
    NormClip,
    PrintedGEM,
    Scheduled,
    SignedGEM,
    StalenessAwareSGD,
    ValueClip,
    WarmUp,
    WorkerMomentum,
)

# x_0 = 1 and the gradients are 1, 2, -1, whatever the model. rule, staleness, three models.
EXAMPLES = {
    # 1 - 1/2;  1/2 - 1;  -1/2 + 1/2
    "sgd": (SGD(0.5), None, (0.5, -0.5, 0.0)),
    # velocities 1, 5/2 and 1/4
    "heavy_ball": (HeavyBall(0.5, 0.5), None, (0.5, -0.75, -0.875)),
    # m as above; steps of 1 + 1/2, 2 + 5/4, -1 + 1/8
    "nesterov": (Nesterov(0.5, 0.5), None, (0.25, -1.375, -0.9375)),
    "worker_momentum": (WorkerMomentum(0.5, 0.5), None, (0.5, -0.75, -0.875)),
    "worker_nesterov": (WorkerMomentum(0.5, 0.5, True), None, (0.25, -1.375, -0.9375)),
    # factors 1, 1/2, 1/4
    "dyn_sgd": (DynSGD(0.5), (0, 1, 3), (0.5, 0.0, 0.125)),
    # factors 1, 1, 1/2
    "staleness_aware": (StalenessAwareSGD(0.5), (0, 1, 2), (0.5, -0.5, -0.25)),
    # 1 / (L tau alpha) = 1, 2 and 1/2: factors 1, 1, 1/2
    "delay_adaptive": (DelayAdaptive(0.5, 1.0), (0, 1, 4), (0.5, -0.5, -0.25)),
    # step sizes 1/4, 1/2, 1/2
    "warm_up": (Scheduled(SGD(0.5), WarmUp(2)), None, (0.75, -0.25, 0.25)),
    # step sizes 1/4, 1/2, 1/2 on m = 1, 5/2, 1/4
    "warm_up_heavy": (Scheduled(HeavyBall(0.5, 0.5), WarmUp(2)), None, (0.75, -0.5, -0.625)),
    # gradients 1, 3/2, -1
    "norm_clip": (Clipped(SGD(0.5), NormClip(1.5)), None, (0.5, -0.25, 0.25)),
    "value_clip": (Clipped(SGD(0.5), ValueClip(1.5)), None, (0.5, -0.25, 0.25)),
    "downpour": (Downpour(0.5), None, (0.5, -0.5, 0.0)),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_three_events_are_as_worked_by_hand(name, library, drive):
    rule, staleness, expected = EXAMPLES[name]
    gradients = [library.array([[g]]) for g in (1, 2, -1)]

    models = drive(rule, library.array([[1]]), gradients, staleness)

    assert [library.numpy(model).item() for model in models] == list(expected)


@pytest.mark.parametrize("decay", [0.0, 0.5])
def test_adamw_moves_by_its_step_size_under_a_constant_gradient(decay, library, drive):
    """Both means are exact then, so x <- (1 - alpha lambda) x - alpha sign(g)."""
    rule = AdamW(0.5, 0.5, 0.5, 1e-300, decay)

    models = drive(rule, library.array([[1]]), [library.array([[4]])] * 3)

    expected = (0.5, 0.0, -0.5) if decay == 0 else (0.25, -0.3125, -0.734375)
    assert [library.numpy(model).item() for model in models] == list(expected)


def test_a_window_of_downpour_sends_the_sum_and_agn_the_mean(library):
    """Two local steps with gradients 1 and 2 from x = 1, then the commit; server at 1."""
    commits = {}
    for rule in (Downpour(0.5, 2), AGN(0.5, 2)):
        local, message = library.array([[1]]), library.array([[0]])
        for gradient in (library.array([[1]]), library.array([[2]])):
            update, _ = rule.encode(None, gradient, local, local)
            local, _ = rule.step(local, update, None)
            message = message + rule.commit_weight * update
        server, _ = rule.step(library.array([[1]]), message, None)
        commits[type(rule)] = (library.numpy(local).item(), library.numpy(server).item())

    # Both go to -1/2 at the worker; the server takes 1 - 3/2 or 1 - 3/4.
    assert commits == {Downpour: (-0.5, -0.5), AGN: (-0.5, 0.25)}


def test_adag_divides_by_one_plus_the_squared_distance(library):
    """eta = 1/2; the server moved by 0, 1 and 2 since the view: divisors 1, 3 and 9."""
    rule, x = ADAG(0.5), library.array([[1]])
    for moved, gradient, expected in ((0, 1, 0.5), (1, 3, 0.0), (2, 9, -0.5)):
        latest = x + moved
        update, _ = rule.encode(None, library.array([[gradient]]), x, latest)
        x, _ = rule.step(x, update, None)

        assert library.numpy(x).item() == pytest.approx(expected, abs=1e-15)


def test_easgd_exchanges_and_steps(library):
    """f = x^2 / 2, eta = rho = 1/2, so a = 1/4; worker at 1, centre at 0."""
    rule = EASGD(0.5, 0.5)
    x, centre = library.array([[1]]), library.array([[0]])
    seen = []
    for _ in range(3):
        gradient = x
        spring = rule.exchange_weight * (x - centre)
        x, centre = x - spring, centre + spring
        x, _ = rule.step(x, gradient, None)
        seen.append((library.numpy(x).item(), library.numpy(centre).item()))

    # 1 - 1/4 - 1/2, 1/4;  no spring, 1/4 - 1/8;  spring -1/32, 1/8 + 1/32 - 1/16
    assert seen == [(0.25, 0.25), (0.125, 0.25), (0.09375, 0.21875)]


# eta = mu = 1/2, gradient 1: m = -1/2, -3/4, -7/8 and the bare update is -1/2.
@pytest.mark.parametrize(
    ("rule", "own_commit_in_view", "expected"),
    [
        # distances 0, 1/2, 1/4: pi = 1, 1/2, 5/4
        (PrintedGEM(0.5, 0.5), False, (0.5, 0.25, -0.375)),
        (GEM(0.5, 0.5), True, (0.5, 0.25, -0.375)),
        # the own commit is nobody's motion: pi = 1, 3/2, 7/4, which is momentum SGD
        (SignedGEM(0.5, 0.5), True, (0.5, -0.25, -1.125)),
    ],
    ids=["printed", "as_run", "signed"],
)
def test_gem_of_one_worker(rule, own_commit_in_view, expected, library):
    server, view = library.array([[1]]), library.array([[1]])
    state = rule.worker_state(server)
    for model in expected:
        latest = server
        update, state = rule.encode(state, library.array([[1]]), view, latest)
        server, _ = rule.step(server, update, None)
        view = rule.step(latest, update, None)[0] if own_commit_in_view else latest

        assert library.numpy(server).item() == pytest.approx(model, abs=1e-11)


def test_clipping_by_norm_keeps_the_direction_and_by_value_does_not(library):
    gradient = library.array([[3, 4], [0, 0], [0.3, 0.4]])

    by_norm = library.numpy(NormClip(1.0)(gradient))
    by_value = library.numpy(ValueClip(3.5)(gradient))

    np.testing.assert_allclose(by_norm, [[0.6, 0.8], [0, 0], [0.3, 0.4]], rtol=1e-15)
    assert by_value.tolist() == [[3, 3.5], [0, 0], [0.3, 0.4]]


def test_clipping_shows_divergence(library):
    gradient = library.array([[np.nan, 1.0], [np.inf, 1.0]])

    by_norm = library.numpy(NormClip(1.0)(gradient))
    by_value = library.numpy(ValueClip(2.0)(gradient))

    assert np.isnan(by_norm).all()
    assert np.isnan(by_value[0, 0])
    assert by_value[1].tolist() == [2.0, 1.0]
