"""Lemmas about push-sum: replicas that are quotients of a numerator and a mass.

All norms are rms weighted by mass over the nodes and the messages in flight.
"""

import sympy as sp

from elastic_consistency.bounds import symbols as s
from elastic_consistency.bounds.proofs.lemmas.base import Lemma
from elastic_consistency.bounds.proofs.vectors import norm, vector
from elastic_consistency.bounds.requirements import Requirement

mass_mixing = Lemma(
    "mass_mixing",
    "m_rounds rounds of mixing shrink a deviation from the mean by rho",
    lambda mixed, u: (norm(mixed), s.rho * norm(u)),
    requires=frozenset({Requirement.COLUMN_STOCHASTIC, Requirement.MASS_MIXING}),
)
mass_averaging = Lemma(
    "mass_averaging",
    "splitting and merging average z = x / mass, which does not lengthen a deviation (Jensen)",
    lambda averaged, u: (norm(averaged), norm(u)),
    requires=frozenset({Requirement.COLUMN_STOCHASTIC}),
)
mass_projection = Lemma(
    "mass_projection",
    "subtracting the mass-weighted mean does not lengthen a vector",
    lambda deviation, u: (norm(deviation), norm(u)),
)
mass_shift = Lemma(
    "mass_shift",
    "a gradient moves z = x / mass by alpha G / mass: mass-weighted rms <= |G| / sqrt(w_mass), "
    "|G| the largest of the nodes",
    lambda shift, gradient: (norm(shift), norm(gradient) / sp.sqrt(s.w_mass)),
    requires=frozenset({Requirement.MASS_BOUNDED}),
)
later_rounds = Lemma(
    "later_rounds",
    "m_rounds - 1 gradients of a window come after its first one",
    lambda count: (count, s.m_rounds - 1),
)
mean_gap = Lemma(
    "mean_gap",
    "x - v is the deviation of z from the mass-weighted mean, mass in flight included",
    lambda deviation: (norm(vector("x - v")), norm(deviation)),
    equality=True,
)

STATED: tuple[Lemma, ...] = (
    mass_mixing,
    mass_averaging,
    mass_projection,
    mass_shift,
    later_rounds,
    mean_gap,
)
