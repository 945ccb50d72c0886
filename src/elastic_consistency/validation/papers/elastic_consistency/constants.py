"""The table of constants B: every system, against the stated and the sharp constant."""

from functools import partial

from elastic_consistency.bounds import list_bounds
from elastic_consistency.validation.papers.claim import (
    Effort,
    Paper,
    PaperClaim,
    PaperValue,
    Status,
)
from elastic_consistency.validation.papers.finding import (
    Finding,
    at_most,
    computed,
    reproduced,
)
from elastic_consistency.validation.worst_case.cases import CASES
from elastic_consistency.validation.worst_case.tightness import Case, measure

# System, its name in words, the constant as stated, the sharp constant, what was stated, where.
_SEED = "summary, main results"
_TABLE = "table of constants"
_SYSTEMS = (
    (
        "shared-memory",
        "torn reads and writes within a window of tau_max",
        "published_shared_memory_gap",
        "shared_memory_gap",
        "B = sqrt(d) tau_max M",
        Status.SUMMARY,
        _SEED,
    ),
    (
        "server",
        "an asynchronous server with delays up to tau_max, in the order of application",
        "server_applied_gap",
        "server_applied_gap",
        "B = tau_max M",
        Status.RECALLED,
        _TABLE,
    ),
    (
        "message-passing",
        "message passing with messages up to tau_max rounds late",
        "message_passing_gap",
        "message_passing_gap",
        "B = (p - 1) tau_max M / p",
        Status.RECALLED,
        _TABLE,
    ),
    (
        "crash",
        "f of p nodes that crash while they send",
        "crash_gap",
        "crash_gap",
        "B = f M / p",
        Status.RECALLED,
        _TABLE,
    ),
    (
        "missing-messages",
        "at most f messages missing at any time",
        "message_drop_gap",
        "message_drop_gap",
        "B = f M / p",
        Status.RECALLED,
        _TABLE,
    ),
    (
        "crash-substitution",
        "f crashes, one's own gradient standing in",
        "published_crash_substitution_gap",
        "crash_substitution_gap",
        "B = 3 f sigma / p",
        Status.RECALLED,
        _TABLE,
    ),
    (
        "elastic-variance",
        "the variance-bounded elastic scheduler",
        "published_elastic_variance_gap",
        "elastic_variance_gap",
        "B = 3 sigma",
        Status.RECALLED,
        _TABLE,
    ),
    (
        "elastic-norm",
        "the norm-bounded elastic scheduler",
        "elastic_norm_any_gap",
        "elastic_norm_any_gap",
        "B = O(M), here with the constant M (p - 1) / p",
        Status.RECALLED,
        _TABLE,
    ),
    (
        "elastic-norm-beta",
        "the norm-bounded scheduler whose test holds for every sender",
        "elastic_norm_gap",
        "elastic_norm_gap",
        "B = sqrt(1 - beta^2) M (p - 1) / p",
        Status.DERIVED,
        _TABLE,
    ),
    (
        "error-feedback",
        "error feedback with a gamma-contraction",
        "published_error_feedback_gap",
        "error_feedback_gap",
        "B = sqrt((2 - gamma) gamma / (1 - gamma)^3) M",
        Status.RECALLED,
        _TABLE,
    ),
    (
        "top-k",
        "TopK with error feedback",
        "published_topk_gap",
        "topk_gap",
        "B = sqrt(d / K (d^2 / K^2 - 1)) M",
        Status.SUMMARY,
        _SEED,
    ),
    (
        "one-bit",
        "one bit a coordinate with error feedback",
        "published_one_bit_gap",
        "one_bit_gap",
        "B = sqrt(d (d^2 - 1)) M",
        Status.SUMMARY,
        _SEED,
    ),
)


def _case(bound: str) -> Case:
    return next(case for case in CASES if case.bound == bound)


def measure_constant(stated: str, sharp: str, _effort: Effort, _value: PaperValue) -> Finding:
    """The worst gap that is known for a system, the stated constant and the sharp one."""
    bounds = {bound.name: bound for bound in list_bounds()}
    line = measure(_case(stated), bounds[stated])
    values = _case(stated).values | _case(sharp).values
    limit = bounds[sharp].evaluate(values)
    slack = line.limit / limit
    return reproduced(
        (
            computed("worst B found", line.worst),
            computed("stated B", line.limit),
            computed("sharp B, derived here", limit),
        ),
        (
            at_most("no schedule and gradients exceed the stated constant", line.worst, line.limit),
            at_most("nor the sharp one", line.worst, limit),
        ),
        scale=f"{line.system}; {line.evidence.value}",
        why=_remark(slack, line.worst / limit),
    )


def _remark(slack: float, attained: float) -> str:
    attains = "which is attained" if attained > 1 - 1e-6 else f"of which {attained:.3f} is reached"
    if slack > 1 + 1e-9:
        return f"right, but {slack:.3g} times the sharp constant, {attains}"
    return f"right, and the best known, {attains}"


CLAIMS = tuple(
    PaperClaim(
        f"constant-{name}",
        Paper.ELASTIC,
        f"For {system} the views stay within alpha B of the auxiliary sequence: {text}.",
        PaperValue(text, place, status),
        partial(measure_constant, stated, sharp),
        whole=True,
        seconds=2.0,
    )
    for name, system, stated, sharp, text, status, place in _SYSTEMS
)
