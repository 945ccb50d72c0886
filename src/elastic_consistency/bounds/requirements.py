"""What a system must satisfy for a bound to speak about it, beyond relations of numbers."""

from enum import Enum
from typing import final


@final
class Requirement(Enum):
    """A condition in words; each lemma names those it needs, each bound those it assumes."""

    SMOOTH = "the loss is L-smooth"
    LOWER_BOUNDED = "the loss is bounded below by f*"
    CONVEX = "the loss is convex and has a minimiser"
    STRONGLY_CONVEX = "the loss is c-strongly convex; x* is its minimiser"
    UNBIASED = (
        "E[G(v) | past] = grad f(v): view and auxiliary iterate are fixed before the sample is "
        "drawn, and all workers sample the same loss (homogeneous data)"
    )
    OBLIVIOUS = "delays and order do not depend on the gradient noise"
    VARIANCE = "E|G(v) - grad f(v)|^2 <= sigma^2"
    SECOND_MOMENT = "E|G(v)|^2 <= M^2 along the trajectory"
    BOUNDED_GRADIENT = "|grad f| <= G along the trajectory"
    ELASTIC = "E|x - v|^2 <= alpha^2 B^2 for every view"
    CONSTANT_STEP_SIZE = "the step size is constant"
    STARTED_ORDER = "the auxiliary sequence counts jobs in the order of their reads"
    APPLIED_ORDER = "the auxiliary sequence is the server's iterate"
    UNIT_WEIGHT = "all applications of one job together have a weight of at most 1"
    ONE_UNAPPLIED_JOB = "a worker reads only after its previous job was applied"
    BOUNDED_STALENESS = "staleness is at most tau_max (R, where gradients are discarded)"
    BOUNDED_MISSING = "at most f messages are missing from any view at any time, for ever"
    HELD_BACK = "what comes from a round that a node has not begun is held back from its view"
    CONTRACTION = "E|Q(w) - w|^2 <= gamma |w|^2"
    ERROR_FEEDBACK = "what a codec leaves out is kept and added to its next input"
    DOUBLY_STOCHASTIC = "the mixing matrix is doubly stochastic, |W - 11'/n| <= rho"
    COLUMN_STOCHASTIC = "nodes split numerator and mass alike, and nothing is lost on the way"
    MASS_MIXING = (
        "m_rounds rounds of mixing shrink deviations from the mean by rho, in the rms weighted by "
        "mass over nodes and messages in flight"
    )
    MASS_BOUNDED = "the harmonic mean of the masses of the nodes is at least w_mass in each step"
    EXACT_AFTER_K = "any k consecutive mixing matrices multiply to exact averaging"
    SYNCHRONOUS = "all nodes take every step together"
    CATCH_UP = "what is missing from a view arrives before the next step is closed"
    NORM_TEST = "every sender starts early only with a share of at least beta of its norm"
    HEAVY_BALL = "momentum m <- mu m + G, x <- x - alpha m"
    NESTEROV = "momentum m <- mu m + G, x <- x - alpha (G + mu m)"
    HETEROGENEITY = "(1/n) sum_i |grad f_i - grad f|^2 <= zeta^2"
    DELAY_ADAPTIVE = "job j takes the step min(eta, 1/(L tau_j))"
    LINEAR_LOSS = "the mean gradient is the same at all views"
    FIXED_SPEEDS = "worker i takes t_i seconds for each gradient and never pauses; no latency"
    HOMOGENEOUS_SPEEDS = "all workers have the same exponential computing times"
    ZERO_LATENCY = "links have no latency: a worker reads the moment its job is applied"
    DRAINED = "the run ends when every job that was started has been applied"
    NOISE_FREE = "gradients are exact"
    QUADRATIC = "the loss is a quadratic"
    FIXED_DELAY = "every gradient is exactly tau steps old"
    ALIGNED = "|TopK(mean of inputs) - mean of TopK(inputs)| <= xi |alpha G|"


NOISY_DESCENT = frozenset({Requirement.SMOOTH, Requirement.UNBIASED, Requirement.VARIANCE})
"""A smooth loss and unbiased gradients of bounded variance: what every theorem on SGD needs."""
