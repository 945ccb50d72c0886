"""Lemmas about stochastic gradients: unbiased, of bounded variance or second moment."""

import sympy as sp

from elastic_consistency.bounds import symbols as s
from elastic_consistency.bounds.proofs.lemmas.base import Lemma
from elastic_consistency.bounds.proofs.vectors import Vector, inner, norm, squared_norm
from elastic_consistency.bounds.requirements import Requirement

unbiased_noise = Lemma(
    "unbiased_noise",
    "E<a, noise> = 0 for every vector a that is fixed before the sample is drawn",
    lambda a, noise: (inner(a, noise), sp.S.Zero),
    equality=True,
    requires=frozenset({Requirement.UNBIASED}),
)
orthogonal_noise = Lemma(
    "orthogonal_noise",
    "E<noise, noise'> = 0 for the noise of different jobs",
    lambda one, other: (inner(one, other), sp.S.Zero),
    equality=True,
    requires=frozenset({Requirement.UNBIASED, Requirement.OBLIVIOUS}),
)
variance = Lemma(
    "variance",
    "E|noise|^2 <= sigma^2",
    lambda noise: (squared_norm(noise), s.sigma**2),
    requires=frozenset({Requirement.VARIANCE}),
)
mean_variance = Lemma(
    "mean_variance",
    "E|mean over p nodes of the noise|^2 <= sigma^2 / p",
    lambda noise: (squared_norm(noise), s.sigma**2 / s.p),
    requires=frozenset({Requirement.VARIANCE, Requirement.UNBIASED, Requirement.OBLIVIOUS}),
)
batch_variance = Lemma(
    "batch_variance",
    "E|mean of the noise of m jobs at one point|^2 <= sigma^2 / m",
    lambda noise: (squared_norm(noise), s.sigma**2 / s.m),
    requires=frozenset({Requirement.VARIANCE, Requirement.UNBIASED, Requirement.OBLIVIOUS}),
)
noise_of_several = Lemma(
    "noise_of_several",
    "E|sum of the noise of m jobs|^2 <= m sigma^2",
    lambda total, count: (squared_norm(total), count * s.sigma**2),
    requires=frozenset({Requirement.VARIANCE, Requirement.UNBIASED, Requirement.OBLIVIOUS}),
)
second_moment = Lemma(
    "second_moment",
    "|G| = sqrt(E|G|^2) <= M",
    lambda gradient: (norm(gradient), s.M),
    requires=frozenset({Requirement.SECOND_MOMENT}),
)
squared_second_moment = Lemma(
    "squared_second_moment",
    "E|G|^2 <= M^2",
    lambda gradient: (squared_norm(gradient), s.M**2),
    requires=frozenset({Requirement.SECOND_MOMENT}),
)


def _parallel_size(step: Vector, gradient: Vector, fraction: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    mean_part = fraction**2 * squared_norm(gradient)
    return squared_norm(step), mean_part + fraction * s.sigma**2 / s.p


parallel_mean = Lemma(
    "parallel_mean",
    "E<a, S> = w E<a, grad f(v)>, S = (1/p) sum of G over a fraction w of the nodes, "
    "the right side averaged over those nodes",
    lambda a, step, gradient, fraction: (inner(a, step), fraction * inner(a, gradient)),
    equality=True,
    requires=frozenset({Requirement.UNBIASED}),
)
parallel_size = Lemma(
    "parallel_size",
    "E|S|^2 <= w^2 E|grad f(v)|^2 + w sigma^2 / p, the right side averaged over nodes",
    _parallel_size,
    requires=frozenset({Requirement.VARIANCE, Requirement.UNBIASED, Requirement.OBLIVIOUS}),
)
STATED = (
    unbiased_noise,
    orthogonal_noise,
    variance,
    mean_variance,
    batch_variance,
    noise_of_several,
    second_moment,
    squared_second_moment,
    parallel_mean,
    parallel_size,
)
