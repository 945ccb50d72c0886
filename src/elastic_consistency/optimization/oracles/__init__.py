"""Oracles: problems with stochastic gradients and known constants.

The oracle of torch modules lies in `torch_oracles`, which imports torch and is not imported here.
"""

from elastic_consistency.optimization.oracles.base import AbstractOracle as AbstractOracle
from elastic_consistency.optimization.oracles.base import Constants as Constants
from elastic_consistency.optimization.oracles.constants_estimator import (
    ConstantsEstimator as ConstantsEstimator,
)
from elastic_consistency.optimization.oracles.constants_estimator import (
    EstimatedConstant as EstimatedConstant,
)
from elastic_consistency.optimization.oracles.datasets import Dataset as Dataset
from elastic_consistency.optimization.oracles.datasets import breast_cancer as breast_cancer
from elastic_consistency.optimization.oracles.datasets import digits as digits
from elastic_consistency.optimization.oracles.datasets import mnist as mnist
from elastic_consistency.optimization.oracles.estimated import Estimated as Estimated
from elastic_consistency.optimization.oracles.estimated import (
    estimated_along_descent as estimated_along_descent,
)
from elastic_consistency.optimization.oracles.geman_mcclure import GemanMcClure as GemanMcClure
from elastic_consistency.optimization.oracles.heterogeneity import (
    measured_heterogeneity as measured_heterogeneity,
)
from elastic_consistency.optimization.oracles.idx_files import fashion_mnist as fashion_mnist
from elastic_consistency.optimization.oracles.idx_files import read_idx as read_idx
from elastic_consistency.optimization.oracles.least_squares import LeastSquares as LeastSquares
from elastic_consistency.optimization.oracles.libsvm_files import read_libsvm as read_libsvm
from elastic_consistency.optimization.oracles.linear import Linear as Linear
from elastic_consistency.optimization.oracles.logistic_regression import (
    LogisticRegression as LogisticRegression,
)
from elastic_consistency.optimization.oracles.multilayer_perceptron import (
    MultilayerPerceptron as MultilayerPerceptron,
)
from elastic_consistency.optimization.oracles.partitions import dirichlet_shards as dirichlet_shards
from elastic_consistency.optimization.oracles.partitions import iid_shards as iid_shards
from elastic_consistency.optimization.oracles.partitions import shards_by_label as shards_by_label
from elastic_consistency.optimization.oracles.partitions import shards_by_size as shards_by_size
from elastic_consistency.optimization.oracles.quadratic import Quadratic as Quadratic
from elastic_consistency.optimization.oracles.shards import Shards as Shards
from elastic_consistency.optimization.oracles.sparsity import Sparsity as Sparsity
from elastic_consistency.optimization.oracles.sparsity import measure_sparsity as measure_sparsity
from elastic_consistency.optimization.oracles.sparsity import sparse_rows as sparse_rows
