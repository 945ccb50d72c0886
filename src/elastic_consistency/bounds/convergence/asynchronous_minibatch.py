"""Asynchronous SGD on mini-batches as commonly stated; D1 implies it with the same constant."""

import sympy as sp

from elastic_consistency.bounds.bound import Bound, Side, Source, Status
from elastic_consistency.bounds.convergence.bounded_staleness_nonconvex import (
    bounded_staleness_nonconvex,
)
from elastic_consistency.bounds.symbols import Delta, L, T, m, sigma, tau
from elastic_consistency.execution.quantities import Quantity, Sequence

lian_nonconvex = Bound(
    name="lian_nonconvex",
    title="asynchronous SGD, smooth loss, m samples a job, tuned step, staleness at most tau",
    quantity=Quantity.MEAN_SQUARED_GRADIENT,
    sequence=Sequence.APPLIED,
    side=Side.UPPER,
    expression=4 * sp.sqrt(Delta * L * sigma**2 / (m * T)),
    assumptions=(
        sp.Ge(T, 4 * m * L * Delta * (tau + 1) ** 2 / sigma**2, evaluate=False),
        sp.Gt(sigma, 0, evaluate=False),
        sp.Gt(Delta, 0, evaluate=False),
    ),
    requirements=bounded_staleness_nonconvex.requirements,
    source=Source("Lian, Huang, Li, Liu (2015), arXiv:1506.08272, AsySG-con", Status.IMPLIED),
    note=(
        "The step on the mean of m samples is sqrt(m Delta / (L T sigma^2)), sigma^2 the variance "
        "of one. D1 with R = tau + 1 gives the constant 4 exactly: 2 + 1 (1 + 1)."
    ),
    scope="its step size is tied to the number of steps, and a study chooses from a list",
)
