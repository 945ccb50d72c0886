"""Update rules: what a gradient becomes, and what a step does with it."""

from elastic_consistency.optimization.update_rules.adag import ADAG as ADAG
from elastic_consistency.optimization.update_rules.adamw import AdamW as AdamW
from elastic_consistency.optimization.update_rules.agn import AGN as AGN
from elastic_consistency.optimization.update_rules.base import AbstractRule as AbstractRule
from elastic_consistency.optimization.update_rules.clipping import AbstractClip as AbstractClip
from elastic_consistency.optimization.update_rules.clipping import Clipped as Clipped
from elastic_consistency.optimization.update_rules.clipping import NormClip as NormClip
from elastic_consistency.optimization.update_rules.clipping import ValueClip as ValueClip
from elastic_consistency.optimization.update_rules.delay_adaptive import (
    DelayAdaptive as DelayAdaptive,
)
from elastic_consistency.optimization.update_rules.downpour import Downpour as Downpour
from elastic_consistency.optimization.update_rules.dyn_sgd import DynSGD as DynSGD
from elastic_consistency.optimization.update_rules.easgd import EASGD as EASGD
from elastic_consistency.optimization.update_rules.gem import GEM as GEM
from elastic_consistency.optimization.update_rules.gem_printed import PrintedGEM as PrintedGEM
from elastic_consistency.optimization.update_rules.gem_signed import SignedGEM as SignedGEM
from elastic_consistency.optimization.update_rules.heavy_ball import HeavyBall as HeavyBall
from elastic_consistency.optimization.update_rules.nesterov import Nesterov as Nesterov
from elastic_consistency.optimization.update_rules.scheduled import Scheduled as Scheduled
from elastic_consistency.optimization.update_rules.sgd import SGD as SGD
from elastic_consistency.optimization.update_rules.staleness_aware_sgd import (
    StalenessAwareSGD as StalenessAwareSGD,
)
from elastic_consistency.optimization.update_rules.step_size_schedules import (
    AbstractStepSizeSchedule as AbstractStepSizeSchedule,
)
from elastic_consistency.optimization.update_rules.step_size_schedules import Cosine as Cosine
from elastic_consistency.optimization.update_rules.step_size_schedules import (
    StepDecay as StepDecay,
)
from elastic_consistency.optimization.update_rules.step_size_schedules import WarmUp as WarmUp
from elastic_consistency.optimization.update_rules.worker_momentum import (
    WorkerMomentum as WorkerMomentum,
)
