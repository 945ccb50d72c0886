"""Gradient energy matching: its energies, its speed, and where it diverges."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from elastic_consistency.optimization.update_rules import (
    GEM,
    AbstractRule,
    HeavyBall,
    PrintedGEM,
    SignedGEM,
)
from elastic_consistency.optimization.update_rules.gem_energy import (
    central_energy,
    energy_factor,
    proxy_energy,
)

numbers = st.floats(-100, 100)


def _round_robin(rule: AbstractRule, n_workers, n_rounds, gradient_at, start, own_commit_in_view):
    """(rounds * n, d) models of a server that workers visit in turn, executed with the rule."""
    server = start[None]
    pulls, views = [server] * n_workers, [server] * n_workers
    states = [rule.worker_state(server) for _ in range(n_workers)]
    models = []
    for commit in range(n_rounds * n_workers):
        worker = commit % n_workers
        latest = server
        gradient = gradient_at(views[worker][0])[None]
        update, states[worker] = rule.encode(states[worker], gradient, views[worker], latest)
        server, _ = rule.step(server, update, None)
        pulls[worker] = latest
        views[worker] = rule.step(latest, update, None)[0] if own_commit_in_view else latest
        models.append(server[0])
    return np.array(models)


def _printed_algorithm(eta, mu, eps, clamp, n_workers, n_rounds, gradient_at, start):
    """Algorithm 1 of the paper, coordinate by coordinate on plain numbers."""
    theta = list(start)
    memory = [{"m": [0.0] * len(start), "s": list(start)} for _ in range(n_workers)]
    models = []
    for _ in range(n_rounds):
        for worker in memory:
            delta = [-eta * g for g in gradient_at(np.array(worker["s"]))]
            pulled = list(theta)
            for i, change in enumerate(delta):
                worker["m"][i] = mu * worker["m"][i] + change
                pi = abs(worker["m"][i]) - abs(pulled[i] - worker["s"][i])
                pi = min(max(pi / (abs(change) + eps), clamp[0]), clamp[1])
                theta[i] += pi * change
            worker["s"] = pulled
            models.append(list(theta))
    return np.array(models)


def _variants_on_numbers(variant, eta, mu, n_workers, n_rounds, gradient_at, start):
    """The authors' program and the signed proposal, coordinate by coordinate on plain numbers."""
    theta = list(start)
    memory = [
        {"m": [0.0] * len(start), "pull": list(start), "own": [0.0] * len(start)}
        for _ in range(n_workers)
    ]
    models = []
    for _ in range(n_rounds):
        for worker in memory:
            point = [p + o for p, o in zip(worker["pull"], worker["own"], strict=True)]
            gradient, pulled = gradient_at(np.array(point)), list(theta)
            for i, g in enumerate(gradient):
                worker["m"][i] = mu * worker["m"][i] - eta * g
                if variant == "as_run":
                    drift = abs(pulled[i] - worker["pull"][i])
                    pi = (abs(worker["m"][i]) - drift) / (eta * abs(g + 1e-12))
                else:  # others' motion, counted with the sign of the bare update -eta g
                    drift = pulled[i] - point[i]
                    drift = abs(drift) if drift * -g > 0 else -abs(drift)
                    pi = (abs(worker["m"][i]) - drift) / (eta * abs(g) + 1e-16)
                worker["own"][i] = -min(max(pi, 0.0), 5.0) * eta * g
                theta[i] += worker["own"][i]
            worker["pull"] = pulled
            models.append(list(theta))
    return np.array(models)


SPECTRUM = np.linspace(0.1, 1.0, 20)


def _quadratic_gradient(x):
    return SPECTRUM * x


@pytest.mark.parametrize("n_workers", [1, 3])
@pytest.mark.parametrize("clamp", [(-np.inf, np.inf), (0.0, 5.0)])
def test_printed_gem_equals_the_algorithm_of_the_paper(n_workers, clamp):
    rule = PrintedGEM(0.05, 0.9, 1e-16, clamp)

    ours = _round_robin(rule, n_workers, 12, _quadratic_gradient, np.ones(20), False)

    paper = _printed_algorithm(
        0.05, 0.9, 1e-16, clamp, n_workers, 12, _quadratic_gradient, np.ones(20)
    )
    np.testing.assert_allclose(ours, paper, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("n_workers", [1, 3, 8])
@pytest.mark.parametrize(("variant", "kind"), [("as_run", GEM), ("signed", SignedGEM)])
def test_the_other_variants_equal_their_restatement(n_workers, variant, kind):
    """Until rounding decides about a kink, which a few rounds do not reach."""
    ours = _round_robin(kind(0.05, 0.9), n_workers, 10, _quadratic_gradient, np.ones(20), True)

    restated = _variants_on_numbers(
        variant, 0.05, 0.9, n_workers, 10, _quadratic_gradient, np.ones(20)
    )
    np.testing.assert_allclose(ours, restated, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("n_workers", [5, 20])
def test_printed_gem_diverges_and_the_clamp_at_zero_alone_cures_it(n_workers):
    printed = PrintedGEM(0.05, 0.9)
    clamped = PrintedGEM(0.05, 0.9, clamp=(0.0, np.inf))
    arguments = (n_workers, 400, _quadratic_gradient, np.ones(20), False)

    with np.errstate(over="ignore", invalid="ignore"):
        wild = _round_robin(printed, *arguments)
    tame = _round_robin(clamped, *arguments)

    assert not np.abs(wild[-1]).max() < 1e3
    assert np.abs(tame).max() < 2
    assert np.abs(tame[-n_workers:]).max() < 0.1


@pytest.mark.parametrize("n_workers", [1, 2, 5, 10])
@pytest.mark.parametrize(("rule", "own_commit"), [(PrintedGEM(0.25), False), (GEM(0.25), True)])
def test_gem_is_slower_than_its_proxy_by_its_own_commit(n_workers, rule, own_commit):
    """u_t + ... + u_{t-n} = m under round robin: n / (n + 1) of the speed, n + 1 steps a period.

    The momentum is then -eta / (1 - mu), the proxy's move in one round.
    """

    def constant(x):
        return np.ones_like(x)

    n_rounds = 40 * (n_workers + 1)
    models = _round_robin(rule, n_workers, 400 + n_rounds, constant, np.zeros(1), own_commit)

    tail = models[400 * n_workers - 1 :, 0]
    speed = (tail[0] - tail[-1]) / n_rounds
    proxy = 0.25 / (1 - 0.9)
    assert speed / proxy == pytest.approx(n_workers / (n_workers + 1), rel=1e-6)


@pytest.mark.parametrize("n_workers", [1, 2, 5, 10])
def test_signed_gem_has_exactly_the_speed_of_its_proxy(n_workers):
    def constant(x):
        return np.ones_like(x)

    rule = SignedGEM(0.25, clamp=(-np.inf, np.inf))
    models = _round_robin(rule, n_workers, 500, constant, np.zeros(1), True)

    tail = models[400 * n_workers - 1 :, 0]
    assert (tail[0] - tail[-1]) / 100 == pytest.approx(0.25 / (1 - 0.9), rel=1e-9)


def test_signed_gem_of_one_worker_is_its_proxy(drive):
    """Nobody else moves, so it is momentum SGD, step for step."""
    rng = np.random.default_rng(1)
    start = rng.normal(size=20)
    rule = SignedGEM(0.05, 0.9, clamp=(-np.inf, np.inf))

    models = _round_robin(rule, 1, 30, lambda x: SPECTRUM * np.abs(x) + 0.1, start, True)

    proxy, velocity, expected = HeavyBall(0.05, 0.9), np.zeros((1, 20)), []
    x = start[None]
    for _ in range(30):
        gradient = SPECTRUM * np.abs(x) + 0.1  # of one sign, so that |m| is the proxy's move
        x, velocity = proxy.step(x, gradient, velocity)
        expected.append(x[0])
    np.testing.assert_allclose(models, expected, rtol=1e-9, atol=1e-9)


@given(gradient=numbers, moved=numbers, momentum=numbers)
def test_both_energies_agree_where_the_centre_moved_with_the_update(gradient, moved, momentum):
    """pi solves E_c = E_p when the signs agree; theory says nothing otherwise."""
    assume(abs(gradient) > 1e-3)
    assume(moved * -gradient >= 0)
    rule = PrintedGEM(0.5, 0.9, 1e-300)
    view, latest = np.zeros((1, 1)), np.full((1, 1), moved)

    update, state = rule.encode(np.full((1, 1), momentum), np.full((1, 1), gradient), view, latest)
    central, _ = rule.step(latest, update, None)

    expected = proxy_energy(state)
    np.testing.assert_allclose(central_energy(view, central), expected, rtol=1e-7, atol=1e-9)


@given(gradient=numbers, moved=numbers, momentum=numbers)
def test_signed_energies_agree_for_either_sign(gradient, moved, momentum):
    assume(abs(gradient) > 1e-3)
    rule = SignedGEM(0.5, 0.9, (-np.inf, np.inf), 1e-300)
    view, latest = np.zeros((1, 1)), np.full((1, 1), moved)

    update, state = rule.encode(np.full((1, 1), momentum), np.full((1, 1), gradient), view, latest)
    central, _ = rule.step(latest, update, None)

    expected = proxy_energy(state)
    np.testing.assert_allclose(central_energy(view, central), expected, rtol=1e-7, atol=1e-9)


def test_printed_gem_breaks_its_own_condition_for_opposite_signs():
    """|theta - s + pi D| = ||m| - 2 |theta - s||, above |m| as soon as |theta - s| > |m|."""
    rule = PrintedGEM(0.5, 0.0, 1e-300)
    view, latest = np.zeros((1, 1)), np.full((1, 1), 3.0)

    update, state = rule.encode(np.zeros((1, 1)), np.full((1, 1), 2.0), view, latest)
    central, _ = rule.step(latest, update, None)

    # D = -1, |m| = 1, distance 3: pi = -2, and the centre goes from 3 to 5 = |1 - 6|.
    assert central.item() == 5.0
    assert central_energy(view, central).item() > proxy_energy(state).item()


@given(momentum=numbers, distance=st.floats(0, 100), length=st.floats(0.01, 10))
def test_the_clamp_bounds_the_factor(momentum, distance, length):
    arrays = (np.array([[value]]) for value in (momentum, distance, length))

    factor = energy_factor(*arrays, (0.0, 5.0)).item()

    assert factor == pytest.approx(min(max((abs(momentum) - distance) / length, 0), 5), rel=1e-12)


def test_more_energy_means_longer_commits():
    view, latest = np.zeros((1, 1)), np.full((1, 1), -0.5)
    gradient, state = np.ones((1, 1)), (np.full((1, 1), -0.5), np.zeros((1, 1)))

    # the momentum becomes -1, so the factor is 2 kappa - 1
    for kappa, expected in ((1.0, 1.0), (2.0, 3.0), (3.0, 5.0)):
        update, _ = GEM(0.5, 1.0 - 1e-15, energy=kappa).encode(state, gradient, view, latest)

        assert update.item() == pytest.approx(expected, rel=1e-9)


def test_gem_compares_two_pulls_although_its_view_has_the_own_commit():
    """With the view in place of the last pull, pi would be 1 here."""
    rule = GEM(0.5, 0.0)
    state = rule.worker_state(np.zeros((1, 1)))
    pulled, view, latest = np.zeros((1, 1)), np.full((1, 1), -0.25), np.full((1, 1), -0.25)

    _, state = rule.encode(state, np.ones((1, 1)), pulled, pulled)
    update, state = rule.encode(state, np.ones((1, 1)), view, latest)

    # |m| = 1/2, distance 1/4 between the pulls
    assert update.item() == pytest.approx(0.5, rel=1e-9)
    assert state[1] is latest


def test_a_zero_gradient_commits_nothing():
    """The factor is huge or clamped, but it multiplies zero."""
    view, latest = np.zeros((1, 1)), np.ones((1, 1))
    for rule in (PrintedGEM(0.5), GEM(0.5), SignedGEM(0.5)):
        update, _ = rule.encode(rule.worker_state(view), np.zeros((1, 1)), view, latest)

        assert update.item() == 0.0
