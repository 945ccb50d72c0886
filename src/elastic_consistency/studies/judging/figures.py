"""The figures of a run: a number for each symbol of the bounds that it determines."""

from collections.abc import Callable

import numpy as np

from elastic_consistency.bounds import System, get
from elastic_consistency.optimization.compression import ErrorFeedback
from elastic_consistency.optimization.update_rules import HeavyBall, Nesterov
from elastic_consistency.simulator import Graph, OnePeerExponential
from elastic_consistency.studies.judging.situation import Situation

Values = dict[str, float]
Figure = Callable[[Situation], float | None]


def figures_of(situation: Situation) -> Values:
    """A number for each symbol that the situation determines, by the name of the symbol."""
    found = {name: figure(situation) for name, figure in FIGURES.items()}
    return {name: float(value) for name, value in found.items() if value is not None}


def mixing_rate(topology: Graph) -> float:
    """rho = ||W - 11'/n||, in the spectral norm, of a graph's mixing matrix."""
    n = topology.n_nodes()
    matrix = np.zeros((n, n))
    for sender in range(n):
        for receiver, weight in topology.receivers(sender, 0):
            matrix[receiver, sender] = weight
    np.fill_diagonal(matrix, 1 - matrix.sum(axis=0))
    return float(np.linalg.norm(matrix - 1 / n, ord=2))


def _of_protocol(name: str) -> Figure:
    def found(s: Situation) -> float | None:
        value = getattr(s.contender.protocol, name, None)
        return value if isinstance(value, int | float) else None

    return found


def _largest_staleness(s: Situation) -> float:
    """In steps; where writes may be torn, other jobs that a view holds too few or too many of."""
    if s.schedule.metadata.block_sizes:
        return int((s.started_difference != 0).any(axis=1).sum(axis=-1).max(initial=0))
    return int(s.schedule.staleness().steps.max(initial=0))


def _missing(s: Situation) -> float | None:
    """Most gradients of earlier rounds that are missing from a view."""
    if s.system is not System.ROUNDS:
        return None
    return int((s.aggregate_difference < 0).any(axis=1).sum(axis=-1).max(initial=0))


def _least_part(s: Situation) -> float | None:
    p = s.schedule.metadata.n_workers
    return float(s.members.min()) / p if s.system is System.ROUNDS else None


def _step_unit(s: Situation) -> float:
    """alpha sqrt(T), or alpha sqrt(T / p) for steps with p gradients each."""
    at_once = s.schedule.metadata.n_workers if s.system is System.ROUNDS else 1
    return s.step_size * (s.steps / at_once) ** 0.5


def _gradient(s: Situation) -> float:
    """Largest norm of the mean gradient on the ball."""
    slope = s.limits.constants.smoothness * s.limits.radius
    longest = s.limits.largest_gradient
    return slope if longest is None else min(slope, longest)


def _moment(s: Situation) -> float:
    return s.limits.constants.second_moment**0.5


def _in_flight(s: Situation) -> float:
    return int(s.schedule.in_flight().max(initial=0))


def _momentum_gap(s: Situation) -> float | None:
    rule = s.contender.rule
    if not isinstance(rule, HeavyBall | Nesterov):
        return None
    bound = get("heavy_ball_gap" if isinstance(rule, HeavyBall) else "nesterov_gap")
    return bound.evaluate({"mu": rule.momentum, "M": _moment(s)})


def _contraction(s: Situation) -> float | None:
    codec = s.contender.codec
    return codec.contraction(s.dimension) if isinstance(codec, ErrorFeedback) else None


def _of_graph(figure: Callable[[Graph], float]) -> Figure:
    def found(s: Situation) -> float | None:
        topology = getattr(s.contender.protocol, "topology", None)
        return figure(topology) if isinstance(topology, Graph) else None

    return found


def _halvings(s: Situation) -> float | None:
    """Rounds after which a one-peer exponential graph has averaged exactly."""
    topology = getattr(s.contender.protocol, "topology", None)
    if not isinstance(topology, OnePeerExponential) or topology.nodes & (topology.nodes - 1):
        return None
    return topology.nodes.bit_length() - 1


FIGURES: dict[str, Figure] = {
    "n": lambda s: s.schedule.metadata.n_workers,
    "p": lambda s: s.schedule.metadata.n_workers,
    "d": lambda s: s.dimension,
    "T": lambda s: s.steps,
    "alpha": lambda s: s.step_size,
    "alpha_0": _step_unit,
    "L": lambda s: s.limits.constants.smoothness,
    "c": lambda s: s.limits.constants.strong_convexity,
    "sigma": lambda s: s.limits.constants.variance**0.5,
    "M": _moment,
    "G": _gradient,
    "Delta": lambda s: s.limits.start_excess,
    "R0": lambda s: s.limits.start_distance,
    "c_jobs": _in_flight,
    "tau_max": _largest_staleness,
    "R": lambda s: max(1.0, _largest_staleness(s)),
    "tau": _of_protocol("lag"),
    "f": _missing,
    "w_min": _least_part,
    "H": _of_protocol("steps"),
    "beta": _of_protocol("threshold"),
    "mu": lambda s: getattr(s.contender.rule, "momentum", None),
    "gamma": _contraction,
    "K": lambda s: getattr(getattr(s.contender.codec, "codec", None), "k", None),
    "rho": _of_graph(mixing_rate),
    "m_rounds": _of_graph(lambda _: 1.0),
    "w_mass": _of_graph(lambda _: 1.0),
    "k": _halvings,
    "B_1": lambda s: _in_flight(s) * _moment(s),
    "B_2": _momentum_gap,
}
"""By symbol; None where the situation does not determine one. B follows from the bounds of B."""
