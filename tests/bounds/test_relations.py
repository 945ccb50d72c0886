"""Relations between bounds are theorems; a false one is refused."""

from dataclasses import replace

import pytest
import sympy as sp

from elastic_consistency.bounds import DerivationError, get, list_relations
from elastic_consistency.bounds import symbols as s
from elastic_consistency.bounds.relations import Dominates, Equal, MeetsOnlyAt


@pytest.mark.parametrize("relation", list_relations(), ids=lambda relation: relation.name)
def test_each_relation_holds(relation):
    relation.check()


def by_name(name):
    return next(relation for relation in list_relations() if relation.name == name)


@pytest.mark.parametrize("name", [r.name for r in list_relations() if isinstance(r, Dominates)])
def test_the_opposite_of_a_domination_is_refused(name):
    relation = by_name(name)

    with pytest.raises(DerivationError):
        replace(relation, larger=relation.smaller, smaller=relation.larger).check()


@pytest.mark.parametrize("name", [r.name for r in list_relations() if isinstance(r, Equal)])
def test_an_equality_that_is_off_is_refused(name):
    relation = by_name(name)

    with pytest.raises(DerivationError):
        replace(relation, other=relation.other + s.M).check()


def test_the_published_constant_is_not_below_the_sharp_one_by_any_factor():
    relation = by_name("published_error_feedback_gap >= error_feedback_gap")

    with pytest.raises(DerivationError):
        replace(relation, larger=sp.Rational(99, 100) * relation.larger).check()


@pytest.mark.parametrize(
    ("point", "touches"), [(sp.Rational(38, 100), True), (sp.Rational(1, 2), True)]
)
def test_another_point_of_contact_is_refused(point, touches):
    relation = by_name("published error feedback touches sharp")

    with pytest.raises(DerivationError):
        replace(relation, point=point, touches=touches).check()


def test_a_contact_is_no_crossing():
    relation = by_name("published error feedback touches sharp")
    assert isinstance(relation, MeetsOnlyAt)

    with pytest.raises(DerivationError, match="order"):
        replace(relation, touches=False).check()


def test_sc1_alone_does_not_imply_the_published_strongly_convex_statement():
    """2 L^2 - 2 L c - c^2 >= 0 needs L >= (1 + sqrt(3)) / 2 c; SC2 has no such gap."""
    first = get("strongly_convex_single_step").expression
    start = (1 - s.alpha * s.c / 2) ** s.T * s.R0**2
    log = sp.Symbol("log_T", nonnegative=True)
    relation = by_name("published_strongly_convex_single_step >= SC2 after the start")
    by_sc1 = replace(relation, smaller=(first - start).subs(s.alpha, 2 * log / (s.c * s.T)))
    threshold = (1 + sp.sqrt(3)) / 2

    replace(by_sc1, assumptions=(sp.Ge(s.L, threshold * s.c, evaluate=False),)).check()
    with pytest.raises(DerivationError):
        by_sc1.check()


def test_sc2s_gap_term_exceeds_the_square_of_the_condition_number_beyond_its_step_size():
    relation = by_name("SC2's gap term <= (L/c)^2")

    with pytest.raises(DerivationError):
        replace(
            relation, assumptions=(sp.Le(s.alpha, 3 / (s.L + 2 * s.c)), sp.Lt(s.c, s.L))
        ).check()


def test_published_over_sharp_grows_as_theory_says():
    """1.000, 1.70, 5.04 and 15.8 at gamma = .382, .9, .99 and .999."""
    published, sharp = get("published_error_feedback_gap"), get("error_feedback_gap")
    for gamma, ratio in ((0.381966, 1.0), (0.9, 1.70), (0.99, 5.04), (0.999, 15.8)):
        values = {"gamma": gamma, "M": 1.0}

        assert published.evaluate(values) / sharp.evaluate(values) == pytest.approx(ratio, rel=5e-3)
