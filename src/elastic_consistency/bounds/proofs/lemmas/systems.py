"""Lemmas about relaxed systems: which updates a view lacks, and what codecs and mixing do."""

import sympy as sp

from elastic_consistency.bounds import symbols as s
from elastic_consistency.bounds.proofs.lemmas.base import Lemma
from elastic_consistency.bounds.proofs.lemmas.quantities import SUM_BETWEEN, averaged
from elastic_consistency.bounds.proofs.vectors import norm, squared_norm, vector
from elastic_consistency.bounds.requirements import Requirement

_GAP = norm(vector("x - v"))


def _missing(name: str, statement: str, *requires: Requirement) -> Lemma:
    """Return the lemma that the gap is a sum of updates."""
    sides = (_GAP, SUM_BETWEEN)
    return Lemma(name, statement, lambda: sides, equality=True, requires=frozenset(requires))


def _at_most(name: str, statement: str, limit: sp.Expr, *requires: Requirement) -> Lemma:
    """Return the lemma that limits the number of updates in that sum."""
    return Lemma(name, statement, lambda count: (count, limit), requires=frozenset(requires))


elastic = Lemma(
    "elastic",
    "E|x - v|^2 <= alpha^2 B^2 (averaged over the views of a step)",
    lambda gap: (squared_norm(gap), s.alpha**2 * s.B**2),
    requires=frozenset({Requirement.ELASTIC}),
)
started_gap = _missing(
    "started_gap",
    "x_k - v_k is minus the sum of the updates that were started before k and not yet applied",
    Requirement.STARTED_ORDER,
    Requirement.UNIT_WEIGHT,
)
applied_gap = _missing(
    "applied_gap",
    "x_k - v_k is minus the sum of the updates that were applied between read and use",
    Requirement.APPLIED_ORDER,
    Requirement.UNIT_WEIGHT,
)
missing_gap = _missing(
    "missing_gap",
    "x_t - v_t is minus the sum of the messages that the view lacks",
)
torn_gap = _missing(
    "torn_gap",
    "x_t - v_t is minus the sum of the parts of updates that the view lacks",
    Requirement.UNIT_WEIGHT,
)
exact_after_k = _missing(
    "exact_after_k",
    "deviations from the mean are mixed sums of at most k - 1 past updates (rms over nodes)",
    Requirement.EXACT_AFTER_K,
)
one_job_per_worker = _at_most(
    "one_job_per_worker",
    "at most n - 1 other jobs were read and not yet applied",
    s.n - 1,
    Requirement.ONE_UNAPPLIED_JOB,
)
jobs_in_flight = _at_most(
    "jobs_in_flight",
    "at most c_jobs other jobs were read and not yet applied (the definition of c_jobs)",
    s.c_jobs,
)
bounded_staleness = _at_most(
    "bounded_staleness",
    "at most tau_max updates were applied between read and use",
    s.tau_max,
    Requirement.BOUNDED_STALENESS,
)
late_messages = _at_most(
    "late_messages",
    "messages of p - 1 nodes, each at most tau rounds late: at most (p - 1) tau are missing",
    (s.p - 1) * s.tau,
    Requirement.BOUNDED_STALENESS,
    Requirement.HELD_BACK,
)
lost_messages = _at_most(
    "lost_messages",
    "at most f messages are missing",
    s.f,
    Requirement.BOUNDED_MISSING,
    Requirement.HELD_BACK,
)
other_nodes = _at_most(
    "other_nodes",
    "at most p - 1 messages are missing, and they arrive before the next step is closed",
    s.p - 1,
    Requirement.CATCH_UP,
)
rounds_since_exact = _at_most(
    "rounds_since_exact",
    "the last exact averaging lies at most k - 1 updates back",
    s.k - 1,
    Requirement.EXACT_AFTER_K,
)
local_steps = _at_most(
    "local_steps",
    "a view lies at most H - 1 local steps after the last averaging",
    s.H - 1,
    Requirement.SYNCHRONOUS,
)
missing_mean_and_noise = Lemma(
    "missing_mean_and_noise",
    "x - v is minus the means and the noises of the missing messages",
    lambda total: (_GAP, norm(total)),
    equality=True,
)
drift_of_several = Lemma(
    "drift_of_several",
    "|sum of m differences of mean gradients| <= m times the largest",
    lambda total, one, count: (norm(total), count * norm(one)),
)
stand_in_gap = Lemma(
    "stand_in_gap",
    "the gap is (alpha / p) times the sum of G_i - G_j over the missing j, for one step",
    lambda gap, weight, total: (gap, weight * norm(total)),
    requires=frozenset({Requirement.CATCH_UP}),
)
part = Lemma(
    "part",
    "|m * G| <= |G| for a 0/1 mask m, whatever chooses it",
    lambda kept, whole: (norm(kept), norm(whole)),
)
deviation_from_mean = Lemma(
    "deviation_from_mean",
    "rms over nodes of G_i - mean is at most the rms of G_i",
    lambda deviation, whole: (norm(deviation), norm(whole)),
    requires=frozenset({Requirement.SYNCHRONOUS}),
)
norm_test = Lemma(
    "norm_test",
    "|late part of G| <= sqrt(1 - beta^2) |G| when the early part has a share >= beta",
    lambda late, whole: (norm(late), sp.sqrt(1 - s.beta**2) * norm(whole)),
    requires=frozenset({Requirement.NORM_TEST}),
)
contraction = Lemma(
    "contraction",
    "|w - Q(w)| <= sqrt(gamma) |w|",
    lambda left, w: (norm(left), sp.sqrt(s.gamma) * norm(w)),
    requires=frozenset({Requirement.CONTRACTION}),
)
squared_contraction = Lemma(
    "squared_contraction",
    "E|w - Q(w)|^2 <= gamma E|w|^2",
    lambda left, w: (squared_norm(left), s.gamma * squared_norm(w)),
    requires=frozenset({Requirement.CONTRACTION}),
)
residual_gap = Lemma(
    "residual_gap",
    "the error-corrected iterate and the view differ by the residual: |x - v| = |e|",
    lambda e: (_GAP, norm(e)),
    equality=True,
    requires=frozenset({Requirement.ERROR_FEEDBACK}),
)
squared_residual_gap = Lemma(
    "squared_residual_gap",
    "E|x - v|^2 = E|e|^2",
    lambda gap, e: (squared_norm(gap), squared_norm(e)),
    equality=True,
    requires=frozenset({Requirement.ERROR_FEEDBACK}),
)
mixing = Lemma(
    "mixing",
    "|(W - J) u| <= rho |u|, J = 11'/n, rms over nodes",
    lambda mixed, u: (norm(mixed), s.rho * norm(u)),
    requires=frozenset({Requirement.DOUBLY_STOCHASTIC}),
)
projection = Lemma(
    "projection",
    "|(I - J) u| <= |u|, J = 11'/n, rms over nodes",
    lambda projected, u: (norm(projected), norm(u)),
)
server_with_residuals = Lemma(
    "server_with_residuals",
    "x - v is minus the updates in flight minus the residuals of the n workers",
    lambda residual: (_GAP, SUM_BETWEEN + s.n * norm(residual)),
    requires=frozenset(
        {Requirement.STARTED_ORDER, Requirement.ERROR_FEEDBACK, Requirement.UNIT_WEIGHT}
    ),
)
delay_adaptive_exchange = Lemma(
    "delay_adaptive_exchange",
    "eta_j <= min(eta, 1/(L tau_j)), eta <= 1/(3 L n): the gaps, weighted by eta_k, are at most "
    "2 (4/3) (eta / L) eta_j ((n - 1) |grad f(v_j)|^2 + sigma^2), averaged",
    lambda gap, gradient, eta: (
        averaged(squared_norm(gap), weight=eta, power=1),
        sp.Rational(8, 3)
        * s.alpha
        / s.L
        * (
            (s.n - 1) * averaged(squared_norm(gradient), weight=eta, power=1)
            + s.sigma**2 * averaged(sp.S.One, weight=eta, power=1)
        ),
    ),
    requires=frozenset(
        {
            Requirement.STARTED_ORDER,
            Requirement.ONE_UNAPPLIED_JOB,
            Requirement.OBLIVIOUS,
            Requirement.UNBIASED,
            Requirement.VARIANCE,
            Requirement.DELAY_ADAPTIVE,
        }
    ),
    conditions=lambda *_: (1 / (3 * s.L * s.n) - s.alpha,),
)
weighted_average = Lemma(
    "weighted_average",
    "the weighted average times the mean weight is the average of weight times value",
    lambda ratio, weighted, mean: (mean * ratio, weighted),
    equality=True,
)
mean_step_size = Lemma(
    "mean_step_size",
    "the mean step size lies between 2 eta / 3 and eta: staleness sums to at most (n - 1) T, so "
    "at most a third of the jobs have more than 3 n",
    lambda mean_step, mean: (mean_step, mean),
    equality=True,
    requires=frozenset({Requirement.DELAY_ADAPTIVE, Requirement.ZERO_LATENCY}),
    conditions=lambda *_: (1 / (3 * s.L * s.n) - s.alpha,),
)
seconds_of_batches = Lemma(
    "seconds_of_batches",
    "n workers deliver m gradients within t_fast (1 + m/n): sum floor(t/t_i) >= n t/t_fast - n",
    lambda seconds, steps: (seconds, s.t_fast * (1 + s.m / s.n) * steps),
    requires=frozenset({Requirement.FIXED_SPEEDS}),
)
mean_residual_gap = Lemma(
    "mean_residual_gap",
    "E|x - v|^2 <= mean over nodes of E|e_q|^2: the gap is the mean of the nodes' residuals",
    lambda gap, e: (squared_norm(gap), squared_norm(e)),
    requires=frozenset({Requirement.ERROR_FEEDBACK, Requirement.SYNCHRONOUS}),
)
gap_of_two_parts = Lemma(
    "gap_of_two_parts",
    "x - v is the sum of the errors of the two relaxations",
    lambda total: (_GAP, norm(total)),
    equality=True,
)
elastic_part = Lemma(
    "elastic_part",
    "|error of one relaxation| <= alpha B_i",
    lambda error, constant: (norm(error), s.alpha * constant),
    requires=frozenset({Requirement.ELASTIC}),
)
aligned_contraction = Lemma(
    "aligned_contraction",
    "|mean of what TopK leaves on each node| <= sqrt(gamma) |w| + xi |alpha G|, w the mean input",
    lambda left, w, update: (norm(left), sp.sqrt(s.gamma) * norm(w) + s.xi * norm(update)),
    requires=frozenset({Requirement.CONTRACTION, Requirement.ALIGNED}),
)
STATED = (
    elastic,
    started_gap,
    applied_gap,
    missing_gap,
    torn_gap,
    exact_after_k,
    one_job_per_worker,
    jobs_in_flight,
    bounded_staleness,
    late_messages,
    lost_messages,
    other_nodes,
    rounds_since_exact,
    local_steps,
    missing_mean_and_noise,
    drift_of_several,
    stand_in_gap,
    part,
    deviation_from_mean,
    norm_test,
    contraction,
    squared_contraction,
    residual_gap,
    squared_residual_gap,
    mixing,
    projection,
    server_with_residuals,
    delay_adaptive_exchange,
    weighted_average,
    mean_step_size,
    seconds_of_batches,
    mean_residual_gap,
    gap_of_two_parts,
    elastic_part,
    aligned_contraction,
)
