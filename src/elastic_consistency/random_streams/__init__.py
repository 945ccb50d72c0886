"""Random streams: infinite rows of uniforms, addressed by (seed, cause, worker) and position.

Everything random in the package is a transform of uniforms that are looked up by position.
Draw k of a stream therefore never depends on how many are drawn at a time, nor on any other
stream, and two algorithms that share a seed meet the same delays and the same samples.
"""

from elastic_consistency.random_streams.cursors import JobUniforms as JobUniforms
from elastic_consistency.random_streams.cursors import Stream as Stream
from elastic_consistency.random_streams.uniforms import Cause as Cause
from elastic_consistency.random_streams.uniforms import uniform_table as uniform_table
from elastic_consistency.random_streams.uniforms import uniforms as uniforms
