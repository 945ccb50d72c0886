"""Codecs: what a vector becomes on the wire."""

from elastic_consistency.optimization.compression.base import AbstractCodec as AbstractCodec
from elastic_consistency.optimization.compression.error_feedback import (
    ErrorFeedback as ErrorFeedback,
)
from elastic_consistency.optimization.compression.identity import Identity as Identity
from elastic_consistency.optimization.compression.metered import Contraction as Contraction
from elastic_consistency.optimization.compression.metered import Metered as Metered
from elastic_consistency.optimization.compression.qsgd import QSGD as QSGD
from elastic_consistency.optimization.compression.random_k import RandomK as RandomK
from elastic_consistency.optimization.compression.scaling import Scaling as Scaling
from elastic_consistency.optimization.compression.sign import ScaledSign as ScaledSign
from elastic_consistency.optimization.compression.top_k import TopK as TopK
