"""Execution: the interpreter of a schedule, and the probes that measure while it runs."""

from elastic_consistency.execution.divergence import DivergenceError as DivergenceError
from elastic_consistency.execution.engine import Engine as Engine
from elastic_consistency.execution.executor import Executor as Executor
from elastic_consistency.execution.measurement import Execution as Execution
from elastic_consistency.execution.measurement import Measurement as Measurement
from elastic_consistency.execution.measurement import execute as execute
from elastic_consistency.execution.programs.memory_plan import MemoryPlan as MemoryPlan
from elastic_consistency.execution.quantities import Quantity as Quantity
from elastic_consistency.execution.quantities import Sequence as Sequence
from elastic_consistency.execution.trace import Trace as Trace
