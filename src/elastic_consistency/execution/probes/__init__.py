"""Probes: what can be measured while a schedule is executed."""

from elastic_consistency.execution.probes.aggregate import AggregateSequence as AggregateSequence
from elastic_consistency.execution.probes.applied import AppliedSequence as AppliedSequence
from elastic_consistency.execution.probes.base import AbstractObserver as AbstractObserver
from elastic_consistency.execution.probes.base import AbstractProbe as AbstractProbe
from elastic_consistency.execution.probes.base import Context as Context
from elastic_consistency.execution.probes.base import Event as Event
from elastic_consistency.execution.probes.energies import Energies as Energies
from elastic_consistency.execution.probes.loss import Loss as Loss
from elastic_consistency.execution.probes.started import StartedSequence as StartedSequence
