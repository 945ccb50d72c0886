"""The catalogue of rates: results whose constants are unknown, unread or not carried over."""

import sympy as sp

from elastic_consistency.bounds import symbols as s
from elastic_consistency.bounds.bound import Source, Status
from elastic_consistency.bounds.rate import Rate
from elastic_consistency.bounds.requirements import Requirement
from elastic_consistency.execution.quantities import Quantity

_SURVEY = Source(
    "Assran, Aytekin, Feyzmahdavian, Johansson, Rabbat (2020), arXiv:2006.13838", Status.RECALLED
)
_KOLOSKOVA = Source("Koloskova, Stich, Jaggi (2022), arXiv:2206.08307", Status.READ)
_LOG = sp.log(1 / s.epsilon)
_KAPPA = s.L / s.c


def list_rates() -> tuple[Rate, ...]:
    """Return every rate."""
    return (
        *_active_sets(),
        *_uniform_clients(),
        *_delay_adaptive(),
        *_homogeneous_time(),
        *_heterogeneous_time(),
        *_aggregated(),
        *_delayed(),
        *_sparse(),
        *_blocks(),
        *_decentralised(),
    )


def _active_sets() -> tuple[Rate, ...]:
    noise = s.sigma**2 / s.epsilon**2
    return (
        Rate(
            "koloskova_constant_step",
            "asynchronous SGD, constant step, Theorem 6",
            Quantity.STEPS,
            (noise, sp.sqrt(s.tau_c * s.tau_max) / s.epsilon),
            _KOLOSKOVA,
        ),
        Rate(
            "koloskova_bounded_gradient",
            "asynchronous SGD, constant step, gradients bounded by G, Theorem 6",
            Quantity.STEPS,
            (noise, s.tau_c * s.G / s.epsilon ** sp.Rational(3, 2), s.tau_c / s.epsilon),
            _KOLOSKOVA,
        ),
        Rate(
            "koloskova_delay_adaptive",
            "asynchronous SGD, delay-adaptive steps, Theorem 8",
            Quantity.STEPS,
            (noise, s.tau_c / s.epsilon),
            _KOLOSKOVA,
            note="No tau_max; delay_adaptive_nonconvex has explicit constants.",
        ),
    )


def _uniform_clients() -> tuple[Rate, ...]:
    both = sp.sqrt(s.tau_avg * s.tau_max)
    return (
        Rate(
            "koloskova_heterogeneous",
            "heterogeneous data, clients sampled uniformly, Theorem 10",
            Quantity.STEPS,
            (
                (s.sigma**2 + s.zeta**2) / s.epsilon**2,
                s.zeta * both / s.epsilon ** sp.Rational(3, 2),
                both / s.epsilon,
            ),
            _KOLOSKOVA,
            requirements=frozenset({Requirement.HETEROGENEITY}),
            note=(
                "The middle term is sqrt(tau_avg mean_i(zeta_i^2 tau_i)) in the theorem; here it "
                "is bounded with tau_i <= tau_max."
            ),
        ),
    )


def _delay_adaptive() -> tuple[Rate, ...]:
    source = Source("Mishchenko, Bach, Even, Woodworth (2022), arXiv:2206.07638", Status.RECALLED)
    start = s.L * s.Delta
    noise = sp.sqrt(start * s.sigma**2 / s.T)
    return (
        Rate(
            "mishchenko_constant_step",
            "asynchronous SGD, constant step, gradients bounded by G",
            Quantity.MEAN_SQUARED_GRADIENT,
            (noise, start / s.T, (s.n * s.G * start / s.T) ** sp.Rational(2, 3)),
            source,
        ),
        Rate(
            "mishchenko_delay_adaptive",
            "asynchronous SGD, delay-adaptive steps, n workers",
            Quantity.MEAN_SQUARED_GRADIENT,
            (s.n * start / s.T, noise),
            source,
        ),
        Rate(
            "mishchenko_convex",
            "asynchronous SGD, delay-adaptive steps, convex loss",
            Quantity.SUBOPTIMALITY,
            (s.L * s.n * s.R0**2 / s.T, s.sigma * s.R0 / sp.sqrt(s.T)),
            source,
        ),
    )


_TYURIN = Source("Tyurin, Richtarik (2023), arXiv:2305.12387", Status.READ)
_PER_START = s.L * s.Delta / s.epsilon
_PER_NOISE = s.sigma**2 * s.L * s.Delta / (s.n * s.epsilon**2)


def _heterogeneous_time() -> tuple[Rate, ...]:
    return (
        Rate(
            "malenia_time",
            "Malenia SGD, heterogeneous data, seconds to the target",
            Quantity.TIME,
            (s.t_max * _PER_START, s.t_mean * _PER_NOISE),
            _TYURIN,
        ),
        Rate(
            "minibatch_time",
            "synchronous mini-batch SGD on n workers, seconds to the target",
            Quantity.TIME,
            (s.t_max * _PER_START, s.t_max * _PER_NOISE),
            _TYURIN,
        ),
    )


def _homogeneous_time() -> tuple[Rate, ...]:
    fast = (s.t_fast * _PER_START, s.t_fast * _PER_NOISE)
    ringmaster = Source("Maranjyan, Tyurin, Richtarik (2025), arXiv:2501.16168", Status.RECALLED)
    texts = (
        (
            "rennala_time",
            "Rennala SGD, homogeneous data, seconds to the target: the optimal order",
            (
                "For the best n of the workers, t_fast their harmonic mean; cluster_time gives the "
                "exact time of a batch, rennala_seconds explicit constants."
            ),
            _TYURIN,
        ),
        (
            "ringmaster_time",
            "Ringmaster ASGD, homogeneous data, seconds to the target: the optimal order",
            "As rennala_time, without batches; ringmaster_steps has explicit constants.",
            ringmaster,
        ),
        (
            "asynchronous_time",
            "asynchronous SGD on n workers, homogeneous data, seconds to the target",
            "As rennala_time, but with t_fast and n of all workers, however slow they are.",
            _TYURIN,
        ),
    )
    return tuple(
        Rate(name, title, Quantity.TIME, fast, source, note=note)
        for name, title, note, source in texts
    )


def _aggregated() -> tuple[Rate, ...]:
    return (
        Rate(
            "piag_first",
            "incremental aggregated gradient, delay tau, Aytekin 2016",
            Quantity.STEPS,
            (_KAPPA * s.tau**2 * _LOG,),
            _SURVEY,
        ),
        Rate(
            "piag_improved",
            "incremental aggregated gradient, step 1/(L (2 tau + 1))",
            Quantity.STEPS,
            (_KAPPA * s.tau * _LOG,),
            _SURVEY,
            note="The step is half the limit that delayed_gradient_descent certifies.",
        ),
    )


def _delayed() -> tuple[Rate, ...]:
    quiet = s.L * s.G**2 * s.R0**2 * s.tau**2 * sp.log(s.T) / (s.sigma**2 * s.T)
    noise = s.sigma * s.R0 / sp.sqrt(s.T)
    return (
        Rate(
            "delayed_dual_averaging",
            "delayed SGD or dual averaging, Agarwal and Duchi 2011, convex",
            Quantity.SUBOPTIMALITY,
            (noise, (s.L * s.R0**2 + s.tau * s.G * s.R0) / s.T, quiet),
            _SURVEY,
            note="Recalled with low confidence.",
        ),
        Rate(
            "delayed_minibatch",
            "asynchronous mini-batch, m samples, delay tau, convex",
            Quantity.SUBOPTIMALITY,
            ((s.tau + 1) ** 2 / s.T, 1 / sp.sqrt(s.m * s.T)),
            _SURVEY,
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
            (s.L * s.tau * s.R0**2 / s.T, noise),
            Source("Arjevani, Shamir, Srebro (2020), arXiv:1806.10188", Status.RECALLED),
        ),
    )


def _sparse() -> tuple[Rate, ...]:
    conflicts = s.rho_e * s.tau + s.tau**2 * s.Omega_e * sp.sqrt(s.Delta_e)
    noise = s.L * s.M**2 * s.Omega_e / (s.c**2 * s.epsilon_f)
    return (
        Rate(
            "hogwild",
            "Hogwild, sparse summands, lock-free, Niu et al. 2011",
            Quantity.STEPS,
            (noise * (1 + conflicts) * sp.log(s.L * s.R0**2 / s.epsilon_f),),
            _SURVEY,
            requirements=frozenset(
                {Requirement.STRONGLY_CONVEX, Requirement.SMOOTH, Requirement.SECOND_MOMENT}
            ),
            note=(
                "The conflict factor is 1 + 6 rho tau + 6 tau^2 Omega sqrt(Delta_e); free of the "
                "delay while rho tau and tau^2 Omega sqrt(Delta_e) stay bounded. Without any "
                "sparsity SC1 with B = tau_max M (shared_memory_gap) has the delay at second order."
            ),
        ),
    )


def _blocks() -> tuple[Rate, ...]:
    return (
        Rate(
            "block_coordinate_consistent",
            "asynchronous coordinate descent over blocks, consistent reads, Liu and Wright",
            Quantity.STEPS,
            (s.n_blocks * _KAPPA * _LOG,),
            _SURVEY,
            assumptions=(sp.Le(s.tau, sp.sqrt(s.n_blocks)),),
            note="The count of one processor: linear speed-up as long as tau = O(sqrt(blocks)).",
        ),
        Rate(
            "block_coordinate_inconsistent",
            "asynchronous coordinate descent over blocks, inconsistent reads, Liu and Wright",
            Quantity.STEPS,
            (s.n_blocks * _KAPPA * _LOG,),
            _SURVEY,
            assumptions=(sp.Le(s.tau, s.n_blocks ** sp.Rational(1, 4)),),
            note="Linear speed-up as long as tau = O(blocks^(1/4)).",
        ),
        Rate(
            "arock",
            "ARock, nonexpansive operator on uniformly drawn blocks, strongly monotone",
            Quantity.STEPS,
            (s.n_blocks * _KAPPA * _LOG, sp.sqrt(s.n_blocks) * s.tau * _KAPPA * _LOG),
            _SURVEY,
            note=(
                "The relaxation is at most 1 / (1 + 2 tau / sqrt(blocks)); the order is that of "
                "blocks kappa log(1/epsilon) divided by it."
            ),
        ),
    )


def _decentralised() -> tuple[Rate, ...]:
    return (
        Rate(
            "elastic_norm_published",
            "norm-bounded scheduler, the constant of the elastic consistency paper",
            Quantity.GAP,
            (s.M,),
            Source("Nadiradze et al. (2021), arXiv:2001.05918", Status.RECALLED),
            note="elastic_norm_gap and elastic_norm_any_gap have explicit constants, at most M.",
        ),
        Rate(
            "decentralised_sgd",
            "D-PSGD on n nodes, T large",
            Quantity.MEAN_SQUARED_GRADIENT,
            (s.L * s.Delta / s.T, (s.Delta + s.L) * s.sigma / sp.sqrt(s.n * s.T)),
            Source(
                "Lian, Zhang, Zhang, Hsieh, Zhang, Liu (2017), arXiv:1705.09056", Status.RECALLED
            ),
            note="Commonly stated with 8 Delta L / T + (8 Delta + 4 L) sigma / sqrt(n T).",
        ),
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
