"""Estimates, verdicts with error rates, property tests of theorems, worst cases by search.

`strategies` needs Hypothesis and is imported by name only: `elastic_consistency.validation
.strategies`.
"""

from elastic_consistency.validation.estimate import Estimate as Estimate
from elastic_consistency.validation.estimate import Method as Method
from elastic_consistency.validation.estimate import exact as exact
from elastic_consistency.validation.gaps import gap_of as gap_of
from elastic_consistency.validation.intervals import bootstrap as bootstrap
from elastic_consistency.validation.intervals import confidence_sequence as confidence_sequence
from elastic_consistency.validation.intervals import empirical_bernstein as empirical_bernstein
from elastic_consistency.validation.intervals import largest as largest
from elastic_consistency.validation.intervals import proportion_limits as proportion_limits
from elastic_consistency.validation.intervals import student_t as student_t
from elastic_consistency.validation.intervals import supremum_of_means as supremum_of_means
from elastic_consistency.validation.judge import Claim as Claim
from elastic_consistency.validation.judge import judge as judge
from elastic_consistency.validation.judge import judge_all as judge_all
from elastic_consistency.validation.measured_gap import measured_gap as measured_gap
from elastic_consistency.validation.paired import mean_over_timing as mean_over_timing
from elastic_consistency.validation.paired import paired_difference as paired_difference
from elastic_consistency.validation.paired import ratio_of_means as ratio_of_means
from elastic_consistency.validation.paired import saving as saving
from elastic_consistency.validation.terms import Effect as Effect
from elastic_consistency.validation.terms import Term as Term
from elastic_consistency.validation.verdict import Outcome as Outcome
from elastic_consistency.validation.verdict import Verdict as Verdict
