"""Signs of expressions on the set of parameters that a bound assumes, decided exactly.

The assumptions are brought to the form `symbol <= expression` or `symbol >= expression`. Each
bounded symbol is then replaced by a function of a new variable u >= 0 that runs through exactly
the allowed values, and a quotient of polynomials whose coefficients all have one sign needs no
further proof. What that misses is factored: even powers do not matter, and a factor in one
variable is decided by counting its roots exactly. Nothing is sampled.
"""

from dataclasses import dataclass
from typing import final

import sympy as sp
from sympy.core.relational import Relational


@final
@dataclass(frozen=True, slots=True)
class Region:
    """The parameters that satisfy the assumptions.

    Attributes:
        assumptions: Relations with a lone symbol on one side; symbols without a relation are
            limited by their own sign only.
    """

    assumptions: tuple[Relational, ...]

    def proves_nonnegative(self, expression: sp.Expr) -> bool:
        """Return whether `expression` >= 0 is shown for all parameters of the region.

        False means "not shown", not "false".
        """
        return _nonnegative(
            self.parametrised(self._without_symbolic_powers(sp.sympify(expression)))
        )

    def proves_positive(self, expression: sp.Expr) -> bool:
        """Return whether `expression` > 0 is shown on the region."""
        parametrised = self.parametrised(self._without_symbolic_powers(sp.sympify(expression)))
        numerator, denominator = _quotient(parametrised)
        shown = _nonnegative(numerator / denominator)
        return shown and sp.expand(numerator) != 0 and _never_zero(numerator)

    def _without_symbolic_powers(self, expression: sp.Expr) -> sp.Expr:
        """Replace q**T and sqrt(q), for q >= 0 on the region, by a variable >= 0."""
        powers = [p for p in expression.atoms(sp.Pow) if _is_opaque(p)]
        named = {
            power: sp.Symbol(f"power_{position}", nonnegative=True)
            for position, power in enumerate(sorted(powers, key=str))
            if self.proves_nonnegative(power.base)
        }
        return expression.subs(named)

    def parametrised(self, expression: sp.Expr) -> sp.Expr:
        """Return `expression` in variables that run through [0, oo) without constraint."""
        sides = [side for relation in self.assumptions for side in (relation.lhs, relation.rhs)]
        rooted = set().union(*(_symbols_under_roots(part) for part in (expression, *sides)))
        limits = {symbol: self._limits(symbol) for symbol in self._symbols()}
        replaced = expression
        for _ in range(len(limits) + 1):
            for symbol, (low, high, strict) in limits.items():
                if symbol in replaced.free_symbols:
                    value = _between(symbol, low, high, strict=strict, root=symbol in rooted)
                    replaced = replaced.subs(symbol, value)
        for symbol in rooted:
            if symbol in replaced.free_symbols:
                replaced = replaced.subs(symbol, _root(symbol) ** 2)
        return replaced

    def _symbols(self) -> tuple[sp.Symbol, ...]:
        found = [_solved(relation)[0] for relation in self.assumptions]
        return tuple(sorted(set(found), key=lambda symbol: symbol.name))

    def _limits(self, symbol: sp.Symbol) -> tuple[sp.Expr | None, sp.Expr | None, bool]:
        low, high, strict = None, None, False
        for relation in self.assumptions:
            owner, sense, limit, is_strict = _solved(relation)
            if owner != symbol:
                continue
            if (low if sense == ">" else high) is not None:
                raise ValueError(f"Region.assumptions must limit {symbol} once from each side.")
            low, high = (limit, high) if sense == ">" else (low, limit)
            strict = strict or is_strict
        return low, high, strict


def _solved(relation: Relational) -> tuple[sp.Symbol, str, sp.Expr, bool]:
    strict = isinstance(relation, sp.StrictLessThan | sp.StrictGreaterThan)
    if isinstance(relation.lhs, sp.Symbol):
        sense = "<" if isinstance(relation, sp.LessThan | sp.StrictLessThan) else ">"
        return relation.lhs, sense, relation.rhs, strict
    if isinstance(relation.rhs, sp.Symbol):
        sense = ">" if isinstance(relation, sp.LessThan | sp.StrictLessThan) else "<"
        return relation.rhs, sense, relation.lhs, strict
    raise ValueError(f"Region.assumptions must have a lone symbol on one side, got {relation}.")


def _between(
    symbol: sp.Symbol, low: sp.Expr | None, high: sp.Expr | None, *, strict: bool, root: bool
) -> sp.Expr:
    """Return a function of u >= 0 whose values are the numbers between the limits."""
    name = f"u_{symbol.name}"
    u = sp.Symbol(name, positive=True) if strict else sp.Symbol(name, nonnegative=True)
    scale = sp.sqrt if root else sp.sympify
    bottom = sp.S.Zero if low is None else scale(low)
    value = bottom + u if high is None else (scale(high) + bottom * u) / (1 + u)
    return value**2 if root else value


def _root(symbol: sp.Symbol) -> sp.Symbol:
    name = f"r_{symbol.name}"
    return (
        sp.Symbol(name, positive=True) if symbol.is_positive else sp.Symbol(name, nonnegative=True)
    )


def _is_opaque(power: sp.Pow) -> bool:
    if not power.exp.is_number:
        return True
    return not power.exp.is_integer and not power.base.is_number and not power.base.is_Symbol


def _symbols_under_roots(expression: sp.Expr) -> set[sp.Symbol]:
    powers = expression.atoms(sp.Pow)
    return {
        power.base
        for power in powers
        if isinstance(power.base, sp.Symbol) and power.exp.is_Rational and not power.exp.is_integer
    }


def _quotient(expression: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    return sp.fraction(sp.cancel(sp.together(expression)))


def _nonnegative(expression: sp.Expr) -> bool:
    numerator, denominator = _quotient(expression)
    above, below = _sign(numerator), _sign(denominator)
    if above == 0:
        return True
    return above is not None and below is not None and above == below


def _sign(expression: sp.Expr) -> int | None:
    """Return 1 (>= 0), -1 (<= 0), 0 (zero) for variables in [0, oo), or None if unknown."""
    expanded = sp.expand(expression)
    if not expanded.free_symbols:
        return int(sp.sign(expanded))
    gens = sorted(expanded.free_symbols, key=lambda symbol: symbol.name)
    if not all(symbol.is_nonnegative for symbol in gens) or not expanded.is_polynomial(*gens):
        return None
    whole = _coefficient_sign(sp.Poly(expanded, *gens))
    return whole if whole is not None else _factored_sign(expanded, gens)


def _factored_sign(expression: sp.Expr, gens: list[sp.Symbol]) -> int | None:
    constant, factors = sp.factor_list(expression, *gens)
    sign = int(sp.sign(constant))
    for factor, multiplicity in factors:
        if multiplicity % 2 == 0:
            continue
        polynomial = sp.Poly(factor, *gens)
        of_factor = _coefficient_sign(polynomial)
        if of_factor is None:
            of_factor = _root_free_sign(factor)
        if of_factor is None:
            return None
        sign *= of_factor
    return sign


def _coefficient_sign(polynomial: sp.Poly) -> int | None:
    signs = {int(sp.sign(coefficient)) for coefficient in polynomial.coeffs()} - {0}
    if not signs:
        return 0
    return signs.pop() if len(signs) == 1 else None


def _root_free_sign(factor: sp.Expr) -> int | None:
    """Return the sign on (0, oo) of a factor in one variable that has no root there."""
    if len(factor.free_symbols) != 1:
        return None
    polynomial = sp.Poly(factor)
    if not all(coefficient.is_Rational for coefficient in polynomial.coeffs()):
        return None
    at_zero = 1 if polynomial.eval(0) == 0 else 0
    if polynomial.count_roots(0, sp.oo) - at_zero > 0:
        return None
    return int(sp.sign(polynomial.eval(1)))


def _never_zero(numerator: sp.Expr) -> bool:
    """Return whether some term of a one-signed polynomial is positive on the whole region."""
    expanded = sp.expand(numerator)
    return any(term.is_positive or (-term).is_positive for term in sp.Add.make_args(expanded))
