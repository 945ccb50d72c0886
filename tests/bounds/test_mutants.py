"""Bounds hold on concrete systems, and what claims more is rejected by one of them."""

from dataclasses import replace

import pytest

from elastic_consistency.bounds import AssumptionError, get, judge_mutants, list_bounds
from elastic_consistency.bounds import symbols as s
from elastic_consistency.bounds.bound import Side
from elastic_consistency.bounds.proofs.counterexamples import systems_for
from elastic_consistency.bounds.proofs.counterexamples.descents import Descent
from elastic_consistency.bounds.proofs.counterexamples.gaps import server_gaps
from elastic_consistency.bounds.proofs.mutants import Verdict, mutants_of

TIGHT = [bound for bound in list_bounds() if bound.tight]
CERTIFIED = [bound for bound in list_bounds() if bound.proof is not None and systems_for(bound)]


def reached(bound):
    """Return measured / bound for each legal system of a bound."""
    shares = []
    for system in systems_for(bound):
        try:
            value = bound.evaluate(system.values)
        except AssumptionError:
            continue
        if not system.lacks and value > 0:
            shares.append(system.measured / value)
    return shares


@pytest.mark.parametrize("bound", CERTIFIED, ids=lambda bound: bound.name)
def test_no_legal_system_exceeds_a_bound(bound):
    assert max(reached(bound)) <= 1 + 1e-9


@pytest.mark.parametrize("bound", TIGHT, ids=lambda bound: bound.name)
def test_a_bound_that_is_called_tight_is_reached(bound):
    shares = reached(bound)

    assert max(shares) >= 0.99
    if bound.side is Side.EQUAL:
        assert min(shares) == pytest.approx(1.0, rel=1e-6)


@pytest.mark.parametrize("bound", TIGHT, ids=lambda bound: bound.name)
def test_at_least_95_percent_of_the_mutants_of_a_tight_bound_are_decided(bound):
    verdicts = [one.verdict for one in judge_mutants(bound)]
    undecided = verdicts.count(Verdict.UNDECIDED)
    decided = verdicts.count(Verdict.REJECTED) + verdicts.count(Verdict.SHARPER)

    assert decided >= 0.95 * (decided + undecided)
    assert Verdict.SHARPER not in verdicts


def test_all_four_kinds_of_mutants_are_made():
    kinds = {mutant.kind for mutant in mutants_of(get("nonconvex_single_step"))}

    assert kinds == {"coefficient", "exponent", "assumption", "premise"}


def test_a_rejected_mutant_names_its_counterexample():
    for judged in judge_mutants(get("server_started_gap")):
        if judged.verdict is Verdict.REJECTED:
            assert "M" in judged.reason


def test_a_superfluous_requirement_makes_a_sharper_mutant():
    """An assumption that the certificate does not use is found."""
    bound = get("server_started_gap")
    burdened = replace(bound, requirements=bound.requirements | get("crash_gap").requirements)
    verdicts = {one.mutant.description: one.verdict for one in judge_mutants(burdened)}

    assert verdicts["without BOUNDED_MISSING"] is Verdict.SHARPER


def test_a_looser_bound_has_undecided_mutants():
    bound = get("server_started_gap")
    loose = replace(bound, expression=2 * s.n * s.M)

    assert any(one.verdict is Verdict.UNDECIDED for one in judge_mutants(loose))


@pytest.mark.parametrize(("n", "slow"), [(2, 0), (8, 0), (8, 20)])
def test_servers_have_the_gaps_of_the_started_order(n, slow):
    """(n - 1) M in started order whatever the timing; applied order grows with the straggler."""
    started, applied = server_gaps(n, 4, length=1.0, slow=slow)

    assert started == n - 1
    assert applied >= (n - 1) * (1 + slow)


def test_the_quadratic_is_solved_exactly():
    """One step at alpha = 1/L jumps to the minimiser; noise alone has variance alpha^2 sigma^2."""
    jump = Descent(2.0, 0.5, 3.0, 1)
    noise = Descent(2.0, 0.5, 0.0, 4, noise=1.0)

    assert jump.moments() == [(3.0, 0.0), (0.0, 0.0)]
    assert jump.mean_squared_gradient() == 36.0
    assert noise.squared_distance() == pytest.approx(0.25)


def test_plain_sgd_constants_are_attained_termwise():
    """At alpha = 1/L each of the three terms of NC1 is reached by a quadratic of its own."""
    bound = get("nonconvex_single_step")
    cases = (
        Descent(2.0, 0.5, 3.0, 5),
        Descent(2.0, 0.5, 0.0, 10**5, noise=1.0),
        Descent(2.0, 0.5, 1.0, 10**5, offset=1.0),
    )
    for descent in cases:
        share = descent.mean_squared_gradient() / bound.evaluate(descent.values())

        assert share == pytest.approx(1.0, rel=1e-4)


def test_a_bound_with_a_moved_exponent_is_rejected_by_gradients_of_another_length():
    """(n - 1) M^1.1 is below (n - 1) M for M < 1, and (n - 1) M^.9 for M > 1."""
    judged = [
        one for one in judge_mutants(get("server_started_gap")) if one.mutant.kind == "exponent"
    ]

    assert {one.verdict for one in judged} == {Verdict.REJECTED}
