"""The symbols of the bounds, each with its sign, its unit and its meaning.

Every quantity has a unit in lengths (of the parameter vector), losses and seconds, so that
`dimension.py` can check that a bound is homogeneous in all three.
"""

from dataclasses import dataclass
from typing import final

import sympy as sp


@final
@dataclass(frozen=True, slots=True)
class Dimension:
    """Exponents of the units of a quantity; all zero means a pure number.

    Attributes:
        length: Exponent of the unit of the parameter vector.
        loss: Exponent of the unit of the loss.
        time: Exponent of the second.
    """

    length: sp.Rational = sp.S.Zero
    loss: sp.Rational = sp.S.Zero
    time: sp.Rational = sp.S.Zero

    def times(self, other: "Dimension") -> "Dimension":
        """Return the dimension of a product."""
        return Dimension(self.length + other.length, self.loss + other.loss, self.time + other.time)

    def power(self, exponent: sp.Expr) -> "Dimension":
        """Return the dimension of a power."""
        return Dimension(self.length * exponent, self.loss * exponent, self.time * exponent)

    def text(self) -> str:
        """Return the unit in words, for instance `loss length^-2`."""
        named = (("length", self.length), ("loss", self.loss), ("s", self.time))
        parts = [name if power == 1 else f"{name}^{power}" for name, power in named if power]
        return " ".join(parts) or "1"


NUMBER = Dimension()
LENGTH = Dimension(length=sp.S.One)
LOSS = Dimension(loss=sp.S.One)
SECONDS = Dimension(time=sp.S.One)
SLOPE = Dimension(length=-sp.S.One, loss=sp.S.One)
CURVATURE = Dimension(length=sp.Integer(-2), loss=sp.S.One)
STEP_SIZE = Dimension(length=sp.Integer(2), loss=-sp.S.One)


@final
@dataclass(frozen=True, slots=True)
class SymbolInfo:
    """What a symbol stands for.

    Attributes:
        symbol: The sympy symbol; its assumptions state its sign.
        dimension: Its unit.
        meaning: One phrase.
        example: A typical value, used in numeric examples.
    """

    symbol: sp.Symbol
    dimension: Dimension
    meaning: str
    example: sp.Expr


def _positive(name: str) -> sp.Symbol:
    return sp.Symbol(name, positive=True)


def _nonnegative(name: str) -> sp.Symbol:
    return sp.Symbol(name, nonnegative=True)


L = _positive("L")
c = _positive("c")
alpha = _positive("alpha")
sigma = _nonnegative("sigma")
M = _nonnegative("M")
G = _nonnegative("G")
B = _nonnegative("B")
B_1 = _nonnegative("B_1")
B_2 = _nonnegative("B_2")
Delta = _nonnegative("Delta")
R0 = _nonnegative("R0")
epsilon = _positive("epsilon")
epsilon_x = _positive("epsilon_x")
epsilon_f = _positive("epsilon_f")
C = _nonnegative("C")
T = _positive("T")
K = _positive("K")
n = _positive("n")
p = _positive("p")
d = _positive("d")
c_jobs = _nonnegative("c_jobs")
tau = _nonnegative("tau")
tau_max = _nonnegative("tau_max")
tau_c = _positive("tau_c")
tau_avg = _nonnegative("tau_avg")
R = _positive("R")
f = _nonnegative("f")
w_min = _positive("w_min")
theta = _positive("theta")
beta = _nonnegative("beta")
gamma = _nonnegative("gamma")
mu = _nonnegative("mu")
rho = _nonnegative("rho")
k = _positive("k")
H = _positive("H")
h = _nonnegative("h")
xi = _nonnegative("xi")
zeta = _nonnegative("zeta")
b = _positive("b")
m = _positive("m")
lambda_ = _positive("lambda")
alpha_0 = _positive("alpha_0")
Omega_e = _positive("Omega_e")
rho_e = _nonnegative("rho_e")
Delta_e = _nonnegative("Delta_e")
n_blocks = _positive("n_blocks")
w_mass = _positive("w_mass")
m_rounds = _positive("m_rounds")
t_max = _positive("t_max")
t_fast = _positive("t_fast")
t_mean = _positive("t_mean")

_TABLE = (
    SymbolInfo(L, CURVATURE, "smoothness: the gradient is L-Lipschitz", sp.Integer(1)),
    SymbolInfo(c, CURVATURE, "strong convexity", sp.Rational(1, 10)),
    SymbolInfo(alpha, STEP_SIZE, "step size", sp.Rational(1, 100)),
    SymbolInfo(sigma, SLOPE, "square root of the variance bound", sp.Integer(1)),
    SymbolInfo(M, SLOPE, "square root of the second-moment bound", sp.Integer(1)),
    SymbolInfo(G, SLOPE, "bound on the norm of the mean gradient", sp.Rational(3, 10)),
    SymbolInfo(B, SLOPE, "elastic constant: gap divided by step size", sp.Integer(7)),
    SymbolInfo(B_1, SLOPE, "elastic constant of one relaxation", sp.Integer(7)),
    SymbolInfo(B_2, SLOPE, "elastic constant of another relaxation", sp.Integer(2)),
    SymbolInfo(Delta, LOSS, "initial suboptimality f(x0) - f*", sp.Integer(1)),
    SymbolInfo(R0, LENGTH, "initial distance to the minimiser", sp.Integer(1)),
    SymbolInfo(epsilon, SLOPE.power(sp.Integer(2)), "target of E|grad f|^2", sp.Rational(1, 10)),
    SymbolInfo(epsilon_x, LENGTH.power(sp.Integer(2)), "target of |x - x*|^2", sp.Rational(1, 2)),
    SymbolInfo(epsilon_f, LOSS, "target of f - f*", sp.Rational(1, 10)),
    SymbolInfo(C, NUMBER, "gap constant in units of M", sp.Rational(1, 20)),
    SymbolInfo(T, NUMBER, "number of steps", sp.Integer(10000)),
    SymbolInfo(K, NUMBER, "number of coordinates that are kept", sp.Integer(100)),
    SymbolInfo(n, NUMBER, "number of workers", sp.Integer(8)),
    SymbolInfo(p, NUMBER, "number of nodes", sp.Integer(8)),
    SymbolInfo(d, NUMBER, "number of parameters", sp.Integer(1000)),
    SymbolInfo(c_jobs, NUMBER, "largest number of other unapplied jobs at a read", sp.Integer(7)),
    SymbolInfo(tau, NUMBER, "staleness, in rounds", sp.Integer(5)),
    SymbolInfo(tau_max, NUMBER, "largest staleness, in steps", sp.Integer(20)),
    SymbolInfo(tau_c, NUMBER, "largest number of active jobs", sp.Integer(8)),
    SymbolInfo(tau_avg, NUMBER, "average staleness, in steps", sp.Integer(7)),
    SymbolInfo(R, NUMBER, "bound on the staleness that is used, at least 1", sp.Integer(8)),
    SymbolInfo(f, NUMBER, "number of crashed nodes or missing messages", sp.Integer(3)),
    SymbolInfo(w_min, NUMBER, "smallest fraction of nodes in a step", sp.Rational(1, 2)),
    SymbolInfo(theta, NUMBER, "Young parameter of the sharp family", sp.Rational(1, 10)),
    SymbolInfo(beta, NUMBER, "threshold of the norm-bounded scheduler", sp.Rational(4, 5)),
    SymbolInfo(
        gamma, NUMBER, "contraction of a codec: |Q(w)-w|^2 <= gamma |w|^2", sp.Rational(9, 10)
    ),
    SymbolInfo(mu, NUMBER, "momentum", sp.Rational(9, 10)),
    SymbolInfo(
        rho, NUMBER, "second largest singular value of the mixing matrix", sp.Rational(4, 5)
    ),
    SymbolInfo(k, NUMBER, "binary logarithm of the number of nodes", sp.Integer(3)),
    SymbolInfo(H, NUMBER, "local steps between two averagings", sp.Integer(5)),
    SymbolInfo(h, NUMBER, "hops of a message", sp.Integer(1)),
    SymbolInfo(xi, NUMBER, "TopK alignment constant", sp.Integer(0)),
    SymbolInfo(zeta, SLOPE, "heterogeneity of the local gradients", sp.Rational(1, 2)),
    SymbolInfo(b, NUMBER, "Young parameter of the residual", sp.Rational(1, 10)),
    SymbolInfo(m, NUMBER, "number of gradients in a mini-batch", sp.Integer(8)),
    SymbolInfo(alpha_0, STEP_SIZE, "unit of step sizes, 1 in the papers", sp.Integer(1)),
    SymbolInfo(lambda_, CURVATURE, "curvature of a quadratic", sp.Integer(1)),
    SymbolInfo(Omega_e, NUMBER, "largest number of coordinates of a summand", sp.Integer(10)),
    SymbolInfo(rho_e, NUMBER, "largest share of summands that one conflicts with", sp.S.Zero),
    SymbolInfo(Delta_e, NUMBER, "largest share of summands on one coordinate", sp.S.Zero),
    SymbolInfo(n_blocks, NUMBER, "number of blocks of coordinates", sp.Integer(100)),
    SymbolInfo(
        w_mass, NUMBER, "smallest harmonic mean of the masses of the nodes", sp.Rational(1, 8)
    ),
    SymbolInfo(m_rounds, NUMBER, "rounds after which deviations shrink by rho", sp.Integer(12)),
    SymbolInfo(
        t_fast, SECONDS, "harmonic mean of the seconds of n workers for one gradient", sp.Integer(2)
    ),
    SymbolInfo(t_max, SECONDS, "seconds for one gradient on the slowest worker", sp.Integer(10)),
    SymbolInfo(t_mean, SECONDS, "mean seconds for one gradient over workers", sp.Integer(2)),
)


def symbol_table() -> dict[str, SymbolInfo]:
    """Return the symbols by name."""
    return {info.symbol.name: info for info in _TABLE}
