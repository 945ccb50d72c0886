"""The page of advice: the answer first, then what it rests on."""

from dataclasses import dataclass
from typing import final

from elastic_consistency.report.layout import html_page
from elastic_consistency.report.markup import Markup, table, text
from elastic_consistency.report.sections import glossary_section
from elastic_consistency.report.wording import interval, number, percentage
from elastic_consistency.studies.advice.ranking import Advice
from elastic_consistency.studies.study import Study

Rows = list[tuple[str, ...]]
CAUSES = ("if", "run [s]", "gain", "B / M")


@final
@dataclass(frozen=True, slots=True, eq=False)
class AdviceTables:
    """The tables of a piece of advice, each cell as text.

    Attributes:
        advice: The advice.
        study: What it was asked about.
    """

    advice: Advice
    study: Study

    def ranking(self) -> Rows:
        """Contender, time to target, saving, step size and staleness, the fastest first."""
        saved = {saving.contender: saving.share for saving in self.advice.savings}
        return [
            (
                result.name,
                interval(result.time_s)
                if result.time_s
                else f"{result.reached}/{result.runs} runs",
                percentage(share) if (share := saved.get(result.name)) else "-",
                number(result.step_size),
                f"{result.staleness.p99:g}",
            )
            for result in self.advice.results
        ]

    def algorithms(self) -> Rows:
        """What each contender is."""
        return [(result.name, result.algorithm) for result in self.advice.results]

    def causes(self) -> Rows:
        """What would happen if one thing were better."""
        return [
            (
                cause.cause,
                interval(cause.seconds),
                percentage(cause.gain) if cause.gain else "-",
                "-" if cause.gap is None else number(cause.gap),
            )
            for cause in self.advice.causes
        ]

    def causes_title(self) -> str:
        """Whose seconds and whose B the causes are told of."""
        return f"What slows the baseline down, and B / M of {self.study.contenders[0].name}"

    def throughput(self) -> str:
        """Gradients a second, asynchronous over baseline."""
        return interval(self.advice.throughput_gain)

    def steps(self) -> Rows:
        """Theorem, binding assumption, largest step size, and up to where it says something."""
        word = "conditional on estimates" if self.advice.estimated else "certified"
        return [
            (
                step.bound.replace("_", " "),
                f"{word}: {step.condition}",
                number(step.step_size),
                number(step.useful),
            )
            for step in self.advice.steps
        ]

    def settings(self) -> Rows:
        """Constants to paste."""
        return [(s.name, number(s.value), s.reason) for s in self.advice.settings]


def advice_page(advice: Advice, study: Study) -> str:
    """A self-contained HTML page."""
    tables = AdviceTables(advice, study)
    ranking = ("contender", "time to target [s]", "saving", "step size", "p99 staleness [steps]")
    steps = ("theorem", "binding assumption", "largest step size", "says something up to")
    sections = (
        (
            "ranking",
            "Which way is fastest",
            _both(
                table("Fastest first", ranking, tables.ranking()),
                table("Algorithms", ("contender", "protocol x rule x codec"), tables.algorithms()),
            ),
        ),
        (
            "causes",
            "What slows you down",
            _both(
                table(tables.causes_title(), CAUSES, tables.causes()),
                Markup(f"<p>Breaks first: {text(advice.weakest)}.</p>"),
                Markup(
                    "<p>Gradients a second, asynchronous over baseline: "
                    f"{text(tables.throughput())}</p>"
                ),
            ),
        ),
        ("steps", "Step sizes of the theorems", table("Largest", steps, tables.steps())),
        (
            "settings",
            "Constants to paste",
            table("Constants", ("constant", "value", "why"), tables.settings()),
        ),
        ("words", "What the words mean", glossary_section()),
    )
    return html_page(f"Advice on {study.name}", _introduction(advice), sections)


def _introduction(advice: Advice) -> str:
    told = [sentence for sentence in (advice.limits, advice.assumed) if sentence]
    if advice.ties:
        told.append(f"Not to be told from {advice.best}: {', '.join(advice.ties)}.")
    told += advice.diverged
    more = "".join(f'<p class="soft">{text(sentence)}</p>' for sentence in told)
    return f'<p class="answer">{text(advice.answer)}</p>{more}'


def _both(*parts: Markup) -> Markup:
    return Markup("".join(part.html for part in parts))
