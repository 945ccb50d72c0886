"""The interface of an update rule: what a gradient becomes, and what a step does with it."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

Array = Any
State = Any


class AbstractRule(ABC):
    """Arithmetic of a method, without any idea of who meets whom, or when.

    A rule is a frozen dataclass of its hyperparameters. States go in and come out; a rule
    keeps none. Arrays are (R, d) or one block (R, d_block) of them, R replicates.

    Attributes:
        needs_view: encode() reads `view` or `latest`, so the executor must keep them alive.
        additive: step(step(x, a), b) == step(x, a + b), so that updates may be applied in
            any grouping.
        constant_step: Every gradient enters the auxiliary sequence with the same weight, as
            the theorems for a constant step size demand; and that gradient is unbiased.
    """

    needs_view: ClassVar[bool] = False
    additive: ClassVar[bool] = False
    constant_step: ClassVar[bool] = True

    @property
    @abstractmethod
    def auxiliary_step_size(self) -> float:
        """Step size at which one gradient enters the auxiliary sequence; alpha."""

    @abstractmethod
    def step(self, x: Array, buffer: Array, state: State) -> tuple[Array, State]:
        """New model and replica state; neither `x` nor `buffer` is written to."""

    def replica_state(self, x: Array) -> State:
        """State of a replica (or of one block of it) before its first step."""
        return None

    def worker_state(self, x: Array) -> State:
        """State of a worker (or of one block of it) before its first job."""
        return None

    def encode(
        self, state: State, gradient: Array, view: Array, latest: Array
    ) -> tuple[Array, State]:
        """What a worker sends for `gradient`, and its new state.

        Args:
            state: The worker's state.
            gradient: (R, d_block) gradient at `view`.
            view: (R, d_block) model at which the gradient was taken.
            latest: (R, d_block) model that the worker read last.
        """
        return gradient, state

    def scale(self, staleness: int) -> float:
        """Factor on an update that is `staleness` steps old when it is added."""
        return 1.0

    def step_factor(self, step: int) -> float:
        """Factor on the step size at step 0, 1, 2, ... of a replica."""
        return 1.0
