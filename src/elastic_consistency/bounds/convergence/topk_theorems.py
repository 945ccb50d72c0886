"""TopK's own lemma and theorems, with the parameters for which they say nothing."""

import sympy as sp

from elastic_consistency.bounds.bound import Bound, Side, Source, Status
from elastic_consistency.bounds.constants.error_feedback import error_feedback_gap
from elastic_consistency.bounds.constants.topk import topk_gap
from elastic_consistency.bounds.proofs import lemmas
from elastic_consistency.bounds.proofs.derivation import Derivation
from elastic_consistency.bounds.proofs.gap_sums import GAP
from elastic_consistency.bounds.proofs.recursions import Recursion
from elastic_consistency.bounds.proofs.specialisation import insert_constant
from elastic_consistency.bounds.proofs.steps import Combination
from elastic_consistency.bounds.proofs.telescoping import Telescope
from elastic_consistency.bounds.proofs.vectors import norm, point, squared_norm, vector
from elastic_consistency.bounds.requirements import Requirement
from elastic_consistency.bounds.symbols import (
    R0,
    B,
    C,
    Delta,
    K,
    L,
    M,
    T,
    alpha,
    c,
    d,
    epsilon_x,
    gamma,
    xi,
)
from elastic_consistency.execution.quantities import Quantity, Sequence

_PAPER = (
    "Alistarh, Hoefler, Johansson, Khirirat, Konstantinov, Renggli (2018), "
    "The Convergence of Sparsified Gradient Methods"
)
_ROOT = sp.sqrt(gamma)
_KEPT = sp.sqrt(1 - K / d)
_PAGE = "docs/theory/error_feedback.md"
_STEPS = sp.Symbol("t", positive=True)


def prove_lemma() -> Derivation:
    """Return the proof of |e| <= (sqrt(gamma) + xi) / (1 - sqrt(gamma)) alpha M."""
    e, update, left = vector("e"), vector("G"), vector("e+")
    grows = Combination(
        "mean residual after one step",
        goal=(norm(left), _ROOT * norm(e) + (_ROOT + xi) * alpha * M),
        terms=(
            (sp.S.One, lemmas.aligned_contraction(left, e + alpha * update, alpha * update)),
            (_ROOT, lemmas.minkowski(e, alpha * update)),
            ((_ROOT + xi) * alpha, lemmas.second_moment(update)),
        ),
    )
    stays = Recursion("residual stays bounded", grows, norm(e), norm(vector("e_t")), _STEPS)
    gap = Combination(
        "gap",
        goal=(GAP / alpha, (_ROOT + xi) / (1 - _ROOT) * M),
        terms=(
            (1 / alpha, stays),
            (_ROOT**_STEPS / alpha, lemmas.starts_at_zero(norm(e))),
            (1 / alpha, lemmas.residual_gap(vector("e_t"))),
        ),
    )
    return Derivation(GAP / alpha, (grows, stays, gap))


_UNMEASURED = "it speaks of gradients at the views, and studies measure them at the sequence"

aligned_contraction_gap = Bound(
    name="aligned_contraction_gap",
    title="TopK paper, Lemma 2: P nodes, alignment xi, contraction gamma",
    quantity=Quantity.GAP,
    sequence=Sequence.ERROR_CORRECTED,
    side=Side.UPPER,
    expression=(_ROOT + xi) / (1 - _ROOT) * M,
    assumptions=(sp.Lt(gamma, 1),),
    requirements=error_feedback_gap.requirements | {Requirement.ALIGNED},
    source=Source(f"{_PAPER}, Lemma 2", Status.REPRODUCED),
    proof=prove_lemma,
    note=(
        "C in the paper, gamma = 1 - K/d; at xi = 0 the sharp constant. The assumption on xi is "
        "not needed: a residual on each node gives xi = 0, and xi is not small for small K."
    ),
    scope="no run tells the alignment constant xi in advance",
)
_FLOOR = sp.sqrt(epsilon_x) * M * C
topk_convex_theorem = Bound(
    name="topk_convex_theorem",
    title="TopK paper, convex corollary: probability of never being within sqrt(epsilon_x) of x*",
    quantity=Quantity.PROBABILITY,
    sequence=Sequence.ERROR_CORRECTED,
    side=Side.UPPER,
    expression=epsilon_x
    * sp.log(sp.E * R0**2 / epsilon_x)
    / ((2 * alpha * c * epsilon_x - alpha**2 * M**2 - 2 * alpha * _FLOOR) * T),
    assumptions=(
        sp.Lt(alpha, 2 * (c * epsilon_x - _FLOOR) / M**2),
        sp.Lt(epsilon_x, R0**2),
        sp.Gt(M, 0, evaluate=False),
    ),
    requirements=aligned_contraction_gap.requirements | {Requirement.STRONGLY_CONVEX},
    source=Source(_PAPER, Status.RECALLED),
    note=(
        "A step size exists only if epsilon_x > (M C / c)^2; along the trajectory M >= c R0, so "
        "for C >= 1, that is K/d <= 3/4 at xi = 0, the start lies within the target already and "
        "the statement is vacuous. SC1 with B = C M has no such condition."
    ),
)
_RATIO = 2 * (1 - K / d)
topk_nonconvex_theorem = Bound(
    name="topk_nonconvex_theorem",
    title="TopK paper, non-convex theorem with a constant step size",
    quantity=Quantity.MEAN_SQUARED_GRADIENT,
    sequence=Sequence.ERROR_CORRECTED,
    side=Side.UPPER,
    expression=4 * Delta / (alpha * T)
    + 2 * L * M**2 * alpha
    + 4 * L**2 * M**2 * alpha**2 * (1 + xi / _KEPT) ** 2 * _RATIO / (1 - _RATIO),
    assumptions=(sp.Gt(K, d / 2), sp.Lt(K, d)),
    requirements=aligned_contraction_gap.requirements
    | {Requirement.SMOOTH, Requirement.LOWER_BOUNDED, Requirement.UNBIASED},
    source=Source(_PAPER, Status.RECALLED),
    note=(
        "The condition sum (2 (1 - K/d))^k < oo fails for K <= d/2; it comes from |a + b|^2 <= "
        "2 |a|^2 + 2 |b|^2, and topk_nonconvex needs no such condition."
    ),
    scope="no run tells the alignment constant xi in advance",
)


def prove_at_views() -> Derivation:
    """Return the proof for the gradients at the views, with a bounded second moment."""
    x, v, noise = point("x"), point("v"), vector("noise")
    update = v.gradient + noise
    following = point("x+", x.position - alpha * update)
    size = squared_norm(v.gradient)
    one_step = Combination(
        "one step",
        goal=(
            following.value - x.value + alpha / 2 * size,
            alpha**3 * L**2 * B**2 / 2 + L * alpha**2 * M**2 / 2,
        ),
        terms=(
            (sp.S.One, lemmas.smoothness(x, following)),
            (-alpha, lemmas.unbiased_noise(x.gradient, noise)),
            (L * alpha**2 / 2, lemmas.squared_second_moment(update)),
            (alpha / 2, lemmas.lipschitz_gradient(x, v)),
            (alpha * L**2 / 2, lemmas.elastic(x.position - v.position)),
        ),
    )
    summed = Telescope("all steps", one_step, x.value, following.value, T)
    average = lemmas.average(size)
    divided = Combination(
        "divide by alpha / 2",
        goal=(average, _AT_VIEWS),
        terms=((2 / alpha, summed), (2 / (alpha * T), lemmas.descent_budget(x.value))),
    )
    return Derivation(average, (one_step, summed, divided))


_AT_VIEWS = 2 * Delta / (alpha * T) + L * alpha * M**2 + L**2 * alpha**2 * B**2
_VIEWS_REQUIRED = frozenset(
    {
        Requirement.SMOOTH,
        Requirement.LOWER_BOUNDED,
        Requirement.UNBIASED,
        Requirement.SECOND_MOMENT,
        Requirement.ELASTIC,
        Requirement.CONSTANT_STEP_SIZE,
    }
)

nonconvex_at_views = Bound(
    name="nonconvex_at_views",
    title="smooth loss, gradients at the views, second moment bounded, any step size",
    quantity=Quantity.MEAN_SQUARED_GRADIENT,
    sequence=Sequence.STARTED,
    side=Side.UPPER,
    expression=_AT_VIEWS,
    assumptions=(),
    requirements=_VIEWS_REQUIRED,
    source=Source(_PAGE, Status.DERIVED),
    proof=prove_at_views,
    note="Average of E|grad f(v_t)|^2, where the gradients are computed; no limit on alpha.",
    scope=_UNMEASURED,
)
topk_nonconvex = Bound(
    name="topk_nonconvex",
    title="TopK with error feedback on a smooth loss, any K, any step size",
    quantity=Quantity.MEAN_SQUARED_GRADIENT,
    sequence=Sequence.ERROR_CORRECTED,
    side=Side.UPPER,
    expression=_AT_VIEWS.subs(B, topk_gap.expression),
    assumptions=topk_gap.assumptions,
    requirements=_VIEWS_REQUIRED | topk_gap.requirements,
    source=Source(_PAGE, Status.DERIVED),
    proof=lambda: insert_constant(nonconvex_at_views, topk_gap),
    note="Average of E|grad f(v_t)|^2; replaces the condition of the paper's theorem.",
    scope=_UNMEASURED,
)
