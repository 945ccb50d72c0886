"""Hardware backend: the same schedule on real processes and devices.

Run so far: gloo, on CPU, on one machine, with up to four ranks. Written for CUDA, NCCL and several
machines but never run there: the device check (`device_check`) is the script to do so.

`live` (recorded real runs), `elastic` (components for training), `torchrun` and `device_check`
import torch when they are imported; this package does not.
"""

from elastic_consistency.hardware_backend.lowering.lower import lower as lower
from elastic_consistency.hardware_backend.lowering.placement import Placement as Placement
from elastic_consistency.hardware_backend.processes.failures import (
    ContactLostError as ContactLostError,
)
from elastic_consistency.hardware_backend.processes.failures import MismatchError as MismatchError
from elastic_consistency.hardware_backend.processes.failures import RanksError as RanksError
from elastic_consistency.hardware_backend.processes.ranks import run_ranks as run_ranks
from elastic_consistency.hardware_backend.replay import Replay as Replay
from elastic_consistency.hardware_backend.replay import parity as parity
from elastic_consistency.hardware_backend.replay import replay as replay
from elastic_consistency.hardware_backend.rounding import rounding_bound as rounding_bound
