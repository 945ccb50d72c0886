"""The relations between the bounds of the catalogue."""

import sympy as sp

from elastic_consistency.bounds import symbols as s
from elastic_consistency.bounds.catalogue import get
from elastic_consistency.bounds.relations import Dominates, Equal, MeetsOnlyAt, Relation

_GOLDEN = (sp.sqrt(5) - 1) / 2
_LOG = sp.Symbol("log_T", nonnegative=True)


def list_relations() -> tuple[Relation, ...]:
    """Return every relation."""
    return (
        *_published_against_sharp(),
        *_error_feedback(),
        *_codecs(),
        *_convergence(),
        *_minibatches(),
        *_counts_of_steps(),
        *_special_cases(),
        *_switches(),
    )


def _of(name: str) -> sp.Expr:
    return sp.sympify(get(name).expression)


def _above(larger: str, smaller: str, statement: str, *, by_squares: bool = False) -> Dominates:
    return Dominates(
        f"{larger} >= {smaller}",
        statement,
        _of(larger),
        _of(smaller),
        get(larger).assumptions,
        by_squares=by_squares,
    )


def _published_against_sharp() -> tuple[Relation, ...]:
    return (
        _above("published_shared_memory_gap", "shared_memory_gap", "loose by sqrt(d)"),
        _above(
            "published_crash_substitution_gap",
            "crash_substitution_gap",
            "3 f sigma / p is implied for steps up to p / (6 L f)",
            by_squares=True,
        ),
        _above(
            "published_elastic_variance_gap",
            "elastic_variance_gap",
            "3 sigma is implied for steps up to 1 / (3 L)",
            by_squares=True,
        ),
        _above(
            "published_error_feedback_gap",
            "error_feedback_gap",
            "the published constant is right and never below the sharp one",
            by_squares=True,
        ),
        _above(
            "karimireddy_error_feedback_gap",
            "error_feedback_gap",
            "loose by 2 / (1 + sqrt(gamma))",
        ),
        _above("published_rennala_steps", "rennala_steps", "24 L Delta/epsilon, 8 suffices"),
    )


def _error_feedback() -> tuple[Relation, ...]:
    published, sharp = _of("published_error_feedback_gap"), _of("error_feedback_gap")
    other = _of("karimireddy_error_feedback_gap")
    return (
        MeetsOnlyAt(
            "published error feedback touches sharp",
            "they agree at gamma = ((sqrt(5) - 1) / 2)^2 = .382 and nowhere else",
            published,
            sharp,
            s.gamma,
            _GOLDEN**2,
            touches=True,
        ),
        MeetsOnlyAt(
            "published error feedback crosses Karimireddy",
            "the elastic consistency constant is the larger one for gamma > 2/3",
            published,
            other,
            s.gamma,
            sp.Rational(2, 3),
            touches=False,
        ),
    )


def _codecs() -> tuple[Relation, ...]:
    sharp = _of("error_feedback_gap")
    return (
        Equal(
            "one-bit is TopK at K = 1",
            "the one-bit constant is that of TopK with one coordinate",
            _of("topk_gap"),
            _of("one_bit_gap"),
            {s.K: sp.S.One},
        ),
        Equal(
            "published one-bit is published TopK at K = 1",
            "the same holds for the published constants",
            _of("published_topk_gap"),
            _of("published_one_bit_gap"),
            {s.K: sp.S.One},
        ),
        Dominates(
            "TopK gap <= (2 d/K - 3/2) M",
            "with gamma = 1 - K/d the constant is at most 2 d/K - 3/2, not only in the limit",
            (2 / (1 - s.gamma) - sp.Rational(3, 2)) * s.M,
            sharp,
            get("error_feedback_gap").assumptions,
        ),
        Equal(
            "aligned contraction at xi = 0",
            "without misalignment Lemma 2 of TopK is the sharp constant",
            _of("aligned_contraction_gap"),
            sharp,
            {s.xi: sp.S.Zero},
        ),
    )


def _convergence() -> tuple[Relation, ...]:
    single = _of("nonconvex_single_step").subs(s.alpha, s.alpha_0 / sp.sqrt(s.T))
    parallel = _of("nonconvex_parallel_step").subs(
        {s.alpha: s.alpha_0 * sp.sqrt(s.p) / sp.sqrt(s.T), s.w_min: sp.Rational(1, 2)}
    )
    return (
        Dominates(
            "published_nonconvex_single_step >= NC1",
            "4, 2, 6, 6 is implied by 2, 1, 1, 0",
            _of("published_nonconvex_single_step"),
            single,
            get("published_nonconvex_single_step").assumptions,
        ),
        Dominates(
            "published_nonconvex_single_step is within NC1",
            "T >= 36 L^2 alpha_0^2 gives alpha <= 1/L",
            1 / s.L,
            s.alpha_0 / sp.sqrt(s.T),
            get("published_nonconvex_single_step").assumptions,
        ),
        Dominates(
            "published_nonconvex_parallel_step >= NCp",
            "8, 4, 8, 16 is implied by 4, 1, 1, 0 at half participation",
            _of("published_nonconvex_parallel_step"),
            parallel,
            get("published_nonconvex_parallel_step").assumptions,
        ),
        *_strongly_convex(),
    )


def _strongly_convex() -> tuple[Relation, ...]:
    """Compare floors; the starts follow from (1 - x)^T <= exp(-x T).

    The weight of the gap is taken as (L/c)^2, its largest for alpha <= 2/(L + c).
    """
    single, parallel = (
        get(f"published_strongly_convex_{kind}_step") for kind in ("single", "parallel")
    )
    step = {s.alpha: 2 * _LOG / (s.c * s.T)}
    single_floor = (single.expression - s.R0**2 / s.T).subs(sp.log(s.T), _LOG)
    parallel_floor = (parallel.expression - s.R0**2 / (s.T * s.p)).subs(sp.log(s.T * s.p), _LOG)
    ordered = (sp.Le(s.c, s.L),)
    return (
        Dominates(
            "published_strongly_convex_single_step >= SC2 after the start",
            "16, 12, 48 is implied by 4, 2, 0; (1 - 2 log T/T)^T <= 1/T^2 is the rest",
            single_floor,
            _split_at_iterate(1).subs(step),
            ordered,
        ),
        Dominates(
            "published_strongly_convex_parallel_step >= SCp2 after the start",
            "the same, at half participation: (1 - log(T p)/T)^T <= 1/(T p) is the rest",
            parallel_floor,
            _split_at_iterate(s.p).subs(step),
            (*ordered, sp.Ge(s.p, 1, evaluate=False)),
        ),
        Dominates(
            "published_strongly_convex_single_step is within SC2",
            "T >= 144 (L/c)^4 and log T <= 3/4 sqrt(T) give alpha <= 2/(L + c)",
            2 / (s.L + s.c),
            2 * _LOG / (s.c * s.T),
            (*single.assumptions, sp.Le(_LOG, sp.Rational(3, 4) * sp.sqrt(s.T))),
        ),
        *_of_one_another(),
    )


def _of_one_another() -> tuple[Relation, ...]:
    first = _of("strongly_convex_single_step") - _start(s.alpha * s.c / 2)
    second = _of("strongly_convex_contraction") - _start(s.alpha * s.c)
    small = (sp.Le(s.alpha, 1 / (2 * s.L)), sp.Lt(s.c, s.L))
    return (
        Dominates(
            "SC1 >= SC2 after the start",
            "1 + (k - 1)^2/(2 k - 1 - k L alpha) <= 4 k + 2, k = L/c; the noise is half of SC1's",
            first,
            second,
            small,
        ),
        Dominates(
            "CV1 >= CV2",
            "start and noise are a quarter of CV1's, the gap term an eighth for small steps",
            _of("convex_single_step"),
            _of("convex_sharp_step"),
            get("convex_single_step").assumptions,
        ),
        Dominates(
            "SC2's gap term <= (L/c)^2",
            "its largest value for alpha <= 2/(L + c), reached at the end",
            _split_at_iterate(1),
            second,
            (sp.Le(s.alpha, 2 / (s.L + s.c)), sp.Lt(s.c, s.L)),
        ),
    )


def _split_at_iterate(nodes: sp.Expr | int) -> sp.Expr:
    """Return the floor that Young's inequality gives for a step that is split at the iterate."""
    gap = (s.L / s.c) ** 2 * s.alpha**2 * s.B**2
    return gap + s.alpha * s.sigma**2 / (s.c * nodes)


def _minibatches() -> tuple[Relation, ...]:
    step = sp.sqrt(s.m * s.Delta / (s.L * s.T * s.sigma**2))
    of_batches = {s.sigma: s.sigma / sp.sqrt(s.m), s.R: s.tau + 1}
    ours = _of("bounded_staleness_nonconvex").subs(of_batches).subs(s.alpha, step)
    assumed = get("lian_nonconvex").assumptions
    return (
        Dominates(
            "lian_nonconvex >= D1",
            "4 sqrt(Delta L sigma^2/(m T)) is implied by D1 at R = tau + 1",
            _of("lian_nonconvex"),
            ours,
            assumed,
        ),
        Dominates(
            "lian_nonconvex is within D1",
            "T >= 4 m L Delta (tau + 1)^2/sigma^2 gives alpha <= 1/(2 L (tau + 1))",
            1 / (2 * s.L * (s.tau + 1)),
            step,
            assumed,
        ),
    )


def _counts_of_steps() -> tuple[Relation, ...]:
    ours, theirs = _of("ringmaster_steps"), _of("birch_steps")
    delayed = _of("bounded_staleness_nonconvex").subs({s.alpha: 1 / (2 * s.L * s.R), s.T: theirs})
    at_least_one = sp.Ge(s.R, 1, evaluate=False)
    return (
        Dominates(
            "2 birch_steps >= ringmaster_steps",
            "D1 certifies twice the count of Birch SGD",
            2 * theirs,
            ours,
            (at_least_one,),
        ),
        Dominates(
            "birch_steps suffice for 2 sigma^2/epsilon <= R",
            "D1 at alpha = 1/(2 R L) and that many steps is at most epsilon",
            s.epsilon,
            delayed,
            (at_least_one, sp.Le(s.sigma, sp.sqrt(s.epsilon * s.R / 2)), s.Delta > 0),
        ),
    )


def _start(shrink: sp.Expr) -> sp.Expr:
    return (1 - shrink) ** s.T * s.R0**2


def _equal_masses() -> tuple[tuple[str, dict[sp.Symbol, sp.Expr], sp.Expr, str], ...]:
    return (
        (
            "push_sum_gap",
            {s.w_mass: 1, s.m_rounds: 1},
            _of("gossip_gap"),
            "equal masses: gossip",
        ),
        (
            "push_sum_gap",
            {s.w_mass: 1, s.rho: 0, s.m_rounds: s.k},
            _of("one_peer_exponential_gap"),
            "equal masses, exact after k rounds",
        ),
    )


def _special_cases() -> tuple[Relation, ...]:
    sgd = 2 * s.Delta / (s.alpha * s.T) + s.L * s.alpha * s.sigma**2
    half = 2 / s.c * s.alpha * s.sigma**2
    linear = (1 - s.alpha * s.c / 2) ** s.T * s.R0**2 + half
    cases = (
        ("nonconvex_single_step", {s.B: 0}, sgd, "B = 0 is plain SGD"),
        ("error_feedback_nonconvex", {s.gamma: 0}, sgd, "an exact codec is plain SGD"),
        ("strongly_convex_single_step", {s.B: 0}, linear, "B = 0 is plain SGD"),
        (
            "nonconvex_parallel_step",
            {s.p: 1, s.w_min: 1},
            _of("nonconvex_single_step"),
            "one node",
        ),
        (
            "strongly_convex_parallel_step",
            {s.p: 1, s.w_min: 1},
            _of("strongly_convex_single_step"),
            "one node",
        ),
        (
            "error_feedback_parallel_nonconvex",
            {s.p: 1},
            _of("error_feedback_nonconvex"),
            "one node",
        ),
        ("fixed_delay_stability", {s.tau: 0}, 2 / s.lambda_, "the classic limit 2 / lambda"),
        (
            "server_error_feedback_gap",
            {s.n: 1},
            _of("error_feedback_gap"),
            "one worker: error feedback alone",
        ),
        ("delayed_gradient_descent", {s.tau: 0}, _classic_descent(), "the classic descent bound"),
    )
    return tuple(
        Equal(f"{name} at {_listed(at)}", statement, _of(name), expected, at)
        for name, at, expected, statement in (*cases, *_equal_masses(), *_without_gap())
    )


def _without_gap() -> tuple[tuple[str, dict, sp.Expr, str], ...]:
    return (
        ("server_started_gap", {s.n: 1}, sp.S.Zero, "one worker has no gap"),
        ("server_applied_gap", {s.tau_max: 0}, sp.S.Zero, "no staleness, no gap"),
        ("message_passing_gap", {s.tau: 0}, sp.S.Zero, "no delay, no gap"),
        ("message_passing_noise_gap", {s.tau: 0}, sp.S.Zero, "no delay, no gap"),
        ("nesterov_gap", {s.mu: 0}, sp.S.Zero, "no momentum, no gap"),
        ("heavy_ball_gap", {s.mu: 0}, sp.S.Zero, "no momentum, no gap"),
        ("error_feedback_gap", {s.gamma: 0}, sp.S.Zero, "an exact codec has no gap"),
        ("topk_gap", {s.K: s.d}, sp.S.Zero, "keeping all coordinates has no gap"),
        ("local_sgd_gap", {s.H: 1}, sp.S.Zero, "averaging after each step has no gap"),
        ("local_sgd_noise_gap", {s.H: 1}, sp.S.Zero, "averaging after each step has no gap"),
        ("gossip_gap", {s.rho: 0}, sp.S.Zero, "exact averaging has no gap"),
        ("one_peer_exponential_gap", {s.k: 1}, sp.S.Zero, "two nodes average exactly"),
        ("crash_gap", {s.f: 0}, sp.S.Zero, "no crash, no gap"),
        ("elastic_norm_gap", {s.beta: 1}, sp.S.Zero, "waiting for all layers has no gap"),
    )


def _classic_descent() -> sp.Expr:
    return s.Delta / (s.alpha * s.T * (1 - s.alpha * s.L / 2))


def _listed(at: dict) -> str:
    return ", ".join(f"{symbol} = {value}" for symbol, value in at.items())


def _switches() -> tuple[Relation, ...]:
    late = (s.p - 1) * s.tau
    second_moment = sp.sqrt(s.G**2 + s.sigma**2)
    whole = _of("message_passing_gap").subs(s.M, second_moment)
    apart = _of("message_passing_noise_gap")
    margin = late * s.sigma * ((late - 1) * s.sigma - 2 * sp.sqrt(late) * s.G) / s.p**2
    needed = (s.M * s.C / s.c) ** 2
    return (
        Equal(
            "which branch of message passing wins",
            "the squares differ by N sigma ((N-1) sigma - 2 sqrt(N) G) / p^2, N = (p-1) tau",
            sp.expand(whole**2 - apart**2),
            margin,
        ),
        Dominates(
            "TopK's convex corollary is vacuous for C >= 1",
            "epsilon_x > (M C / c)^2 and M >= c R0 put the start within the target",
            needed,
            s.R0**2,
            (
                sp.Ge(s.M, s.c * s.R0, evaluate=False),
                sp.Ge(s.C, 1, evaluate=False),
            ),
        ),
    )
