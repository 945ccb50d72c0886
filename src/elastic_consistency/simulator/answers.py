"""Who knows the values: the other side of a protocol that asks about gradients."""

from abc import ABC, abstractmethod

from elastic_consistency.schedule import Rows


class AbstractAnswers(ABC):
    """Executes a schedule while it is made, and answers questions about its values."""

    __slots__ = ()

    @abstractmethod
    def follow(self, rows: Rows) -> None:
        """Execute the rows that have been recorded since the last call."""

    @abstractmethod
    def answer(self, question: str, operands: tuple[int, ...]) -> float:
        """The answer to `question`, after all rows so far.

        Args:
            question: Its name, as the protocol documents it.
            operands: Numbers of the jobs or layers that it is about.
        """
