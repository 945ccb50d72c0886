"""Oracles: problems with stochastic gradients and known constants."""

from elastic_consistency.optimization.oracles.base import AbstractOracle as AbstractOracle
from elastic_consistency.optimization.oracles.base import Constants as Constants
from elastic_consistency.optimization.oracles.datasets import Dataset as Dataset
from elastic_consistency.optimization.oracles.datasets import breast_cancer as breast_cancer
from elastic_consistency.optimization.oracles.datasets import digits as digits
from elastic_consistency.optimization.oracles.linear import Linear as Linear
from elastic_consistency.optimization.oracles.logistic_regression import (
    LogisticRegression as LogisticRegression,
)
from elastic_consistency.optimization.oracles.quadratic import Quadratic as Quadratic
from elastic_consistency.optimization.oracles.shards import Shards as Shards
