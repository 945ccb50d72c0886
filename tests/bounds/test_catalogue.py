"""The catalogue holds what theory gives, and every file of theorems is registered."""

import importlib
import math
import pkgutil

import numpy as np
import pytest
import sympy as sp

import elastic_consistency.bounds as bounds_package
from elastic_consistency.bounds import Bound, Status, get, list_bounds, list_rates
from elastic_consistency.bounds import symbols as s
from elastic_consistency.bounds.explain import example_values
from elastic_consistency.bounds.proofs.dimension import (
    DimensionError,
    check_dimensions,
    dimension_of,
)
from elastic_consistency.execution.quantities import Quantity, Sequence

NEARLY_0 = {"sigma": 1, "alpha": 1e-12, "L": 1}
GOLDEN = ((math.sqrt(5) - 1) / 2) ** 2


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("error_feedback_gap", {"gamma": 0.5, "M": 1}, 2.414213562),
        ("error_feedback_gap", {"gamma": 0.9, "M": 1}, 18.48683298),
        ("error_feedback_gap", {"gamma": 0.99, "M": 1}, 198.4987437),
        ("published_error_feedback_gap", {"gamma": GOLDEN, "M": 1}, 1.618033989),
        ("message_passing_gap", {"p": 8, "tau": 5, "M": 1}, 4.375),
        ("message_passing_noise_gap", {"p": 8, "tau": 5, "G": 0, "sigma": 1}, math.sqrt(35) / 8),
        ("message_passing_noise_gap", {"p": 8, "tau": 5, "G": 0.3, "sigma": 1}, 2.0520),
        ("crash_gap", {"f": 3, "p": 8, "M": 1}, 0.375),
        ("crash_substitution_gap", NEARLY_0 | {"f": 4, "p": 8}, 0.5590169944),
        ("published_crash_substitution_gap", NEARLY_0 | {"f": 4, "p": 8}, 1.5),
        ("elastic_variance_gap", {"p": 2, "sigma": 1, "alpha": 1e-12, "L": 1}, 0.7071067812),
        ("elastic_variance_gap", {"p": 8, "sigma": 1, "alpha": 1e-12, "L": 1}, 0.9354143467),
        ("elastic_norm_gap", {"p": 100000000, "beta": 0.8, "M": 1}, 0.6),
        ("shared_memory_gap", {"tau_max": 16, "M": 1}, 16.0),
        ("published_shared_memory_gap", {"tau_max": 16, "d": 1000, "M": 1}, 505.9644256),
        ("topk_gap", {"d": 1000, "K": 10, "M": 1}, 198.4987437),
        ("published_topk_gap", {"d": 1000, "K": 10, "M": 1}, 999.95),
        ("one_bit_gap", {"d": 2, "M": 1}, 2.414213562),
        ("local_sgd_noise_gap", {"H": 5, "n": 4, "sigma": 1}, 1.7320508076),
        ("one_peer_worst_node_gap", {"k": 3, "M": 1}, 2.5),
        ("one_peer_exponential_gap", {"k": 3, "M": 1}, 2.0),
        ("one_peer_noise_gap", {"k": 3, "sigma": 1}, math.sqrt(0.5)),
        ("server_error_feedback_gap", {"n": 8, "gamma": 0.9, "M": 1}, 154.8946638),
        ("total_staleness", {"n": 8, "T": 100}, 7 * 100 - 28),
        ("mean_staleness_scaled_step", {"n": 8, "alpha": 1}, math.log(8) / 7),
        ("fixed_delay_stability", {"tau": 1, "lambda": 1}, 1.0),
        ("fixed_delay_stability", {"tau": 0, "lambda": 2}, 1.0),
        ("rennala_steps", {"L": 1, "Delta": 1, "epsilon": 0.1, "m": 10, "sigma": 1}, 80.0),
        ("ringmaster_steps", {"L": 1, "Delta": 1, "epsilon": 0.1, "R": 10, "sigma": 1}, 800 + 1600),
        ("aligned_contraction_gap", {"gamma": 0.25, "xi": 0.0, "M": 1}, 1.0),
    ],
)  # fmt: skip
def test_values_of_the_theory(name, values, expected):
    assert get(name).evaluate(values) == pytest.approx(expected, rel=2e-5)


def test_gossip_on_rings_gives_the_values_of_their_spectra():
    """A ring with weights 1/3 has second eigenvalue (1 + 2 cos(2 pi / n)) / 3."""
    for n, expected in ((8, 4.12132), (16, 18.70561)):
        rho = (1 + 2 * math.cos(2 * math.pi / n)) / 3

        assert get("gossip_gap").evaluate({"rho": rho, "M": 1}) == pytest.approx(expected, rel=1e-6)


def test_every_bound_of_every_file_is_registered():
    listed = {id(bound) for bound in list_bounds()}
    for module in pkgutil.iter_modules(bounds_package.__path__):
        loaded = importlib.import_module(f"{bounds_package.__name__}.{module.name}")
        found = [value for value in vars(loaded).values() if isinstance(value, Bound)]
        assert all(id(bound) in listed for bound in found), module.name


def test_names_are_unique_and_equal_to_the_variable_that_holds_the_bound():
    names = [bound.name for bound in list_bounds()]

    assert len(set(names)) == len(names)
    assert all(get(name).name == name for name in names)


def test_an_unknown_name_is_refused_with_the_list_of_names():
    with pytest.raises(KeyError, match="server_started_gap"):
        get("no_such_bound")


@pytest.mark.parametrize("bound", list_bounds(), ids=lambda bound: bound.name)
def test_units_are_homogeneous_and_the_example_is_admissible(bound):
    check_dimensions(bound)

    assert math.isfinite(bound.evaluate(example_values(bound)))


@pytest.mark.parametrize("bound", list_bounds(), ids=lambda bound: bound.name)
def test_the_numpy_function_agrees_with_evaluate(bound):
    values = example_values(bound)
    columns = [np.array([values[symbol.name]] * 2) for symbol in bound.symbols]

    assert bound.numpy_function()(*columns)[0] == pytest.approx(bound.evaluate(values), rel=1e-9)


@pytest.mark.parametrize("bound", list_bounds(), ids=lambda bound: bound.name)
def test_derived_bounds_have_a_certificate_and_recalled_ones_say_so(bound):
    if bound.status in (Status.DERIVED, Status.REPRODUCED):
        assert bound.proof is not None
    else:
        assert bound.proof is None
    if "paper" in bound.title:
        assert "text not checked" in bound.status.value


def test_constants_name_their_sequence_and_constant_step_theorems_say_so():
    for bound in list_bounds():
        if bound.quantity is Quantity.GAP:
            assert bound.sequence is not Sequence.NONE


def test_adding_lengths_to_losses_is_refused():
    with pytest.raises(DimensionError, match="mixes"):
        dimension_of(s.R0 + s.Delta)


def test_the_logarithm_of_a_length_is_refused():
    with pytest.raises(DimensionError, match="needs a number"):
        dimension_of(sp.log(s.R0))


def test_rates_name_their_source_and_have_the_exponents_of_the_theorems():
    rates = {rate.name: rate for rate in list_rates()}

    assert rates["koloskova_delay_adaptive"].exponent(s.epsilon, growing=False) == -2
    assert rates["mishchenko_delay_adaptive"].exponent(s.T, growing=True) == sp.Rational(-1, 2)
    assert rates["piag_improved"].exponent(s.tau, growing=True) == 1
    assert rates["hogwild"].exponent(s.epsilon_f, growing=False) == -1
    assert rates["arock"].exponent(s.tau, growing=True) == 1
    assert rates["block_coordinate_consistent"].exponent(s.tau, growing=True) == 0
    assert all(rate.source.text for rate in rates.values())


def test_worst_node_sums_are_the_closed_forms_for_every_k():
    """A product of lag s has 2^s entries 2^-s in a row, and J takes 2^-k from each."""
    k, lag = sp.symbols("k lag", positive=True, integer=True)
    length = 2**lag * (2**-lag - 2**-k) + (2**k - 2**lag) * 2**-k
    square = 2**lag * (2**-lag - 2**-k) ** 2 + (2**k - 2**lag) * 4**-k
    worst = sp.summation(sp.expand(length), (lag, 1, k - 1))
    noise = sp.summation(sp.powsimp(sp.expand(square)), (lag, 1, k - 1))

    assert sp.simplify(worst - (2 * k - 4 + 4 * 2**-k)) == 0
    assert sp.simplify(noise - (1 - (k + 1) * 2**-k)) == 0
