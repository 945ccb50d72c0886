"""Delay laws: how long a computation, a transfer or a phase takes, in seconds."""

from elastic_consistency.simulator.delays.base import AbstractDelayLaw as AbstractDelayLaw
from elastic_consistency.simulator.delays.constant import Constant as Constant
from elastic_consistency.simulator.delays.empirical import Empirical as Empirical
from elastic_consistency.simulator.delays.exponential import Exponential as Exponential
from elastic_consistency.simulator.delays.gamma import Gamma as Gamma
from elastic_consistency.simulator.delays.log_normal import LogNormal as LogNormal
from elastic_consistency.simulator.delays.pareto import Pareto as Pareto
from elastic_consistency.simulator.delays.preemption import Preemption as Preemption
from elastic_consistency.simulator.delays.shifted_exponential import (
    ShiftedExponential as ShiftedExponential,
)
from elastic_consistency.simulator.delays.transient_straggler import (
    TransientStraggler as TransientStraggler,
)
