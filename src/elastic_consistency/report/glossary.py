"""What each figure means, in one sentence, with its unit and its formula."""

from dataclasses import dataclass
from difflib import get_close_matches
from typing import final


@final
@dataclass(frozen=True, slots=True)
class Entry:
    """One figure.

    Attributes:
        name: Its name in commands, files and reports.
        sentence: What it means.
        unit: Its unit; "1" for a pure number.
        formula: How it is computed.
    """

    name: str
    sentence: str
    unit: str
    formula: str


_ENTRIES = (
    Entry(
        "staleness",
        "How many steps the server took between the moment at which a worker read the model and "
        "the moment at which the gradient computed from it was applied.",
        "steps",
        "version at the use - version at the job's first read",
    ),
    Entry(
        "time_to_target",
        "Simulated seconds until the loss of the server's model, measured every few updates, "
        "first is at most the target.",
        "s",
        "min { t : f(x(t)) <= target }",
    ),
    Entry(
        "saving",
        "The share of the synchronous time to target that the asynchronous run does not need, "
        "with the same delays and the same samples; negative when it takes longer.",
        "1",
        "1 - E[time asynchronous] / E[time synchronous]",
    ),
    Entry(
        "gap",
        "How far a worker's view of the model was from the auxiliary sequence, divided by the "
        "step size; its largest root mean square over time is the elastic constant B.",
        "loss / length",
        "||x_t - v_t|| / alpha",
    ),
    Entry(
        "B",
        "The elastic constant: the smallest number with E||x_t - v_t||^2 <= alpha^2 B^2 for every "
        "view v_t; it belongs to one auxiliary sequence x.",
        "loss / length",
        "sup_t sqrt(E||x_t - v_t||^2) / alpha",
    ),
    Entry(
        "started_sequence",
        "The model that would result if every gradient were applied, in full, in the order in "
        "which the workers read; on a server with n workers B is at most (n - 1) M for it.",
        "length",
        "x_k = x_0 - alpha sum_{j < k} G_j, jobs in the order of their reads",
    ),
    Entry(
        "applied_sequence",
        "The server's own model just before an update is applied; B is at most tau_max M for it.",
        "length",
        "x_t = model of the server before step t",
    ),
    Entry(
        "in_flight",
        "How many other jobs had read the model and were not yet applied when a worker read; the "
        "largest is c_jobs, and it is n - 1 when no worker reads ahead.",
        "jobs",
        "#{ other jobs read before and applied after }",
    ),
    Entry(
        "M",
        "Square root of the largest second moment of a stochastic gradient on the ball in which "
        "the run stayed.",
        "loss / length",
        "sup_x sqrt(E||G(x)||^2)",
    ),
    Entry(
        "sigma",
        "Square root of the largest variance of a stochastic gradient on that ball.",
        "loss / length",
        "sup_x sqrt(E||G(x) - grad f(x)||^2)",
    ),
    Entry(
        "L",
        "Smoothness: the gradient changes at most L times as much as the model.",
        "loss / length^2",
        "||grad f(x) - grad f(y)|| <= L ||x - y||",
    ),
    Entry(
        "c",
        "Strong convexity: how strongly the loss curves upwards everywhere; here the ridge term.",
        "loss / length^2",
        "f(y) >= f(x) + grad f(x)'(y - x) + c/2 ||y - x||^2",
    ),
    Entry(
        "step_size",
        "What a gradient is multiplied with before it is subtracted from the model; alpha.",
        "length^2 / loss",
        "x <- x - alpha G",
    ),
    Entry(
        "certified_step_size",
        "The largest step size that satisfies the assumptions of a theorem whose proof has been "
        "checked; larger ones may work too, but the theorem does not say so.",
        "length^2 / loss",
        "1 / (2 L) with strong convexity, 1 / L without",
    ),
    Entry(
        "verdict",
        "consistent: the whole interval is on the allowed side of the bound; violated: all of it "
        "is beyond; inconclusive: it reaches to both sides; conditional: true if estimated "
        "constants are; not applicable: an assumption fails.",
        "1",
        "interval compared with bound at a stated error rate",
    ),
    Entry(
        "error_rate",
        "Probability with which the whole report calls some true bound violated.",
        "1",
        "sum over verdicts of 1 - confidence",
    ),
    Entry(
        "tightness",
        "The measured figure divided by its bound: 1 where the bound is attained, 0.01 where it "
        "is a hundred times too large to be of use.",
        "1",
        "measured / bound",
    ),
    Entry(
        "replay_parity",
        "Largest difference between the models of the simulated run and those of the same "
        "schedule on real processes, relative to the simulated model.",
        "1",
        "max over replicas of ||x_replay - x_simulated|| / ||x_simulated||",
    ),
    Entry(
        "utilisation",
        "Share of the run in which a worker computes, rather than waits or transfers.",
        "1",
        "seconds computing / seconds of the run",
    ),
    Entry(
        "wait",
        "Seconds from the end of a computation to the use of its update: transfer, and in "
        "synchronous protocols the wait for the slowest worker.",
        "s",
        "time of the last use - time of the last encode",
    ),
)


def entries() -> tuple[Entry, ...]:
    """Every explained figure."""
    return _ENTRIES


def entry(name: str) -> Entry:
    """The figure called `name`, in any spelling of case, blanks and hyphens.

    Raises:
        KeyError: If there is none; the message says what is near.
    """
    by_key = {_key(e.name): e for e in _ENTRIES}
    if _key(name) in by_key:
        return by_key[_key(name)]
    near = get_close_matches(_key(name), by_key, n=1)
    hint = f"; did you mean {by_key[near[0]].name!r}?" if near else ""
    names = ", ".join(e.name for e in _ENTRIES)
    raise KeyError(f"METRIC must be one of {names}, got {name!r}{hint}")


def _key(name: str) -> str:
    return name.strip().lower().replace("-", "_").replace(" ", "_")
