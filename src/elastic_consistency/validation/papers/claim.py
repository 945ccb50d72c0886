"""A claim of a paper: what it says, where, how far that was checked, and our experiment."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import final

from elastic_consistency.validation.papers.finding import Finding


class Status(Enum):
    """How far the paper's value was checked against the paper."""

    READ = "read in the paper or its program"
    RESTATED = "read in a later text that restates it"
    SUMMARY = "read in a summary; the paper's text not checked"
    RECALLED = "as commonly stated; text not checked"
    DERIVED = "derived here"


class Paper(Enum):
    """The works that are rebuilt; the value is how they are cited."""

    ELASTIC = "Nadiradze et al. (2021), Elastic Consistency, arXiv:2001.05918"
    SPARSIFIED = "Alistarh et al. (2018), Sparsified Gradient Methods, arXiv:1809.10505"
    ENERGY = "Hermans, Louppe (2018), Gradient Energy Matching, arXiv:1805.08469"
    SURVEY = "Assran et al. (2020), Asynchronous Optimization, Proc. IEEE, arXiv:2006.13838"
    KOLOSKOVA = "Koloskova et al. (2022), Sharper Rates for Asynchronous SGD, arXiv:2206.08307"
    MISHCHENKO = "Mishchenko et al. (2022), Asynchronous SGD, arXiv:2206.07638"
    RENNALA = "Tyurin, Richtarik (2023), Optimal Time Complexities, arXiv:2305.12387"
    RINGMASTER = "Maranjyan et al. (2025), Ringmaster ASGD, arXiv:2501.16168"


@final
@dataclass(frozen=True, slots=True)
class PaperValue:
    """What a paper states, as data.

    Attributes:
        text: The value in words, as it is shown.
        place: Section, figure, equation or other source of the value.
        status: How far that was checked.
        numbers: The numbers that an experiment compares with, by name.
    """

    text: str
    place: str
    status: Status
    numbers: tuple[tuple[str, float], ...] = ()

    def __getitem__(self, name: str) -> float:
        """The number of that name."""
        return dict(self.numbers)[name]


@final
@dataclass(frozen=True, slots=True)
class Effort:
    """How much is computed.

    Attributes:
        full: Whether at the paper's own scale, as far as a CPU can; else scaled down.
    """

    full: bool = False

    def pick(self, scaled_down: int, whole: int) -> int:
        """The number that fits the effort."""
        return whole if self.full else scaled_down


@final
@dataclass(frozen=True, slots=True)
class PaperClaim:
    """One row of the table.

    Attributes:
        name: Short name, for the command line and for files.
        paper: Where the claim was made.
        statement: What is claimed, in one sentence.
        value: The paper's value.
        experiment: Rebuilds it; takes the effort and the paper's value.
        whole: Whether it always runs whole, so that the effort changes nothing.
        seconds: About how long that takes scaled down, on one core, for the progress bar.
    """

    name: str
    paper: Paper
    statement: str
    value: PaperValue
    experiment: Callable[[Effort, PaperValue], Finding]
    whole: bool = False
    seconds: float = 1.0
