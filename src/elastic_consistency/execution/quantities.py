"""What can be measured and bounded, and against which auxiliary sequence."""

from enum import Enum


class Quantity(Enum):
    """A measured or bounded figure; the value is its name in reports and files."""

    GAP = "gap"  # the elastic constant B: sup over steps of ||x - v|| / step size
    MEAN_SQUARED_GRADIENT = "mean_squared_gradient"
    SQUARED_DISTANCE = "squared_distance"
    LOSS = "loss"
    SUBOPTIMALITY = "suboptimality"
    STALENESS = "staleness"
    CONTRACTION = "contraction"
    MASS_ERROR = "mass_error"
    ENERGY = "energy"
    FRACTION = "fraction"
    STEP_SIZE = "step_size"
    PROBABILITY = "probability"
    STEPS = "steps"
    TIME = "time"


class Sequence(Enum):
    """The auxiliary sequence x that a view v is compared with.

    STARTED orders jobs by their first READ. APPLIED is the server's model at the STEP.
    AGGREGATE is the round's aggregate of message passing and all-reduce. ERROR_CORRECTED adds
    back what error feedback still holds. MEAN is the mass-weighted mean of replicas, mass in
    flight included. MOMENTUM is heavy ball's shifted sequence.
    """

    STARTED = "started"
    APPLIED = "applied"
    AGGREGATE = "aggregate"
    ERROR_CORRECTED = "error_corrected"
    MEAN = "mean"
    MOMENTUM = "momentum"
    NONE = "none"
