"""Schedules that come nearest to the constants B, built row by row; one system a file."""

from elastic_consistency.validation.adversaries.late_layers import late_layer as late_layer
from elastic_consistency.validation.adversaries.late_layers import torn_updates as torn_updates
from elastic_consistency.validation.adversaries.late_messages import late_messages as late_messages
from elastic_consistency.validation.adversaries.missing_updates import (
    crashed_broadcasts as crashed_broadcasts,
)
from elastic_consistency.validation.adversaries.missing_updates import stand_ins as stand_ins
from elastic_consistency.validation.adversaries.mixing import local_steps as local_steps
from elastic_consistency.validation.adversaries.mixing import mixing_rounds as mixing_rounds
from elastic_consistency.validation.adversaries.mixing import (
    one_peer_exponential as one_peer_exponential,
)
from elastic_consistency.validation.adversaries.mixing import ring_peers as ring_peers
from elastic_consistency.validation.adversaries.server_order import (
    server_schedule as server_schedule,
)
from elastic_consistency.validation.adversaries.server_order import (
    straggler_order as straggler_order,
)
