"""A run that left the finite numbers."""

from typing import final


@final
class DivergenceError(ArithmeticError):
    """A model is no longer finite.

    Attributes:
        job: The job added last, -1 if it came in a message.
        replica: The replica.
        step: Number of STEP rows executed by then, over all replicas.
    """

    def __init__(self, job: int, replica: int, step: int) -> None:
        super().__init__(
            f"Replica {replica} is not finite after step {step} (last update: job {job}). "
            "The step size is too large for this staleness."
        )
        self.job, self.replica, self.step = job, replica, step
