"""What all tests share: one BLAS thread and the Hypothesis profiles."""

import os

# Threaded dot products change bits and slow small arrays down. The variables reach libraries
# that are loaded later and the processes that tests start; threadpoolctl reaches the rest.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import numpy as np  # noqa: E402, F401  (loads the BLAS that threadpoolctl then limits)
import threadpoolctl  # noqa: E402
from hypothesis import settings  # noqa: E402

threadpoolctl.threadpool_limits(limits=1)

_CI = settings(derandomize=True, deadline=None, max_examples=60, database=None, print_blob=True)
settings.register_profile("ci", _CI)
settings.register_profile("slow", _CI, max_examples=300)
settings.register_profile("deep", deadline=None, max_examples=2000, print_blob=True)
settings.load_profile(os.environ.get("ELASTIC_HYPOTHESIS_PROFILE", "ci"))
