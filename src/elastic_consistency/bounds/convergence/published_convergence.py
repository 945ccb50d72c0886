"""The convergence theorems of the elastic consistency paper, as commonly stated.

Their step sizes read alpha = 1 / sqrt(T); `alpha_0`, 1 in the papers, carries the unit.
"""

import sympy as sp

from elastic_consistency.bounds.bound import Bound, Side, Source, Status
from elastic_consistency.bounds.convergence.nonconvex_single_step import nonconvex_single_step
from elastic_consistency.bounds.convergence.parallel_steps import (
    nonconvex_parallel_step,
    strongly_convex_parallel_step,
)
from elastic_consistency.bounds.convergence.strongly_convex_single_step import (
    strongly_convex_single_step,
)
from elastic_consistency.bounds.scope import PARALLEL_STEPS, SINGLE_STEPS
from elastic_consistency.bounds.symbols import R0, B, Delta, L, T, alpha_0, c, p, sigma
from elastic_consistency.execution.quantities import Quantity, Sequence

_PAPER = "Nadiradze, Markov, Chatterjee, Kungurtsev, Alistarh (2021), arXiv:2001.05918"
_ROOT = sp.sqrt(T)
_LOG = sp.log(T)
_LOG_P = sp.log(T * p)

_TIED = "its step size is tied to the number of steps, and a study chooses from a list"

published_nonconvex_single_step = Bound(
    name="published_nonconvex_single_step",
    title="elastic consistency paper: smooth loss, single steps, alpha = alpha_0 / sqrt(T)",
    quantity=Quantity.MEAN_SQUARED_GRADIENT,
    sequence=Sequence.STARTED,
    side=Side.UPPER,
    expression=4 * Delta / (alpha_0 * _ROOT)
    + 2 * B**2 * L**2 * alpha_0**2 / T
    + 6 * L * alpha_0 * sigma**2 / _ROOT
    + 6 * L**3 * B**2 * alpha_0**3 / T ** sp.Rational(3, 2),
    assumptions=(sp.Ge(T, 36 * L**2 * alpha_0**2, evaluate=False),),
    requirements=nonconvex_single_step.requirements,
    source=Source(_PAPER, Status.IMPLIED),
    note="NC1 gives 2, 1, 1 and 0 instead of 4, 2, 6 and 6, from T >= L^2 alpha_0^2 on.",
    scope=SINGLE_STEPS,
)
published_nonconvex_parallel_step = Bound(
    name="published_nonconvex_parallel_step",
    title="elastic consistency paper: smooth loss, parallel steps, alpha = alpha_0 sqrt(p / T)",
    quantity=Quantity.MEAN_SQUARED_GRADIENT,
    sequence=Sequence.AGGREGATE,
    side=Side.UPPER,
    expression=8 * Delta / (alpha_0 * sp.sqrt(T) * sp.sqrt(p))
    + 4 * B**2 * L**2 * alpha_0**2 * p / T
    + 8 * L * alpha_0 * sigma**2 / (sp.sqrt(T) * sp.sqrt(p))
    + 16 * L**3 * B**2 * alpha_0**3 * p ** sp.Rational(3, 2) / T ** sp.Rational(3, 2),
    assumptions=(sp.Ge(T, 64 * L**2 * alpha_0**2 * p, evaluate=False), sp.Ge(p, 1, evaluate=False)),
    requirements=nonconvex_parallel_step.requirements,
    source=Source(_PAPER, Status.IMPLIED),
    note="At least half of the nodes take part; NCp gives 4, 1, 1 and 0 instead of 8, 4, 8 and 16.",
    scope=PARALLEL_STEPS,
)
published_strongly_convex_single_step = Bound(
    name="published_strongly_convex_single_step",
    title="elastic consistency paper: strongly convex loss, alpha = 2 log T / (c T)",
    quantity=Quantity.SQUARED_DISTANCE,
    sequence=Sequence.STARTED,
    side=Side.UPPER,
    expression=R0**2 / T
    + 16 * _LOG**2 * L**2 * B**2 / (c**4 * T**2)
    + 12 * sigma**2 * _LOG / (c**2 * T)
    + 48 * _LOG**3 * B**2 * L**2 / (c**4 * T**3),
    assumptions=(sp.Ge(T, 144 * L**4 / c**4, evaluate=False), sp.Le(c, L)),
    requirements=strongly_convex_single_step.requirements,
    source=Source(_PAPER, Status.IMPLIED),
    note=(
        "Implied by SC2 for all L >= c, by SC1 only for L >= (1 + sqrt(3)) / 2 c. SC2 needs "
        "T / log T >= L/c + 1 instead of T >= 144 (L / c)^4."
    ),
    scope=_TIED,
)
published_strongly_convex_parallel_step = Bound(
    name="published_strongly_convex_parallel_step",
    title="elastic consistency paper: strongly convex loss, parallel steps",
    quantity=Quantity.SQUARED_DISTANCE,
    sequence=Sequence.AGGREGATE,
    side=Side.UPPER,
    expression=R0**2 / (T * p)
    + 16 * _LOG_P**2 * L**2 * B**2 / (c**4 * T**2)
    + 12 * sigma**2 * _LOG_P / (c**2 * T * p)
    + 48 * _LOG_P**3 * L**2 * B**2 / (c**4 * T**3),
    assumptions=(
        sp.Ge(T, 256 * L**4 * p / c**4, evaluate=False),
        sp.Le(c, L),
        sp.Ge(p, 1, evaluate=False),
    ),
    requirements=strongly_convex_parallel_step.requirements,
    source=Source(_PAPER, Status.IMPLIED),
    note="alpha = 2 log(T p) / (c T); implied by SCp2 even if only half of the nodes take part.",
    scope=_TIED,
)
