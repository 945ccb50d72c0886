"""The elastic scheduler and compressing hooks: components for training with torch."""

from elastic_consistency.hardware_backend.elastic.hooks import CodecHook as CodecHook
from elastic_consistency.hardware_backend.elastic.latency import Latency as Latency
from elastic_consistency.hardware_backend.elastic.policies import AbstractPolicy as AbstractPolicy
from elastic_consistency.hardware_backend.elastic.policies import Barrier as Barrier
from elastic_consistency.hardware_backend.elastic.policies import CrossBarrier as CrossBarrier
from elastic_consistency.hardware_backend.elastic.policies import NormBounded as NormBounded
from elastic_consistency.hardware_backend.elastic.policies import (
    VarianceBounded as VarianceBounded,
)
from elastic_consistency.hardware_backend.elastic.scheduler import Decision as Decision
from elastic_consistency.hardware_backend.elastic.scheduler import (
    ElasticScheduler as ElasticScheduler,
)
