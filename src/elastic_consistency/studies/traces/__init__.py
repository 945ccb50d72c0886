"""Measured traces in: step times and round-trip times of real systems, and laws that fit them."""

from elastic_consistency.studies.traces.reading import read_trace as read_trace
from elastic_consistency.studies.traces.records import StepTimes as StepTimes
from elastic_consistency.studies.traces.records import TraceError as TraceError
