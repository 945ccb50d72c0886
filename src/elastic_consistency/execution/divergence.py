"""A run that left the finite numbers."""

from typing import final


@final
class DivergenceError(ArithmeticError):
    """A model is no longer finite.

    Attributes:
        job: The job added last, -1 if it came in a message.
        worker: Who computed that job, -1 if it came in a message.
        replica: The replica.
        step: Number of STEP rows executed by then, over all replicas.
    """

    def __init__(self, job: int, worker: int, replica: int, step: int) -> None:
        last = f"job {job} of worker {worker}" if job >= 0 else "a message"
        super().__init__(
            f"Replica {replica} is not finite after step {step} (last update: {last}). "
            "The step size is too large for this staleness."
        )
        self.job, self.worker, self.replica, self.step = job, worker, replica, step
