"""EF1 and EFp: error feedback on smooth losses without any bound on the gradients."""

import sympy as sp

from elastic_consistency.bounds.bound import Bound, Side, Source, Status
from elastic_consistency.bounds.convergence.descent_with_drift import descent_with_drift
from elastic_consistency.bounds.proofs import lemmas
from elastic_consistency.bounds.proofs.derivation import Derivation
from elastic_consistency.bounds.proofs.lemmas import Premise
from elastic_consistency.bounds.proofs.steps import Combination
from elastic_consistency.bounds.proofs.telescoping import Average, Telescope
from elastic_consistency.bounds.proofs.vectors import Vector, point, squared_norm, vector
from elastic_consistency.bounds.requirements import NOISY_DESCENT, Requirement
from elastic_consistency.bounds.scope import Scope, System
from elastic_consistency.bounds.symbols import Delta, L, T, alpha, gamma, p, sigma
from elastic_consistency.execution.quantities import Quantity, Sequence

_ROOT = sp.sqrt(gamma)
_GAIN = gamma / (1 - _ROOT) ** 2


def residual_on_average(residual: Vector, gradient: Vector, noise: Vector) -> tuple:
    """Return the steps that end in avg|e|^2 <= gain alpha^2 (avg|grad f(v)|^2 + sigma^2)."""
    update, left = gradient + noise, vector("e+")
    weight = gamma / (1 - _ROOT) * alpha**2
    grows = Combination(
        "residual after one step",
        goal=(
            squared_norm(left) - squared_norm(residual) + (1 - _ROOT) * squared_norm(residual),
            weight * squared_norm(gradient) + weight * sigma**2,
        ),
        terms=(
            (sp.S.One, lemmas.squared_contraction(left, residual + alpha * update)),
            (
                _ROOT / (1 - _ROOT),
                lemmas.square((1 - _ROOT) * residual - _ROOT * alpha * update),
            ),
            (2 * weight, lemmas.unbiased_noise(gradient, noise)),
            (weight, lemmas.variance(noise)),
        ),
    )
    summed = Telescope("residuals", grows, squared_norm(residual), squared_norm(left), T)
    mean = Combination(
        "mean residual",
        goal=(
            lemmas.average(squared_norm(residual)),
            _GAIN * alpha**2 * (lemmas.average(squared_norm(gradient)) + sigma**2),
        ),
        terms=(
            (1 / (1 - _ROOT), summed),
            (1 / ((1 - _ROOT) * T), lemmas.vanishing_start(residual)),
        ),
    )
    return grows, summed, mean


def prove(*, nodes: bool) -> Derivation:
    """Return the proof for one node, or for p nodes that average."""
    x, residual, noise = point("x"), vector("e"), vector("noise")
    gap = vector("gap")
    v = point("v", x.position - gap)
    following = point("x+", x.position - alpha * (v.gradient + noise))
    spread = lemmas.mean_variance(noise) if nodes else lemmas.variance(noise)
    descent = descent_with_drift(x, following, v, noise, step_size=alpha, spread=spread)
    summed = Telescope("all steps", descent, x.value, following.value, T)
    link: Premise = (
        lemmas.mean_residual_gap(gap, residual)
        if nodes
        else lemmas.squared_residual_gap(gap, residual)
    )
    linked = Average("gap and residual", link)
    own_noise = vector("noise of a node") if nodes else noise
    residuals = residual_on_average(residual, v.gradient, own_noise)
    average = lemmas.average(squared_norm(x.gradient))
    total = Combination(
        "together",
        goal=(average, ef_expression(nodes=nodes)),
        terms=(
            (2 / alpha, summed),
            (2 / (alpha * T), lemmas.descent_budget(x.value)),
            (L**2, linked),
            (L**2, residuals[-1]),
        ),
    )
    return Derivation(average, (descent, summed, linked, *residuals, total))


def ef_expression(*, nodes: bool) -> sp.Expr:
    """Return the bound for one node or for p nodes."""
    noise = L * alpha * sigma**2 / (p if nodes else 1)
    return 2 * Delta / (alpha * T) + noise + L**2 * alpha**2 * sigma**2 * _GAIN


_REQUIRED = NOISY_DESCENT | {
    Requirement.LOWER_BOUNDED,
    Requirement.ERROR_FEEDBACK,
    Requirement.CONTRACTION,
    Requirement.CONSTANT_STEP_SIZE,
}
_STEP = sp.Le(alpha, (1 - _ROOT) / L)

error_feedback_nonconvex = Bound(
    name="error_feedback_nonconvex",
    title="EF1: error feedback on a smooth loss, gradients not bounded",
    quantity=Quantity.MEAN_SQUARED_GRADIENT,
    sequence=Sequence.ERROR_CORRECTED,
    side=Side.UPPER,
    expression=ef_expression(nodes=False),
    assumptions=(_STEP, sp.Lt(gamma, 1)),
    requirements=_REQUIRED,
    source=Source("docs/theory/error_feedback.md", Status.DERIVED),
    proof=lambda: prove(nodes=False),
    scope="EFp speaks of the same runs, and of more nodes than one",
)
error_feedback_parallel_nonconvex = Bound(
    name="error_feedback_parallel_nonconvex",
    title="EFp: p averaging nodes, each with its own residual, gradients not bounded",
    quantity=Quantity.MEAN_SQUARED_GRADIENT,
    sequence=Sequence.ERROR_CORRECTED,
    side=Side.UPPER,
    expression=ef_expression(nodes=True),
    assumptions=(_STEP, sp.Lt(gamma, 1), sp.Ge(p, 1, evaluate=False)),
    requirements=_REQUIRED | {Requirement.SYNCHRONOUS, Requirement.OBLIVIOUS},
    source=Source("docs/theory/error_feedback.md", Status.DERIVED),
    proof=lambda: prove(nodes=True),
    scope=Scope(System.ROUNDS, ("all_reduce",), codecs=("error_feedback",)),
)
