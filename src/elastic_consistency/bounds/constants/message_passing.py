"""Gaps of p nodes that exchange messages which arrive late, at most tau rounds."""

from dataclasses import replace

import sympy as sp

from elastic_consistency.bounds.bound import Bound, Side, Source, Status
from elastic_consistency.bounds.proofs import lemmas
from elastic_consistency.bounds.proofs.derivation import Derivation
from elastic_consistency.bounds.proofs.gap_sums import GAP, PAGE, gap_of_a_sum
from elastic_consistency.bounds.proofs.lemmas import JOBS_BETWEEN, Premise
from elastic_consistency.bounds.proofs.recursions import Recursion
from elastic_consistency.bounds.proofs.steps import Combination, SquareRoot
from elastic_consistency.bounds.proofs.vectors import Vector, norm, squared_norm, vector
from elastic_consistency.bounds.requirements import Requirement
from elastic_consistency.bounds.scope import Scope, System
from elastic_consistency.bounds.symbols import G, M, alpha, f, p, sigma, tau
from elastic_consistency.execution.quantities import Quantity, Sequence

PAPER = Source(
    "Nadiradze, Markov, Chatterjee, Kungurtsev, Alistarh (2021), table of constants",
    Status.REPRODUCED,
)
_LATE = (p - 1) * tau
_NODES = (sp.Ge(p, 1, evaluate=False),)


def prove_by_noise() -> Derivation:
    """Return the proof that splits each message into its mean and its noise.

    The means add up by length, the noises, which are orthogonal, by squares.
    """
    means = vector("means")
    one_mean = _one_mean(means)
    all_means = Recursion("N means", one_mean, norm(means), norm(vector("all means")), JOBS_BETWEEN)
    count = lemmas.late_messages(JOBS_BETWEEN)
    noises = _noises(count)
    root = noises[-1]
    gap = Combination(
        "gap",
        goal=(GAP / alpha, (_LATE * G + sp.sqrt(_LATE) * sigma) / p),
        terms=(
            (1 / alpha, all_means),
            (1 / alpha, lemmas.starts_at_zero(norm(means))),
            (G / p, count),
            (1 / alpha, root),
            (1 / alpha, lemmas.minkowski(vector("all means"), vector("all noises"))),
            (1 / alpha, lemmas.missing_mean_and_noise(vector("all means") + vector("all noises"))),
        ),
    )
    return Derivation(GAP / alpha, (one_mean, all_means, *noises, gap))


def _one_mean(means: Vector) -> Combination:
    mean, weight = vector("grad f"), alpha / p
    return Combination(
        "one more mean",
        goal=(norm(means + weight * mean), norm(means) + weight * G),
        terms=(
            (sp.S.One, lemmas.minkowski(means, weight * mean)),
            (weight, lemmas.bounded_gradient(mean)),
        ),
    )


def _noises(count: Premise) -> tuple[Combination, Recursion, Combination, SquareRoot]:
    total, noise, weight = vector("noises"), vector("noise"), alpha / p
    one_noise = Combination(
        "one more noise",
        goal=(squared_norm(vector("noises+")), squared_norm(total) + weight**2 * sigma**2),
        terms=(
            (sp.S.One, lemmas.definition("noises+", total + weight * noise)),
            (2 * weight, lemmas.orthogonal_noise(total, noise)),
            (weight**2, lemmas.variance(noise)),
        ),
    )
    of_noises = squared_norm(vector("all noises"))
    all_noises = Recursion("N noises", one_noise, squared_norm(total), of_noises, JOBS_BETWEEN)
    squared = Combination(
        "square of all noises",
        goal=(of_noises, _LATE * weight**2 * sigma**2),
        terms=(
            (sp.S.One, all_noises),
            (sp.S.One, lemmas.starts_at_zero(squared_norm(total))),
            (weight**2 * sigma**2, count),
        ),
    )
    root = SquareRoot("all noises", squared, sp.sqrt(_LATE) * weight * sigma)
    return one_noise, all_noises, squared, root


_SCOPE = Scope(System.ROUNDS, ("message_passing",))

message_passing_gap = Bound(
    name="message_passing_gap",
    title="message passing, p nodes, messages at most tau rounds late",
    quantity=Quantity.GAP,
    sequence=Sequence.AGGREGATE,
    side=Side.UPPER,
    expression=(p - 1) * tau * M / p,
    assumptions=_NODES,
    requirements=frozenset(
        {Requirement.SECOND_MOMENT, Requirement.BOUNDED_STALENESS, Requirement.HELD_BACK}
    ),
    source=Source(PAGE, Status.DERIVED),
    proof=lambda: gap_of_a_sum(
        lemmas.late_messages(JOBS_BETWEEN), identity=lemmas.missing_gap(), weight=1 / p
    ),
    tight=True,
    note=(
        "Equal to the published constant; attained by aligned gradients. Without HELD_BACK it is "
        "false: 0 at tau = 0, where a fast peer's next update makes it M/2 (p = 2)."
    ),
    scope=_SCOPE,
)
message_passing_noise_gap = Bound(
    name="message_passing_noise_gap",
    title="message passing, mean and noise of the gradients apart",
    quantity=Quantity.GAP,
    sequence=Sequence.AGGREGATE,
    side=Side.UPPER,
    expression=(_LATE * G + sp.sqrt(_LATE) * sigma) / p,
    assumptions=_NODES,
    requirements=frozenset(
        {
            Requirement.BOUNDED_GRADIENT,
            Requirement.VARIANCE,
            Requirement.UNBIASED,
            Requirement.OBLIVIOUS,
            Requirement.BOUNDED_STALENESS,
            Requirement.HELD_BACK,
        }
    ),
    source=Source(PAGE, Status.DERIVED),
    proof=prove_by_noise,
    tight=False,
    note=(
        "Below (p-1) tau M / p, where M^2 = G^2 + sigma^2, if and only if "
        "2 sqrt(N) G <= (N-1) sigma, N = (p-1) tau."
    ),
    scope=_SCOPE,
)
message_drop_gap = Bound(
    name="message_drop_gap",
    title="message loss, at most f messages missing from a view at any time",
    quantity=Quantity.GAP,
    sequence=Sequence.AGGREGATE,
    side=Side.UPPER,
    expression=f * M / p,
    assumptions=_NODES,
    requirements=frozenset(
        {Requirement.SECOND_MOMENT, Requirement.BOUNDED_MISSING, Requirement.HELD_BACK}
    ),
    source=Source(PAGE, Status.DERIVED),
    proof=lambda: gap_of_a_sum(
        lemmas.lost_messages(JOBS_BETWEEN), identity=lemmas.missing_gap(), weight=1 / p
    ),
    tight=True,
    note="Independent losses without retransmission have no finite constant.",
    scope=_SCOPE,
)
published_message_passing_gap = replace(
    message_passing_gap,
    name="published_message_passing_gap",
    title="message passing, the constant of the elastic consistency paper",
    source=PAPER,
    note="Right, if updates of rounds that the reader has not begun are held back.",
)
published_message_drop_gap = replace(
    message_drop_gap,
    name="published_message_drop_gap",
    title="message loss, the constant of the elastic consistency paper",
    source=PAPER,
    note="Right only if missing messages are bounded for ever: false for independent losses.",
)
