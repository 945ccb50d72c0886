"""Small studies in which a bound of the catalogue is true and tight by construction.

n nodes take H local steps on gradients of norm 1 without mean (one coordinate, a fair sign
each). Right before an averaging a view differs from the mean of the replicas by the sum over
H - 1 rounds of (mean of the signs - own sign), so that E gap^2 = (H - 1)(n - 1)/n: exactly the
square of `local_sgd_noise_gap`, at every node and in every period. A study measures all of
them: it makes n * periods claims, and a single VIOLATED among them is a false alarm.
"""

import sys

import numpy as np

from elastic_consistency.validation import proportion_limits

N_NODES, PERIOD, N_PERIODS = 4, 3, 2
N_CLAIMS = N_NODES * N_PERIODS
TIGHT = (PERIOD - 1) * (N_NODES - 1) / N_NODES
# Signs that all agree but one's own: (H - 1) * 2 (n - 1) / n.
LARGEST = ((PERIOD - 1) * 2 * (N_NODES - 1) / N_NODES) ** 2


def squared_gaps(rng: np.random.Generator, studies: int, replicates: int) -> np.ndarray:
    """(studies, claims, R) squared gaps, divided by the squared step size."""
    shape = (studies, replicates, N_PERIODS, PERIOD - 1, N_NODES)
    signs = 2.0 * rng.integers(0, 2, size=shape, dtype=np.int8) - 1.0
    gaps = (signs.mean(axis=-1, keepdims=True) - signs).sum(axis=-2)
    return (gaps**2).reshape(studies, replicates, N_CLAIMS).transpose(0, 2, 1)


def tell(what: str, count: int, trials: int) -> None:
    """A line for `pytest -s`: how often it happened, with its interval at 95 %."""
    lower, upper = proportion_limits(count, trials, confidence=0.95)
    sys.stdout.write(
        f"{what}: {count} of {trials}, {count / trials:.2%} [{lower:.3%}, {upper:.3%}]\n"
    )
