"""Worst cases: searches, and the table of how tight every constant B is."""

from elastic_consistency.validation.worst_case.coordinate_ascent import (
    coordinate_ascent as coordinate_ascent,
)
from elastic_consistency.validation.worst_case.delay_evolution import (
    evolve_delays as evolve_delays,
)
from elastic_consistency.validation.worst_case.residuals import climb_residual as climb_residual
from elastic_consistency.validation.worst_case.tightness import Tightness as Tightness
from elastic_consistency.validation.worst_case.tightness import format_table as format_table
from elastic_consistency.validation.worst_case.tightness import tightness_table as tightness_table
