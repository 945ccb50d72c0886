"""Rules against restatements of other structure, against each other, and on bad input."""

from dataclasses import replace
from math import cos, pi

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from elastic_consistency.optimization.update_rules import (
    ADAG,
    AGN,
    EASGD,
    GEM,
    SGD,
    AbstractRule,
    AdamW,
    Clipped,
    Cosine,
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
    StepDecay,
    ValueClip,
    WarmUp,
    WorkerMomentum,
)

RULES = [
    SGD(0.1),
    HeavyBall(0.1, 0.9),
    Nesterov(0.1, 0.9),
    WorkerMomentum(0.1, 0.9),
    WorkerMomentum(0.1, 0.9, nesterov=True),
    DynSGD(0.1),
    StalenessAwareSGD(0.1),
    DelayAdaptive(0.1, 2.0),
    Downpour(0.1, 3),
    AGN(0.1, 3),
    ADAG(0.1),
    EASGD(0.1, 2.0),
    AdamW(0.1),
    PrintedGEM(0.1),
    GEM(0.1),
    SignedGEM(0.1),
    Scheduled(HeavyBall(0.1, 0.9), WarmUp(3, Cosine(5))),
    Clipped(HeavyBall(0.1, 0.9), NormClip(1.0)),
    Clipped(SGD(0.1), ValueClip(1.0)),
]
rule_of_each_kind = pytest.mark.parametrize("rule", RULES, ids=lambda rule: repr(rule)[:40])
sequences = arrays(np.float64, (6, 2, 3), elements=st.floats(-10, 10))


@rule_of_each_kind
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_all_libraries_agree_bit_for_bit(rule, dtype, libraries):
    """Only +, -, *, /, sqrt, min and max occur, which IEEE 754 rounds alike everywhere."""
    rng = np.random.default_rng(1)
    start, gradients = rng.normal(size=(2, 3)), rng.normal(size=(8, 2, 3))
    latest = rng.normal(size=(8, 2, 3))
    results = []
    for library in libraries:
        x = library.array(start, dtype)
        of_worker, of_replica = rule.worker_state(x), rule.replica_state(x)
        for gradient, pull in zip(gradients, latest, strict=True):
            arguments = (library.array(gradient, dtype), x, library.array(pull, dtype))
            update, of_worker = rule.encode(of_worker, *arguments)
            x, of_replica = rule.step(x, update, of_replica)
        results.append(library.numpy(x))

    assert results[0].dtype == dtype
    if isinstance(rule, Clipped) and isinstance(rule.clip, NormClip):
        # A norm is a sum, whose order is the library's own.
        tolerance = 1e-13 if dtype == np.float64 else 1e-5
        np.testing.assert_allclose(results[1], results[0], rtol=tolerance)
    else:
        assert results[1].tobytes() == results[0].tobytes()
    assert results[2].tobytes() == results[0].tobytes()


@rule_of_each_kind
def test_nothing_that_came_in_is_written_to(rule):
    rng = np.random.default_rng(2)
    x, gradient = rng.normal(size=(2, 3)), rng.normal(size=(2, 3))
    copies = x.copy(), gradient.copy()
    for array in (x, gradient):
        array.flags.writeable = False

    update, _ = rule.encode(rule.worker_state(x), gradient, x, x)
    rule.step(x, update, rule.replica_state(x))

    assert (x == copies[0]).all()
    assert (gradient == copies[1]).all()


@rule_of_each_kind
def test_additive_rules_step_once_or_twice_alike(rule):
    rng = np.random.default_rng(3)
    x, a, b = rng.normal(size=(3, 2, 4))

    first, state = rule.step(x, a, rule.replica_state(x))
    twice, _ = rule.step(first, b, state)
    once, _ = rule.step(x, a + b, rule.replica_state(x))

    assert np.allclose(twice, once, rtol=1e-12, atol=1e-12) == rule.additive


@pytest.mark.parametrize("rule", RULES[:-2] + RULES[-1:], ids=lambda rule: repr(rule)[:40])
def test_blocks_of_a_model_step_as_the_whole_does(rule):
    """Every rule works coordinate by coordinate, only the clip by norm needs the whole."""
    rng = np.random.default_rng(3)
    x, gradients, latest = rng.normal(size=(1, 6)), rng.normal(size=(4, 1, 6)), np.ones((1, 6))

    def run(part):
        model, pull = x[:, part], latest[:, part]
        of_worker, of_replica = rule.worker_state(model), rule.replica_state(model)
        for gradient in gradients[:, :, part]:
            update, of_worker = rule.encode(of_worker, gradient, model, pull)
            model, of_replica = rule.step(model, update, of_replica)
        return model

    apart = np.concatenate([run(slice(0, 2)), run(slice(2, 6))], axis=1)

    assert (apart == run(slice(0, 6))).all()


@rule_of_each_kind
def test_a_rule_is_a_value(rule):
    assert replace(rule) == rule
    assert hash(replace(rule)) == hash(rule)
    assert isinstance(rule, AbstractRule)


@pytest.mark.parametrize("rule", [r for r in RULES if r.constant_step], ids=repr)
@given(gradient=arrays(np.float64, (2, 3), elements=st.floats(-10, 10)))
def test_a_gradient_ends_up_with_the_weight_of_the_auxiliary_sequence(rule, gradient):
    """After one gradient and many zeros x has moved by the auxiliary step size times it."""
    x = start = np.zeros_like(gradient)
    of_worker, of_replica = rule.worker_state(x), rule.replica_state(x)
    for k in range(400):
        update, of_worker = rule.encode(of_worker, gradient * (k == 0), x, x)
        x, of_replica = rule.step(x, update, of_replica)

    expected = start - rule.auxiliary_step_size * gradient
    np.testing.assert_allclose(x, expected, rtol=1e-9, atol=1e-12)


@given(gradients=sequences, momentum=st.floats(0, 0.95))
def test_heavy_ball_is_the_double_sum_of_its_gradients(gradients, momentum):
    rule = HeavyBall(0.25, momentum)
    x, state = np.zeros((2, 3)), np.zeros((2, 3))
    for gradient in gradients:
        x, state = rule.step(x, gradient, state)

    ages = np.subtract.outer(np.arange(6), np.arange(6))
    weights = np.where(ages >= 0, momentum ** np.maximum(ages, 0), 0.0).sum(axis=0)
    expected = -0.25 * np.einsum("k,krd->rd", weights, gradients)
    np.testing.assert_allclose(x, expected, rtol=1e-12, atol=1e-12)


@given(gradients=sequences, momentum=st.floats(0, 0.95))
@pytest.mark.parametrize(("kind", "power"), [(HeavyBall, 1), (Nesterov, 2)])
def test_momentum_is_sgd_on_its_auxiliary_sequence(kind, power, gradients, momentum):
    """z = x - alpha mu^power / (1 - mu) m moves by alpha / (1 - mu) g at every step."""
    rule = kind(0.25, momentum)
    x = state = np.zeros((2, 3))
    gap = 0.25 * momentum**power / (1 - momentum)
    for gradient in gradients:
        before = x - gap * state
        x, state = rule.step(x, gradient, state)
        after = x - gap * state

        expected = before - rule.auxiliary_step_size * gradient
        np.testing.assert_allclose(after, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("kind", "gap"), [(HeavyBall, 9.0), (Nesterov, 8.1)])
def test_momentum_reaches_its_gap_under_a_constant_gradient(kind, gap):
    """B = mu M / (1 - mu) = 9 for the heavy ball at mu = .9, and mu times that for Nesterov."""
    rule, slope = kind(0.01, 0.9), np.array([[1.0]])
    x = z = np.array([[0.0]])
    state, largest = rule.replica_state(x), 0.0
    for _ in range(2000):
        largest = max(largest, abs((x - z).item()) / rule.auxiliary_step_size)
        x, state = rule.step(x, slope, state)
        z = z - rule.auxiliary_step_size * slope

    assert largest == pytest.approx(gap, rel=1e-9)
    assert largest <= gap * (1 + 1e-12)


TORCH_TWINS = [
    (HeavyBall(0.1, 0.9), torch.optim.SGD, {"momentum": 0.9}),
    (Nesterov(0.1, 0.9), torch.optim.SGD, {"momentum": 0.9, "nesterov": True}),
    (AdamW(0.1, weight_decay=0.3), torch.optim.AdamW, {"weight_decay": 0.3}),
]


@pytest.mark.parametrize(
    ("rule", "kind", "options"), TORCH_TWINS, ids=["heavy", "nesterov", "adamw"]
)
def test_rules_equal_the_optimizers_of_torch(rule, kind, options, drive):
    rng = np.random.default_rng(4)
    start, gradients = rng.normal(size=(1, 5)), rng.normal(size=(20, 1, 5))
    parameter = torch.nn.Parameter(torch.tensor(start))
    optimizer = kind([parameter], lr=0.1, **options)
    for gradient in gradients:
        parameter.grad = torch.tensor(gradient)
        optimizer.step()

    ours = drive(rule, start, gradients)[-1]

    np.testing.assert_allclose(ours, parameter.detach().numpy(), rtol=1e-12)


def test_scheduled_momentum_equals_a_scheduled_optimizer_of_torch(drive):
    rng = np.random.default_rng(5)
    start, gradients = rng.normal(size=(1, 5)), rng.normal(size=(12, 1, 5))
    parameter = torch.nn.Parameter(torch.tensor(start))
    optimizer = torch.optim.SGD([parameter], lr=0.1, momentum=0.9)
    cosine = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=12)
    for gradient in gradients:
        parameter.grad = torch.tensor(gradient)
        optimizer.step()
        cosine.step()

    ours = drive(Scheduled(HeavyBall(0.1, 0.9), Cosine(12)), start, gradients)[-1]

    np.testing.assert_allclose(ours, parameter.detach().numpy(), rtol=1e-10)


@given(gradients=sequences, staleness=st.lists(st.integers(0, 50), min_size=6, max_size=6))
def test_staleness_rules_are_weighted_sums(gradients, staleness):
    smoothness, step_size = 0.5, 0.25
    weights = {
        DynSGD(step_size): [step_size / (t + 1) for t in staleness],
        StalenessAwareSGD(step_size): [step_size / t if t else step_size for t in staleness],
        DelayAdaptive(step_size, smoothness): [
            min(step_size, 1 / (smoothness * t)) if t else step_size for t in staleness
        ],
    }
    for rule, expected in weights.items():
        x = np.zeros((2, 3))
        for gradient, steps in zip(gradients, staleness, strict=True):
            x, _ = rule.step(x, rule.scale(steps) * gradient, None)

        moved = -np.tensordot(expected, gradients, axes=1)
        np.testing.assert_allclose(x, moved, rtol=1e-12, atol=1e-12)


@given(gradients=sequences)
def test_momentum_at_one_worker_equals_momentum_at_the_replica(gradients):
    for at_worker, at_replica in (
        (WorkerMomentum(0.1, 0.9), HeavyBall(0.1, 0.9)),
        (WorkerMomentum(0.1, 0.9, nesterov=True), Nesterov(0.1, 0.9)),
    ):
        x = y = velocity = state = np.zeros((2, 3))
        for gradient in gradients:
            update, velocity = at_worker.encode(velocity, gradient, x, x)
            x, _ = at_worker.step(x, update, None)
            y, state = at_replica.step(y, gradient, state)

        assert (x == y).all()


@given(gradients=sequences)
def test_momentum_at_two_workers_is_two_sums(gradients):
    """Updates arrive in turn; a worker's momentum knows only its own gradients."""
    rule, momentum = WorkerMomentum(0.25, 0.5), 0.5
    x = np.zeros((2, 3))
    states = [rule.worker_state(x), rule.worker_state(x)]
    for number, gradient in enumerate(gradients):
        update, states[number % 2] = rule.encode(states[number % 2], gradient, x, x)
        x, _ = rule.step(x, update, None)

    expected = np.zeros((2, 3))
    for worker in (0, 1):
        own = gradients[worker::2]
        weights = [(1 - momentum ** (len(own) - k)) / (1 - momentum) for k in range(len(own))]
        expected -= 0.25 * np.tensordot(weights, own, axes=1)
    np.testing.assert_allclose(x, expected, rtol=1e-12, atol=1e-12)


@given(rate=st.floats(0.01, 2), weight=st.floats(0.01, 1.5), n_rounds=st.integers(0, 12))
def test_easgd_on_a_parabola_is_a_matrix_power(rate, weight, n_rounds):
    rule = EASGD(rate, weight / rate)
    x, centre = np.array([[1.0]]), np.array([[-0.5]])
    for _ in range(n_rounds):
        gradient, spring = x, rule.exchange_weight * (x - centre)
        x, _ = rule.step(x - spring, gradient, None)
        centre = centre + spring

    matrix = np.array([[1 - rate - weight, weight], [weight, 1 - weight]])
    expected = np.linalg.matrix_power(matrix, n_rounds) @ [1.0, -0.5]
    np.testing.assert_allclose([x.item(), centre.item()], expected, rtol=1e-9, atol=1e-9)


@given(gradients=sequences, moved=sequences)
def test_adag_is_its_fraction(gradients, moved):
    """g / (d^2 / eta + 1) = eta g / (d^2 + eta)."""
    for gradient, distance in zip(gradients, moved, strict=True):
        update, _ = ADAG(0.25).encode(None, gradient, distance, 3 * distance)

        expected = 0.25 * gradient / (4 * distance**2 + 0.25)
        np.testing.assert_allclose(update, expected, rtol=1e-12)


@given(gradients=sequences)
def test_special_cases_equal_sgd(gradients):
    """Without momentum, staleness, clipping or schedule every rule is SGD, bit for bit."""
    special = [
        HeavyBall(0.1, 0.0),
        Nesterov(0.1, 0.0),
        WorkerMomentum(0.1, 0.0),
        DynSGD(0.1),
        StalenessAwareSGD(0.1),
        DelayAdaptive(0.1, 1.0),
        Downpour(0.1),
        AGN(0.1, 1),
        ADAG(0.1),
        EASGD(0.1, 1.0),
        Scheduled(SGD(0.1), StepDecay((3,), 1.0)),
        Clipped(SGD(0.1), ValueClip(1e9)),
        Clipped(SGD(0.1), NormClip(1e9)),
    ]
    for rule in special:
        x = y = np.zeros((2, 3))
        of_worker, of_replica = rule.worker_state(x), rule.replica_state(x)
        for gradient in gradients:
            update, of_worker = rule.encode(of_worker, gradient, x, x)
            x, of_replica = rule.step(x, rule.scale(0) * update, of_replica)
            y, _ = SGD(0.1).step(y, gradient, None)

        assert (x == y).all(), rule


@given(step=st.integers(0, 40))
def test_step_size_schedules_follow_their_formulas(step):
    assert WarmUp(4).factor(step) == min(1, (step + 1) / 4)
    assert StepDecay((3, 7), 0.5).factor(step) == (1 if step < 3 else 0.5 if step < 7 else 0.25)
    assert Cosine(10, 0.2).factor(step) == pytest.approx(
        0.6 + 0.4 * cos(pi * step / 10) if step < 10 else 0.2
    )
    assert WarmUp(4, StepDecay((2,), 0.5)).factor(step) == (
        (step + 1) / 4 if step < 4 else 1.0 if step < 6 else 0.5
    )


def test_a_step_size_of_zero_moves_the_state_and_not_the_model():
    rule = Scheduled(HeavyBall(0.5, 0.5), Cosine(1))
    x = np.ones((1, 1))

    _, state = rule.step(x, x, rule.replica_state(x))
    still, (count, velocity) = rule.step(x, x, state)

    assert still is x
    assert (count, velocity.item()) == (2, 1.5)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SGD(0.0), r"SGD.step_size must be a finite number > 0, got 0.0."),
        (lambda: SGD(float("nan")), r"SGD.step_size"),
        (lambda: HeavyBall(0.1, 1.0), r"HeavyBall.momentum must be a number in \[0, 1\), got 1.0."),
        (lambda: Nesterov(0.1, -0.1), r"Nesterov.momentum"),
        (lambda: WorkerMomentum(0.1, 2), r"WorkerMomentum.momentum"),
        (lambda: DelayAdaptive(0.1, 0), r"DelayAdaptive.smoothness"),
        (lambda: Downpour(0.1, 0), r"Downpour.window"),
        (lambda: AGN(0.1, 0), r"AGN.window"),
        (lambda: EASGD(0.1, -1), r"EASGD.exploration"),
        (lambda: AdamW(0.1, second_decay=1), r"AdamW.second_decay"),
        (lambda: AdamW(0.1, epsilon=0), r"AdamW.epsilon"),
        (lambda: GEM(0.1, clamp=(1, 0)), r"GEM.clamp"),
        (lambda: GEM(0.1, energy=0), r"GEM.energy"),
        (lambda: PrintedGEM(0.1, epsilon=0), r"PrintedGEM.epsilon"),
        (lambda: Scheduled(GEM(0.1), WarmUp(2)), r"Scheduled.rule must be a rule with a step_size"),
        (lambda: Scheduled(Clipped(SGD(0.1), NormClip(1)), WarmUp(2)), r"Scheduled.rule"),
        (lambda: WarmUp(0), r"WarmUp.steps"),
        (lambda: StepDecay((3, 3)), r"StepDecay.milestones"),
        (lambda: Cosine(3, 2.0), r"Cosine.floor"),
        (lambda: NormClip(0), r"NormClip.limit"),
        (lambda: ValueClip(-1), r"ValueClip.limit"),
    ],
)
def test_bad_hyperparameters_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
