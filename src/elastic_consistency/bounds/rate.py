"""Rates: results of which only the order is known, judged by their exponent."""

from dataclasses import dataclass
from typing import final

import sympy as sp
from sympy.core.relational import Relational

from elastic_consistency.bounds import symbols as s
from elastic_consistency.bounds.bound import Source, Status
from elastic_consistency.bounds.requirements import Requirement
from elastic_consistency.execution.quantities import Quantity


@final
@dataclass(frozen=True, slots=True, eq=False)
class Rate:
    """quantity = O(sum of terms), with unknown constants.

    Attributes:
        name: Its key.
        title: One line in words.
        quantity: What is bounded.
        terms: The terms inside O(.).
        assumptions: Relations between symbols, up to constants.
        requirements: What the system must satisfy.
        source: Where it comes from.
        note: A remark.
    """

    name: str
    title: str
    quantity: Quantity
    terms: tuple[sp.Expr, ...]
    source: Source
    assumptions: tuple[Relational, ...] = ()
    requirements: frozenset[Requirement] = frozenset()
    note: str = ""

    def exponent(self, symbol: sp.Symbol, *, growing: bool) -> sp.Expr:
        """Return the exponent of `symbol` that dominates as it grows, or as it shrinks.

        Logarithms do not count.
        """
        plain = [_without_logarithms(term) for term in self.terms]
        powers = [sp.simplify(symbol * sp.diff(sp.log(term), symbol)) for term in plain]
        return sp.Max(*powers) if growing else sp.Min(*powers)


def _without_logarithms(term: sp.Expr) -> sp.Expr:
    return term.replace(sp.log, lambda _: sp.S.One)


def list_rates() -> tuple[Rate, ...]:
    """Return every rate."""
    return (*_asynchronous(), *_delayed(), *_decentralised())


def _asynchronous() -> tuple[Rate, ...]:
    koloskova = "Koloskova, Stich, Jaggi (2022), arXiv:2206.08307"
    mishchenko = "Mishchenko, Bach, Even, Woodworth (2022), arXiv:2206.07638"
    noise = s.sigma**2 / s.epsilon**2
    start = s.L * s.Delta
    return (
        Rate(
            "koloskova_constant_step",
            "asynchronous SGD, constant step, Theorem 6",
            Quantity.STEPS,
            (noise, sp.sqrt(s.tau_c * s.tau_max) / s.epsilon),
            Source(koloskova, Status.READ),
        ),
        Rate(
            "koloskova_bounded_gradient",
            "asynchronous SGD, constant step, gradients bounded by G, Theorem 6",
            Quantity.STEPS,
            (noise, s.tau_c * s.G / s.epsilon ** sp.Rational(3, 2), s.tau_c / s.epsilon),
            Source(koloskova, Status.READ),
        ),
        Rate(
            "koloskova_delay_adaptive",
            "asynchronous SGD, delay-adaptive steps, Theorem 8",
            Quantity.STEPS,
            (noise, s.tau_c / s.epsilon),
            Source(koloskova, Status.READ),
            note="No tau_max; delay_adaptive_nonconvex has explicit constants.",
        ),
        Rate(
            "koloskova_heterogeneous",
            "heterogeneous data, clients sampled uniformly, Theorem 10",
            Quantity.STEPS,
            (
                (s.sigma**2 + s.zeta**2) / s.epsilon**2,
                s.zeta * sp.sqrt(s.tau_avg * s.tau_max) / s.epsilon ** sp.Rational(3, 2),
                sp.sqrt(s.tau_avg * s.tau_max) / s.epsilon,
            ),
            Source(koloskova, Status.READ),
            requirements=frozenset({Requirement.HETEROGENEITY}),
            note=(
                "The middle term is sqrt(tau_avg mean_i(zeta_i^2 tau_i)) in the theorem; here it "
                "is bounded with tau_i <= tau_max."
            ),
        ),
        Rate(
            "mishchenko_constant_step",
            "asynchronous SGD, constant step, gradients bounded by G",
            Quantity.MEAN_SQUARED_GRADIENT,
            (
                sp.sqrt(start * s.sigma**2 / s.T),
                start / s.T,
                (s.n * s.G * start / s.T) ** sp.Rational(2, 3),
            ),
            Source(mishchenko, Status.RECALLED),
        ),
        Rate(
            "mishchenko_delay_adaptive",
            "asynchronous SGD, delay-adaptive steps, n workers",
            Quantity.MEAN_SQUARED_GRADIENT,
            (s.n * start / s.T, sp.sqrt(start * s.sigma**2 / s.T)),
            Source(mishchenko, Status.RECALLED),
        ),
        Rate(
            "mishchenko_convex",
            "asynchronous SGD, delay-adaptive steps, convex loss",
            Quantity.SUBOPTIMALITY,
            (s.L * s.n * s.R0**2 / s.T, s.sigma * s.R0 / sp.sqrt(s.T)),
            Source(mishchenko, Status.RECALLED),
        ),
        Rate(
            "malenia_time",
            "Malenia SGD, heterogeneous data, seconds to the target",
            Quantity.TIME,
            (
                s.t_max * start / s.epsilon,
                s.t_mean * s.sigma**2 * start / (s.n * s.epsilon**2),
            ),
            Source("Tyurin, Richtarik (2023), arXiv:2305.12387", Status.READ),
        ),
        Rate(
            "minibatch_time",
            "synchronous mini-batch SGD on n workers, seconds to the target",
            Quantity.TIME,
            (
                s.t_max * start / s.epsilon,
                s.t_max * s.sigma**2 * start / (s.n * s.epsilon**2),
            ),
            Source("Tyurin, Richtarik (2023), arXiv:2305.12387", Status.READ),
        ),
    )


def _delayed() -> tuple[Rate, ...]:
    survey = "Assran, Aytekin, Feyzmahdavian, Johansson, Rabbat (2020), arXiv:2006.13838"
    log = sp.log(1 / s.epsilon)
    kappa = s.L / s.c
    return (
        Rate(
            "piag_first",
            "incremental aggregated gradient, delay tau, Aytekin 2016",
            Quantity.STEPS,
            (kappa * s.tau**2 * log,),
            Source(survey, Status.RECALLED),
        ),
        Rate(
            "piag_improved",
            "incremental aggregated gradient, step 1/(L (2 tau + 1))",
            Quantity.STEPS,
            (kappa * s.tau * log,),
            Source(survey, Status.RECALLED),
        ),
        Rate(
            "delayed_minibatch",
            "asynchronous mini-batch, b samples, delay tau, convex",
            Quantity.SUBOPTIMALITY,
            ((s.tau + 1) ** 2 / s.T, 1 / sp.sqrt(s.m * s.T)),
            Source(survey, Status.RECALLED),
            note="Free of the delay if tau = O(T^(1/4)).",
        ),
        Rate(
            "stich_karimireddy_nonconvex",
            "delayed SGD or error feedback with delay tau",
            Quantity.MEAN_SQUARED_GRADIENT,
            (s.sigma * sp.sqrt(s.L * s.Delta / s.T), s.L * s.tau * s.Delta / s.T),
            Source("Stich, Karimireddy (2020), arXiv:1909.05350", Status.RECALLED),
        ),
        Rate(
            "arjevani_stochastic",
            "fixed delay on quadratics, stochastic, convex",
            Quantity.SUBOPTIMALITY,
            (s.L * s.tau * s.R0**2 / s.T, s.sigma * s.R0 / sp.sqrt(s.T)),
            Source("Arjevani, Shamir, Srebro (2020), arXiv:1806.10188", Status.RECALLED),
        ),
    )


def _decentralised() -> tuple[Rate, ...]:
    return (
        Rate(
            "stochastic_gradient_push",
            "stochastic gradient push on n nodes, step sqrt(n/T)",
            Quantity.MEAN_SQUARED_GRADIENT,
            (1 / sp.sqrt(s.n * s.T), s.n / s.T),
            Source("Assran, Loizou, Ballas, Rabbat (2019), arXiv:1811.10792", Status.RECALLED),
        ),
        Rate(
            "ad_psgd",
            "asynchronous decentralised SGD, T large",
            Quantity.MEAN_SQUARED_GRADIENT,
            (1 / sp.sqrt(s.T),),
            Source("Lian, Zhang, Zhang, Liu (2018), arXiv:1710.06952", Status.RECALLED),
            note="Independent of n and of the delay for T large enough.",
        ),
    )
