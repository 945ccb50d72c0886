"""Update rules: what a gradient becomes, and what a step does with it."""

from elastic_consistency.optimization.update_rules.base import AbstractRule as AbstractRule
from elastic_consistency.optimization.update_rules.heavy_ball import HeavyBall as HeavyBall
from elastic_consistency.optimization.update_rules.sgd import SGD as SGD
