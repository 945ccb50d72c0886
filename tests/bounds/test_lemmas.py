"""Each lemma holds on random instances: random vectors, random smooth losses, random codecs."""

import math
import re

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from elastic_consistency.bounds import symbols as s
from elastic_consistency.bounds.cluster_time import batch_seconds
from elastic_consistency.bounds.proofs import lemmas
from elastic_consistency.bounds.proofs.vectors import (
    ORIGIN,
    Atom,
    Point,
    nonnegative_atom,
    point,
    vector,
)

OUTCOMES, SIZE = 4, 3
numbers = st.floats(-3, 3, allow_subnormal=False)
vectors = arrays(float, (OUTCOMES, SIZE), elements=numbers)
positive = st.floats(0.05, 4, allow_subnormal=False)


def value_of(expression, named, further=None, parameters=None):
    """Evaluate a linear form in atoms, with the mean over outcomes as the expectation."""
    known = dict(further or {})
    for atom in expression.atoms(Atom):
        if str(atom) not in known:
            known[str(atom)] = expected(str(atom), named)
    numbers_of = {a: known[str(a)] for a in expression.atoms(Atom)}
    return float(expression.subs(numbers_of | (parameters or {})))


def expected(name, named):
    square = re.fullmatch(r"E\|(.*)\|\^2", name)
    if square:
        return float((named[square.group(1)] ** 2).sum(axis=1).mean())
    product = re.fullmatch(r"E<(.*),(.*)>", name)
    if product:
        return float((named[product.group(1)] * named[product.group(2)]).sum(axis=1).mean())
    length = re.fullmatch(r"\|(.*)\|", name)
    return math.sqrt(float((named[length.group(1)] ** 2).sum(axis=1).mean()))


def assert_holds(premise, named, further=None, parameters=None):
    left = value_of(premise.lhs, named, further, parameters)
    right = value_of(premise.rhs, named, further, parameters)
    slack = 1e-9 * (1 + abs(left) + abs(right))
    if premise.equality:
        assert left == pytest.approx(right, abs=slack)
    else:
        assert left <= right + slack


def cosine(x, curvature):
    """A non-convex loss with second derivatives between -L and L."""
    return curvature * np.cos(x).sum(axis=1).mean(), -curvature * np.sin(x)


def log_cosh(x, curvature, convexity):
    """A loss with second derivatives between c and L and its minimiser at 0."""
    rest = curvature - convexity
    value = convexity / 2 * x**2 + rest * np.log(np.cosh(x))
    return value.sum(axis=1).mean(), convexity * x + rest * np.tanh(x)


@given(vectors, vectors, positive)
def test_smooth_losses_satisfy_smoothness_and_the_lipschitz_gradient(x, y, curvature):
    at_x, at_y = cosine(x, curvature), cosine(y, curvature)
    named = {"x": x, "y": y, "grad f(x)": at_x[1], "grad f(y)": at_y[1]}
    further = {"E f(x)": at_x[0], "E f(y)": at_y[0]}

    for lemma in (lemmas.smoothness, lemmas.lipschitz_gradient):
        assert_holds(lemma(point("x"), point("y")), named, further, {s.L: curvature})


@given(vectors, positive, st.floats(0, 1))
def test_convex_losses_satisfy_their_lemmas(v, curvature, share):
    convexity = share * curvature
    value, gradient = log_cosh(v, curvature, convexity)
    best = Point("x*", ORIGIN, ORIGIN)
    named = {"v": v, "grad f(v)": gradient}
    further = {"E f(v)": value, "E f(x*)": 0.0}
    parameters = {s.L: curvature, s.c: convexity}

    for premise in (
        lemmas.strong_convexity(point("v"), best),
        lemmas.convexity(point("v"), best),
        lemmas.smooth_convexity(point("v"), best),
        lemmas.gradient_size(point("v"), best),
        lemmas.least_value(best, point("v")),
        lemmas.strong_monotonicity(point("v"), best),
        lemmas.cocoercivity(point("v"), best),
    ):
        assert_holds(premise, named, further, parameters)


@given(vectors, vectors, positive)
def test_square_minkowski_and_definition_hold_for_all_vectors(u, w, factor):
    combined = vector("u") + factor * vector("w")
    named = {"u": u, "w": w, "named": u + factor * w}
    named[str(combined)] = u + factor * w

    assert_holds(lemmas.square(combined), named)
    assert_holds(lemmas.minkowski(vector("u"), factor * vector("w")), named)
    assert_holds(lemmas.definition("named", combined), named)


@given(arrays(float, (5, OUTCOMES, SIZE), elements=numbers))
def test_sums_and_means_of_several_vectors(several):
    total, mean = several.sum(axis=0), several.mean(axis=0)
    squares = float((several**2).sum(axis=2).mean(axis=1).sum())
    further = {"window[E|term|^2]": squares, "E|node|^2": squares / 5}

    assert_holds(
        lemmas.window_sum(vector("total"), vector("term"), sp.Integer(5)), {"total": total}, further
    )
    assert_holds(lemmas.mean_of_nodes(vector("mean"), vector("node")), {"mean": mean}, further)


@given(st.lists(st.floats(0, 5), min_size=6, max_size=40), st.integers(1, 5), st.data())
def test_a_term_lies_in_at_most_as_many_windows_as_the_window_is_long(terms, count, data):
    """Each step looks back over at most `count` terms, how many is arbitrary."""
    sums = []
    for step in range(len(terms)):
        back = data.draw(st.integers(0, min(count, step)))
        sums.append(sum(terms[step - back : step]))
    further = {
        "avg window[E|a|^2]": float(np.mean(sums)),
        "avg E|a|^2": float(np.mean(terms)),
    }

    size = lemmas.square(vector("a")).rhs
    assert_holds(lemmas.window_exchange(size, sp.Integer(count)), {}, further)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 5)), min_size=1, max_size=20))
def test_capped_weights(pairs):
    atom, weight = (
        next(iter(lemmas.square(vector("a")).rhs.atoms(Atom))),
        sp.Symbol("w", positive=True),
    )
    premise = lemmas.capped_weight(atom, weight, sp.S.One)
    second = np.mean([w**2 * a for w, a in pairs])
    first = np.mean([w * a for w, a in pairs])
    further = {"avg w^2 E|a|^2": float(second), "avg w^1 E|a|^2": float(first)}

    assert_holds(premise, {}, further)
    assert premise.conditions == (1 - weight,)


def signs(count):
    """Return all sign patterns: exact independent noise, [outcomes, count]."""
    return np.array(np.meshgrid(*[[-1.0, 1.0]] * count)).reshape(count, -1).T


@given(arrays(float, (4, SIZE), elements=numbers), arrays(float, (SIZE,), elements=numbers))
def test_noise_lemmas_on_exactly_independent_noise(directions, fixed):
    """Four jobs with noise +-direction; all 16 outcomes are equally likely."""
    patterns = signs(4)
    noises = patterns[:, :, None] * directions[None, :, :]
    sigma = float(np.sqrt((directions**2).sum(axis=1).max()))
    named = {
        "a": np.broadcast_to(fixed, (16, SIZE)),
        "noise": noises[:, 0],
        "other": noises[:, 1],
        "total": noises.sum(axis=1),
        "mean": noises.mean(axis=1),
    }
    at = {s.sigma: sigma, s.p: 4, s.m: 4}

    assert_holds(lemmas.unbiased_noise(vector("a"), vector("noise")), named, None, at)
    assert_holds(lemmas.orthogonal_noise(vector("noise"), vector("other")), named, None, at)
    assert_holds(lemmas.variance(vector("noise")), named, None, at)
    assert_holds(lemmas.noise_of_several(vector("total"), sp.Integer(4)), named, None, at)
    assert_holds(lemmas.mean_variance(vector("mean")), named, None, at)
    assert_holds(lemmas.batch_variance(vector("mean")), named, None, at)


@given(
    arrays(float, (3, SIZE), elements=numbers),
    arrays(float, (3, SIZE), elements=numbers),
    arrays(float, (SIZE,), elements=numbers),
)
def test_parallel_steps_of_three_out_of_four_nodes(means, directions, fixed):
    patterns = signs(3)
    gradients = means[None] + patterns[:, :, None] * directions[None]
    step, fraction = gradients.sum(axis=1) / 4, sp.Rational(3, 4)
    sigma = float(np.sqrt((directions**2).sum(axis=1).max()))
    further = {
        "E<a,g>": float((means @ fixed).mean()),
        "E|g|^2": float((means**2).sum(axis=1).mean()),
    }
    named = {"a": np.broadcast_to(fixed, step.shape), "S": step}
    arguments = (vector("S"), vector("g"), fraction)

    assert_holds(lemmas.parallel_mean(vector("a"), *arguments), named, further)
    assert_holds(lemmas.parallel_size(*arguments), named, further, {s.sigma: sigma, s.p: 4})


@given(vectors, st.integers(1, SIZE))
def test_topk_is_a_contraction(w, kept):
    order = np.argsort(-abs(w), axis=1, kind="stable")
    left = w.copy()
    np.put_along_axis(left, order[:, :kept], 0.0, axis=1)
    at = {s.gamma: 1 - sp.Rational(kept, SIZE)}

    assert_holds(lemmas.contraction(vector("left"), vector("w")), {"left": left, "w": w}, None, at)
    assert_holds(
        lemmas.squared_contraction(vector("left"), vector("w")), {"left": left, "w": w}, None, at
    )


@given(vectors, arrays(bool, (OUTCOMES, SIZE)))
def test_a_part_of_a_vector_is_not_longer(w, mask):
    named = {"part": w * mask, "G": w}

    assert_holds(lemmas.part(vector("part"), vector("G")), named)


@given(arrays(float, (SIZE,), elements=numbers), arrays(bool, (SIZE,)))
def test_the_late_part_is_short_when_the_early_part_has_its_share(w, early):
    whole = np.linalg.norm(w)
    share = float(np.linalg.norm(w * early) / whole) if whole else 1.0
    named = {"late": (w * ~early)[None], "G": w[None]}
    beta = min(share, 1.0) * (1 - 1e-9)

    assert_holds(lemmas.norm_test(vector("late"), vector("G")), named, None, {s.beta: beta})


@given(arrays(float, (6, SIZE), elements=numbers), st.floats(0.05, 0.45))
def test_mixing_on_a_ring_contracts_deviations(rows, weight):
    """Rows are nodes: the mean over rows is the rms over nodes."""
    shift = np.roll(np.eye(6), 1, axis=0)
    matrix = (1 - 2 * weight) * np.eye(6) + weight * (shift + shift.T)
    deviation = matrix - 1 / 6
    rho = float(np.linalg.norm(deviation, 2))
    named = {"mixed": deviation @ rows, "u": rows, "away": rows - rows.mean(axis=0)}

    assert_holds(lemmas.mixing(vector("mixed"), vector("u")), named, None, {s.rho: rho})
    assert_holds(lemmas.projection(vector("away"), vector("u")), named)
    assert_holds(lemmas.deviation_from_mean(vector("away"), vector("u")), named)


masses_of_nodes = st.lists(st.floats(0.01, 3), min_size=4, max_size=4).map(np.array)


@given(vectors, masses_of_nodes, arrays(float, (OUTCOMES, OUTCOMES), elements=st.floats(0.01, 1)))
def test_push_sum_averages_by_mass(z, mass, split):
    """Rows are nodes, times the root of their share of mass: means over rows weigh by mass."""
    split /= split.sum(axis=0)
    after = split @ mass
    share, share_after = np.sqrt(mass / mass.mean()), np.sqrt(after / after.mean())
    kernel = split * mass / after[:, None]
    rho = float(np.linalg.svd(share_after[:, None] * kernel / share)[1][1])
    deviation = z - mass @ z / mass.sum()
    named = {
        "u": share[:, None] * z,
        "y": share[:, None] * deviation,
        "averaged": share_after[:, None] * (kernel @ z),
        "mixed": share_after[:, None] * (kernel @ deviation),
    }

    assert_holds(lemmas.mass_mixing(vector("mixed"), vector("y")), named, None, {s.rho: rho})
    assert_holds(lemmas.mass_averaging(vector("averaged"), vector("u")), named)
    assert_holds(lemmas.mass_projection(vector("y"), vector("u")), named)


@given(vectors, masses_of_nodes)
def test_a_gradient_moves_a_light_replica_far(gradients, mass):
    lengths = np.maximum(np.linalg.norm(gradients, axis=1, keepdims=True), 1e-3)
    named = {"shift": gradients / lengths / np.sqrt(mass)[:, None], "G": np.eye(OUTCOMES)}
    harmonic = OUTCOMES / float((1 / mass).sum())

    assert_holds(lemmas.mass_shift(vector("shift"), vector("G")), named, None, {s.w_mass: harmonic})


@given(st.integers(2, 8), st.lists(st.integers(0, 7), min_size=40, max_size=120), positive)
def test_the_delay_adaptive_exchange_on_random_schedules(n, turns, curvature):
    """Scalar gradients of length 1 without noise; delays are arbitrary."""
    alpha = 1 / (3 * curvature * n)
    jobs, running, version = [[0, None] for _ in range(n)], list(range(n)), 0
    lists = [list(range(k)) for k in range(n)]
    for turn in turns:
        worker = turn % n
        jobs[running[worker]][1] = version - jobs[running[worker]][0]
        version += 1
        others = [running[w] for w in range(n) if w != worker]
        lists.append(others)
        running[worker] = len(jobs)
        jobs.append([version, None])
    last = version
    steps = [
        min(alpha, 1 / (curvature * t)) if (t := (last - j[0] if j[1] is None else j[1])) else alpha
        for j in jobs
    ]
    gaps = [sum(steps[j] for j in others) ** 2 for others in lists]
    left = np.mean([step * gap for step, gap in zip(steps, gaps, strict=True)])
    right = 8 / 3 * alpha / curvature * (n - 1) * np.mean(steps)

    assert left <= right * (1 + 1e-9)


@given(st.lists(st.floats(0.1, 20), min_size=1, max_size=6), st.integers(1, 40))
def test_batches_come_within_the_harmonic_mean_of_the_fast(times, batch):
    """The exact time, the smallest t with sum floor(t / t_i) >= batch, is an oracle of its own."""
    seconds, steps = (nonnegative_atom(name) for name in ("seconds", "steps"))
    premise = lemmas.seconds_of_batches(seconds, steps)
    harmonic = len(times) / sum(1 / t for t in times)
    further = {"seconds": batch_seconds(times, batch), "steps": 1.0}

    assert_holds(premise, {}, further, {s.t_fast: harmonic, s.m: batch, s.n: len(times)})


def test_the_tests_above_cover_every_lemma_that_is_an_inequality_of_mathematics():
    """The others name a modelling fact (which updates a view lacks) or a definition."""
    modelling = {
        "bounded_gradient", "second_moment", "squared_second_moment", "elastic", "elastic_part",
        "descent_budget", "distance_budget", "initial_distance", "vanishing_start",
        "starts_at_zero", "induction_hypothesis", "least_of_steps", "smallest", "started_gap",
        "applied_gap", "missing_gap", "torn_gap", "exact_after_k", "one_job_per_worker",
        "jobs_in_flight", "bounded_staleness", "late_messages", "lost_messages", "other_nodes",
        "rounds_since_exact", "local_steps", "missing_mean_and_noise", "drift_of_several",
        "stand_in_gap", "residual_gap", "squared_residual_gap", "mean_residual_gap",
        "server_with_residuals", "weighted_average", "mean_step_size", "gap_of_two_parts",
        "aligned_contraction", "gradients_at_two_views", "later_rounds", "mean_gap",
    }  # fmt: skip
    tested = {
        "smoothness", "lipschitz_gradient", "strong_convexity", "convexity", "gradient_size",
        "smooth_convexity", "least_value", "cocoercivity", "strong_monotonicity", "square",
        "minkowski", "definition", "window_sum", "mean_of_nodes",
        "window_exchange", "capped_weight", "unbiased_noise", "orthogonal_noise", "variance",
        "noise_of_several", "mean_variance", "batch_variance", "parallel_mean", "parallel_size",
        "contraction", "squared_contraction", "part", "norm_test", "mixing", "projection",
        "deviation_from_mean", "delay_adaptive_exchange", "mass_mixing", "mass_averaging",
        "mass_projection", "mass_shift", "seconds_of_batches",
    }  # fmt: skip

    assert {lemma.name for lemma in lemmas.stated()} == modelling | tested
