"""NC1: SGD with an elastic constant on a smooth loss, one gradient a step."""

import sympy as sp

from elastic_consistency.bounds.bound import Bound, Side, Source, Status
from elastic_consistency.bounds.proofs import lemmas
from elastic_consistency.bounds.proofs.derivation import Derivation
from elastic_consistency.bounds.proofs.steps import Combination
from elastic_consistency.bounds.proofs.telescoping import Telescope
from elastic_consistency.bounds.proofs.vectors import point, squared_norm, vector
from elastic_consistency.bounds.requirements import NOISY_DESCENT, Requirement
from elastic_consistency.bounds.scope import SINGLE_STEPS
from elastic_consistency.bounds.symbols import B, Delta, L, T, alpha, sigma
from elastic_consistency.execution.quantities import Quantity, Sequence


def prove() -> Derivation:
    """Return the proof: descent lemma, polarisation, telescoping."""
    x, v, noise = point("x"), point("v"), vector("noise")
    following = point("x+", x.position - alpha * (v.gradient + noise))
    size = squared_norm(x.gradient)
    one_step = Combination(
        "one step",
        goal=(
            following.value - x.value + alpha / 2 * size,
            alpha**3 * L**2 * B**2 / 2 + L * alpha**2 * sigma**2 / 2,
        ),
        terms=(
            (sp.S.One, lemmas.smoothness(x, following)),
            (-alpha, lemmas.unbiased_noise(x.gradient, noise)),
            (L * alpha**2, lemmas.unbiased_noise(v.gradient, noise)),
            (L * alpha**2 / 2, lemmas.variance(noise)),
            (alpha / 2, lemmas.lipschitz_gradient(x, v)),
            (alpha * L**2 / 2, lemmas.elastic(x.position - v.position)),
        ),
    )
    summed = Telescope("all steps", one_step, x.value, following.value, T)
    average = lemmas.average(size)
    divided = Combination(
        "divide by alpha / 2",
        goal=(average, nonconvex_expression()),
        terms=((2 / alpha, summed), (2 / (alpha * T), lemmas.descent_budget(x.value))),
    )
    return Derivation(average, (one_step, summed, divided))


def nonconvex_expression() -> sp.Expr:
    """Return 2 Delta / (alpha T) + L^2 alpha^2 B^2 + L alpha sigma^2."""
    return 2 * Delta / (alpha * T) + L**2 * alpha**2 * B**2 + L * alpha * sigma**2


nonconvex_single_step = Bound(
    name="nonconvex_single_step",
    title="NC1: smooth loss, one gradient a step, elastic constant B",
    quantity=Quantity.MEAN_SQUARED_GRADIENT,
    sequence=Sequence.STARTED,
    side=Side.UPPER,
    expression=nonconvex_expression(),
    assumptions=(sp.Le(alpha, 1 / L),),
    requirements=NOISY_DESCENT
    | {Requirement.LOWER_BOUNDED, Requirement.ELASTIC, Requirement.CONSTANT_STEP_SIZE},
    source=Source("docs/theory/nonconvex_single_step.md", Status.DERIVED),
    proof=prove,
    tight=True,
    note=(
        "Average over steps of E|grad f(x_t)|^2, for any auxiliary sequence x of which B is the "
        "elastic constant and which is fixed before the sample; a time average of B^2 suffices. "
        "At alpha = 1/L a quadratic attains each term by itself."
    ),
    scope=SINGLE_STEPS,
)
