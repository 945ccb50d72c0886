"""Lemmas that hold for all random vectors, and the bookkeeping of starts and names."""

import sympy as sp

from elastic_consistency.bounds import symbols as s
from elastic_consistency.bounds.proofs.lemmas.base import Lemma
from elastic_consistency.bounds.proofs.lemmas.quantities import averaged, drop, start, window
from elastic_consistency.bounds.proofs.vectors import norm, squared_norm, vector
from elastic_consistency.bounds.requirements import Requirement


def _window_exchange(term: sp.Expr, count: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    return averaged(window(term)), count * averaged(term)


square = Lemma(
    "square",
    "0 <= |u|^2 (Young's inequality, with u = sqrt(b) x - y / sqrt(b))",
    lambda u: (sp.S.Zero, squared_norm(u)),
)
minkowski = Lemma(
    "minkowski",
    "|u + w| <= |u| + |w| for the norm sqrt(E|.|^2)",
    lambda u, w: (norm(u + w), norm(u) + norm(w)),
)
definition = Lemma(
    "definition",
    "E|named|^2 expands into the inner products of what the name stands for",
    lambda name, meaning: (squared_norm(vector(name)), squared_norm(meaning)),
    equality=True,
)
mean_of_nodes = Lemma(
    "mean_of_nodes",
    "E|mean over nodes|^2 <= mean over nodes of E|.|^2",
    lambda mean, node: (squared_norm(mean), squared_norm(node)),
)
window_sum = Lemma(
    "window_sum",
    "E|sum of m vectors|^2 <= m times the sum of E|.|^2",
    lambda total, term, count: (squared_norm(total), count * window(squared_norm(term))),
)
window_exchange = Lemma(
    "window_exchange",
    "a job lies in at most m windows: the average of window sums is at most m averages",
    _window_exchange,
    requires=frozenset({Requirement.BOUNDED_STALENESS}),
)
capped_weight = Lemma(
    "capped_weight",
    "the average of weight^2 a is at most cap times the average of weight a, for weights <= cap",
    lambda atom, weight, cap: (
        averaged(atom, weight=weight, power=2),
        cap * averaged(atom, weight=weight, power=1),
    ),
    conditions=lambda _, weight, cap: (cap - weight,),
)
vanishing_start = Lemma(
    "vanishing_start",
    "a squared norm that starts at zero: first - last <= 0",
    lambda of: (drop(squared_norm(of)), sp.S.Zero),
)
starts_at_zero = Lemma(
    "starts_at_zero",
    "the first value is zero",
    lambda of: (start(of), sp.S.Zero),
)
initial_distance = Lemma(
    "initial_distance",
    "|x_0 - x*|^2 <= R0^2",
    lambda of: (start(of), s.R0**2),
)
distance_budget = Lemma(
    "distance_budget",
    "|x_0 - x*|^2 - |x_T - x*|^2 <= R0^2",
    lambda of: (drop(of), s.R0**2),
)
induction_hypothesis = Lemma(
    "induction_hypothesis",
    "r <= D + E, assumed in an induction only",
    lambda r, distance, floor: (r, distance + floor),
)


def _least_of_steps(size: sp.Expr, excess: sp.Expr, floor: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    return excess + floor, size


least_of_steps = Lemma(
    "least_of_steps",
    "every value is at least the smallest one, D + E (if that is below E nothing is to be shown)",
    _least_of_steps,
)
smallest = Lemma(
    "smallest",
    "the smallest value is at most D + E, with D >= 0",
    lambda least, excess, floor: (least, excess + floor),
)


STATED = (
    square,
    minkowski,
    definition,
    mean_of_nodes,
    window_sum,
    window_exchange,
    capped_weight,
    vanishing_start,
    starts_at_zero,
    initial_distance,
    distance_budget,
    induction_hypothesis,
    least_of_steps,
    smallest,
)
