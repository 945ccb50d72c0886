"""The gap of stochastic gradient push, with or without overlap: the least mass is in it."""

import sympy as sp

from elastic_consistency.bounds.bound import Bound, Side, Source, Status
from elastic_consistency.bounds.proofs import lemmas
from elastic_consistency.bounds.proofs.derivation import Derivation
from elastic_consistency.bounds.proofs.gap_sums import GAP
from elastic_consistency.bounds.proofs.lemmas import JOBS_BETWEEN
from elastic_consistency.bounds.proofs.recursions import Recursion
from elastic_consistency.bounds.proofs.steps import Combination
from elastic_consistency.bounds.proofs.vectors import norm, vector
from elastic_consistency.bounds.requirements import Requirement
from elastic_consistency.bounds.scope import Scope, System
from elastic_consistency.bounds.symbols import M, alpha, m_rounds, rho, w_mass
from elastic_consistency.execution.quantities import Quantity, Sequence

_WINDOWS = sp.Symbol("t", positive=True)
_SHIFT = M / sp.sqrt(w_mass)
_LIMIT = (m_rounds - 1 + rho) / (1 - rho) * _SHIFT


def prove() -> Derivation:
    """Return the proof: a window shrinks what it finds by rho and adds m_rounds shifts."""
    y, deviation = vector("y"), vector("deviation")
    one_shift, one_more, later = _shifts()
    window = _window(one_shift, later)
    stays = Recursion("deviation stays bounded", window, norm(y), norm(deviation), _WINDOWS)
    bounded = Combination(
        "gap",
        goal=(GAP / alpha, _LIMIT),
        terms=(
            (1 / alpha, stays),
            (rho**_WINDOWS / alpha, lemmas.starts_at_zero(norm(y))),
            (1 / alpha, lemmas.mean_gap(deviation)),
        ),
    )
    return Derivation(GAP / alpha, (one_shift, one_more, later, window, stays, bounded))


def _shifts() -> tuple[Combination, Combination, Recursion]:
    shift, centred, total = vector("G / mass"), vector("shift"), vector("shifts")
    one_shift = Combination(
        "one shift",
        goal=(norm(centred), _SHIFT),
        terms=(
            (sp.S.One, lemmas.mass_projection(centred, shift)),
            (sp.S.One, lemmas.mass_shift(shift, vector("G"))),
            (1 / sp.sqrt(w_mass), lemmas.second_moment(vector("G"))),
        ),
    )
    averaged = vector("averaged shift")
    one_more = Combination(
        "one more shift",
        goal=(norm(total + alpha * averaged), norm(total) + alpha * _SHIFT),
        terms=(
            (sp.S.One, lemmas.minkowski(total, alpha * averaged)),
            (alpha, lemmas.mass_averaging(averaged, centred)),
            (alpha, one_shift),
        ),
    )
    end = norm(vector("later shifts"))
    return one_shift, one_more, Recursion("later shifts", one_more, norm(total), end, JOBS_BETWEEN)


def _window(one_shift: Combination, later: Recursion) -> Combination:
    y, centred, mixed = vector("y"), vector("shift"), vector("mixed")
    rest = vector("later shifts")
    return Combination(
        "m_rounds rounds",
        goal=(norm(mixed + rest), rho * norm(y) + (m_rounds - 1 + rho) * alpha * _SHIFT),
        terms=(
            (sp.S.One, lemmas.minkowski(mixed, rest)),
            (sp.S.One, lemmas.mass_mixing(mixed, y - alpha * centred)),
            (rho, lemmas.minkowski(y, -alpha * centred)),
            (rho * alpha, one_shift),
            (sp.S.One, later),
            (sp.S.One, lemmas.starts_at_zero(norm(vector("shifts")))),
            (alpha * _SHIFT, lemmas.later_rounds(JOBS_BETWEEN)),
        ),
    )


push_sum_gap = Bound(
    name="push_sum_gap",
    title="push-sum, messages of any delay, with the least mass; rms over nodes weighted by mass",
    quantity=Quantity.GAP,
    sequence=Sequence.MEAN,
    side=Side.UPPER,
    expression=_LIMIT,
    assumptions=(sp.Lt(rho, 1), sp.Ge(m_rounds, 1, evaluate=False)),
    requirements=frozenset(
        {
            Requirement.SECOND_MOMENT,
            Requirement.COLUMN_STOCHASTIC,
            Requirement.MASS_MIXING,
            Requirement.MASS_BOUNDED,
        }
    ),
    source=Source("docs/theory/push_sum.md", Status.DERIVED),
    proof=prove,
    note=(
        "Without delays w_mass = 1 and B is gossip_gap (m_rounds = 1) or one_peer_exponential_gap "
        "(rho = 0). The plain rms over nodes is at most 1/sqrt(least mass) times larger."
    ),
    scope=Scope(System.ROUNDS, ("gossip graph",), over_nodes=True),
)
