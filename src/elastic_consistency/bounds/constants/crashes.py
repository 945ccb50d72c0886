"""Gaps after crashes in mid-broadcast, with and without a stand-in for what is missing."""

from dataclasses import replace

import sympy as sp

from elastic_consistency.bounds.bound import Bound, Side, Source, Status
from elastic_consistency.bounds.constants.message_passing import PAPER, message_drop_gap
from elastic_consistency.bounds.proofs import lemmas
from elastic_consistency.bounds.proofs.derivation import Derivation
from elastic_consistency.bounds.proofs.gap_sums import GAP
from elastic_consistency.bounds.proofs.recursions import Recursion
from elastic_consistency.bounds.proofs.steps import Combination, SquareRoot
from elastic_consistency.bounds.proofs.vectors import nonnegative_atom, squared_norm, vector
from elastic_consistency.bounds.requirements import Requirement
from elastic_consistency.bounds.scope import Scope, System
from elastic_consistency.bounds.symbols import L, alpha, f, p, sigma
from elastic_consistency.execution.quantities import Quantity, Sequence


def prove_stand_in(missing: sp.Expr) -> Derivation:
    """Return the proof for views that use their own gradient for `missing` others.

    The gap is (alpha / p) sum over the missing j of G_i - G_j: noise of m + 1 independent jobs,
    and a smooth part of at most m 2 L sup|x - v|.
    """
    others, own, smooth = vector("noises_j"), vector("noise_i"), vector("drift")
    noise = vector("noises")
    weight = alpha / p
    squared = Combination(
        "noise of the difference",
        goal=(squared_norm(noise), (missing**2 + missing) * sigma**2),
        terms=(
            (sp.S.One, lemmas.definition("noises", missing * own - others)),
            (missing**2, lemmas.variance(own)),
            (-2 * missing, lemmas.orthogonal_noise(own, others)),
            (sp.S.One, lemmas.noise_of_several(others, missing)),
        ),
    )
    length = sp.sqrt(missing**2 + missing) * sigma
    root = SquareRoot("noise of the difference", squared, length)
    before = nonnegative_atom("sup |x - v|")
    after = nonnegative_atom("sup |x - v| one step later")
    constant = weight * length
    grows = Combination(
        "gap after one step",
        goal=(after, 2 * L * missing * weight * before + constant),
        terms=(
            (weight, lemmas.minkowski(noise, smooth)),
            (weight, root),
            (weight * missing, lemmas.gradients_at_two_views(vector("grad_i - grad_j"), before)),
            (weight, lemmas.drift_of_several(smooth, vector("grad_i - grad_j"), missing)),
            (sp.S.One, lemmas.stand_in_gap(after, weight, noise + smooth)),
        ),
    )
    steps = sp.Symbol("t", positive=True)
    stays = Recursion("gap stays bounded", grows, before, GAP, steps)
    q = 2 * L * missing * weight
    gap = Combination(
        "gap",
        goal=(GAP / alpha, stand_in_expression(missing)),
        terms=((1 / alpha, stays), (q**steps / alpha, lemmas.starts_at_zero(before))),
    )
    return Derivation(GAP / alpha, (squared, root, grows, stays, gap))


def stand_in_expression(missing: sp.Expr) -> sp.Expr:
    """Return sigma sqrt(m^2 + m) / p / (1 - 2 alpha L m / p)."""
    noise = sigma * sp.sqrt(missing**2 + missing) / p
    return noise / (1 - 2 * alpha * L * missing / p)


STAND_IN_REQUIREMENTS = frozenset(
    {
        Requirement.VARIANCE,
        Requirement.UNBIASED,
        Requirement.OBLIVIOUS,
        Requirement.SMOOTH,
        Requirement.CATCH_UP,
    }
)

crash_gap = replace(
    message_drop_gap,
    name="crash_gap",
    title="f nodes crash in mid-broadcast; what they failed to send stays missing",
    scope=Scope(System.ROUNDS, ("crash_faults",)),
    note="Messages that a crashed node failed to send are lost; equal to the published constant.",
)
published_crash_gap = replace(
    crash_gap,
    name="published_crash_gap",
    title="crashes in mid-broadcast, the constant of the elastic consistency paper",
    source=PAPER,
    note="Right and attained.",
)
_SUBSTITUTED = Scope(System.ROUNDS, ("crash_faults substitute",))

crash_substitution_gap = Bound(
    name="crash_substitution_gap",
    title="f nodes crash in one round; receivers use their own gradient instead",
    quantity=Quantity.GAP,
    sequence=Sequence.AGGREGATE,
    side=Side.UPPER,
    expression=stand_in_expression(f),
    assumptions=(sp.Lt(alpha, p / (2 * L * f)), sp.Gt(f, 0, evaluate=False)),
    requirements=STAND_IN_REQUIREMENTS,
    source=Source("docs/theory/stand_in.md", Status.DERIVED),
    proof=lambda: prove_stand_in(f),
    note="Attained in the limit of small steps; crashes in different rounds: sqrt(2 f) sigma / p.",
    scope=_SUBSTITUTED,
)
published_crash_substitution_gap = Bound(
    name="published_crash_substitution_gap",
    title="crashes with stand-in, the constant of the elastic consistency paper",
    quantity=Quantity.GAP,
    sequence=Sequence.AGGREGATE,
    side=Side.UPPER,
    expression=3 * f * sigma / p,
    assumptions=(sp.Le(alpha, p / (6 * L * f)), sp.Ge(f, 1, evaluate=False)),
    requirements=STAND_IN_REQUIREMENTS,
    source=replace(PAPER, status=Status.IMPLIED),
    note="The condition on the step size is ours: the statement asks for a small one.",
    scope=_SUBSTITUTED,
)
