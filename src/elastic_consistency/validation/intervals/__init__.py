"""Intervals of means and of suprema of means, one method a file."""

from elastic_consistency.validation.intervals.bootstrap import bootstrap as bootstrap
from elastic_consistency.validation.intervals.confidence_sequence import (
    confidence_sequence as confidence_sequence,
)
from elastic_consistency.validation.intervals.confidence_sequence import (
    confidence_sequence_limits as confidence_sequence_limits,
)
from elastic_consistency.validation.intervals.empirical_bernstein import (
    empirical_bernstein as empirical_bernstein,
)
from elastic_consistency.validation.intervals.empirical_bernstein import (
    empirical_bernstein_limits as empirical_bernstein_limits,
)
from elastic_consistency.validation.intervals.empirical_bernstein import (
    empirical_bernstein_radius as empirical_bernstein_radius,
)
from elastic_consistency.validation.intervals.proportion import (
    proportion_limits as proportion_limits,
)
from elastic_consistency.validation.intervals.student_t import student_t as student_t
from elastic_consistency.validation.intervals.student_t import (
    student_t_quantile as student_t_quantile,
)
from elastic_consistency.validation.intervals.supremum import largest as largest
from elastic_consistency.validation.intervals.supremum import (
    supremum_of_means as supremum_of_means,
)
