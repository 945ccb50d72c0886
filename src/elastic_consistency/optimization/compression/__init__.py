"""Codecs: what a vector becomes on the wire."""

from elastic_consistency.optimization.compression.base import AbstractCodec as AbstractCodec
from elastic_consistency.optimization.compression.identity import Identity as Identity
