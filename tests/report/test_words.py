"""Numbers are written as people read them, and every figure is explained."""

import math
import re

import pytest

from elastic_consistency.report.glossary import entries, entry
from elastic_consistency.report.wording import interval, number, percentage, share_of_smoothness
from elastic_consistency.validation import Estimate, Method, exact


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (12345.0, "12300"),
        (0.0123456, "0.0123"),
        (1e-7, "1.00e-07"),
        (2.5e9, "2.50e+09"),
        (-3.0, "-3"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        (math.nan, "-"),
        (None, "-"),
        (7, "7"),
    ],
)
def test_a_number_has_three_digits(value, text):
    assert number(value) == text


def test_an_interval_has_its_unit():
    estimate = Estimate(0.735, 0.6968, 0.774, 0.95, Method.STUDENT_T)

    assert interval(estimate, unit="s") == "0.735 [0.697, 0.774] s"


def test_an_exact_value_has_no_interval():
    assert interval(exact(3.0), unit="steps") == "3 steps"


def test_a_share_is_a_percentage():
    estimate = Estimate(0.954, 0.9496, 0.958, 0.95, Method.STUDENT_T)

    assert percentage(estimate) == "95.4% [95.0%, 95.8%]"


@pytest.mark.parametrize(("share", "text"), [(1 / 16, "1/(16 L)"), (1.0, "1/L"), (0.3, "0.3/L")])
def test_a_step_size_is_told_in_units_of_smoothness(share, text):
    assert share_of_smoothness(share) == text


@pytest.mark.parametrize("found", entries(), ids=lambda e: e.name)
def test_an_entry_is_one_sentence_with_unit_and_formula(found):
    assert re.search(r"\. [A-Z]", found.sentence) is None
    assert found.sentence.endswith(".")
    assert found.unit
    assert found.formula


def test_a_figure_is_found_in_any_spelling():
    assert entry("Time to Target") is entry("time-to-target") is entry("time_to_target")


def test_a_wrong_name_gets_the_nearest_one():
    with pytest.raises(KeyError, match="did you mean 'utilisation'"):
        entry("utilization")
