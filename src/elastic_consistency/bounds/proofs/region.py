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

        False means "not shown", not "false". A boundary that the parametrisation only comes
        close to is covered by continuity.
        """
        return _nonnegative(self.parametrised(self._without_opaque_powers(sp.sympify(expression))))

    def proves_positive(self, expression: sp.Expr) -> bool:
        """Return whether `expression` > 0 is shown on the region, boundaries included."""
        whole = sp.sympify(expression)
        numerator, denominator = _quotient(self.parametrised(self._without_opaque_powers(whole)))
        shown = _nonnegative(numerator / denominator) and _never_zero(numerator)
        return shown and all(
            self.proves_positive(whole.subs(symbol, value))
            for symbol, value in self._uncovered()
            if symbol in whole.free_symbols
        )

    def _uncovered(self) -> list[tuple[sp.Symbol, sp.Expr]]:
        """Return the allowed lower ends that the parametrisation only comes close to."""
        ranges = [self._range(symbol) for symbol in self._symbols()]
        return [(r.symbol, r.bottom) for r in ranges if r.comes_close_to_its_bottom()]

    def _without_opaque_powers(self, expression: sp.Expr) -> sp.Expr:
        """Replace q**T and sqrt(q), for q >= 0 on the region, by variables with their range."""
        powers = [power for power in expression.atoms(sp.Pow) if _is_opaque(power)]
        named = {}
        for power in sorted(powers, key=str):
            if self.proves_nonnegative(power.base):
                named[power] = self._variable(power)
        return expression.subs(named)

    def _variable(self, power: sp.Pow) -> sp.Expr:
        halves = 2 * power.exp if power.exp.is_number else sp.S.One
        key = power.base if power.exp.is_number else power
        u = sp.Symbol(f"u_[{key}]", nonnegative=True)
        below_one = power.exp.is_number and self.proves_positive(1 - power.base)
        return (u / (1 + u) if below_one else u) ** halves

    def parametrised(self, expression: sp.Expr) -> sp.Expr:
        """Return `expression` in variables that run through [0, oo) without constraint."""
        sides = [side for relation in self.assumptions for side in (relation.lhs, relation.rhs)]
        rooted = set().union(*(_symbols_under_roots(part) for part in (expression, *sides)))
        ranges = [self._range(symbol) for symbol in self._symbols()]
        replaced = expression
        for _ in range(len(ranges) + 1):
            for r in ranges:
                if r.symbol in replaced.free_symbols:
                    replaced = replaced.subs(r.symbol, r.value(root=r.symbol in rooted))
        for symbol in sorted(rooted | _symbols_under_roots(replaced), key=str):
            if symbol in replaced.free_symbols:
                replaced = replaced.subs(symbol, _root(symbol) ** 2)
        return replaced

    def _symbols(self) -> tuple[sp.Symbol, ...]:
        found = [_solved(relation)[0] for relation in self.assumptions]
        return tuple(sorted(set(found), key=lambda symbol: symbol.name))

    def _range(self, symbol: sp.Symbol) -> "_Range":
        ends: dict[str, tuple[sp.Expr, bool]] = {}
        for relation in self.assumptions:
            owner, sense, limit, strict = _solved(relation)
            if owner != symbol:
                continue
            if sense in ends:
                raise ValueError(f"Region.assumptions must limit {symbol} once from each side.")
            ends[sense] = (limit, strict)
        low, low_strict = ends.get(">", (None, False))
        high, high_strict = ends.get("<", (None, False))
        return _Range(symbol, low, high, low_strict, high_strict)


@final
@dataclass(frozen=True, slots=True)
class _Range:
    """The values of one symbol, with limits in terms of other symbols."""

    symbol: sp.Symbol
    low: sp.Expr | None
    high: sp.Expr | None
    low_strict: bool
    high_strict: bool

    @property
    def bottom(self) -> sp.Expr:
        return sp.S.Zero if self.low is None else self.low

    def comes_close_to_its_bottom(self) -> bool:
        """Return whether the bottom is allowed but no value of `value`."""
        if self.high is None or self._covers_zero():
            return False
        allowed = not self.low_strict if self.low is not None else not self.symbol.is_positive
        return bool(allowed)

    def value(self, *, root: bool) -> sp.Expr:
        """Return a function of u >= 0 whose values are the numbers of the range."""
        scale = sp.sqrt if root else sp.sympify
        name = f"u_{self.symbol.name}"
        if self.high is None:
            result = scale(self.bottom) + _variable(name, positive=self.low_strict)
        elif self._covers_zero():
            u = _variable(name, positive=False)
            result = scale(self.high) * u / (1 + u)
        else:
            u = _variable(name, positive=self.high_strict)
            result = (scale(self.high) + scale(self.bottom) * u) / (1 + u)
        return result**2 if root else result

    def _covers_zero(self) -> bool:
        return self.low is None and self.high_strict and not self.symbol.is_positive


def _variable(name: str, *, positive: bool) -> sp.Symbol:
    return sp.Symbol(name, positive=True) if positive else sp.Symbol(name, nonnegative=True)


def _solved(relation: Relational) -> tuple[sp.Symbol, str, sp.Expr, bool]:
    strict = isinstance(relation, sp.StrictLessThan | sp.StrictGreaterThan)
    if isinstance(relation.lhs, sp.Symbol):
        sense = "<" if isinstance(relation, sp.LessThan | sp.StrictLessThan) else ">"
        return relation.lhs, sense, relation.rhs, strict
    if isinstance(relation.rhs, sp.Symbol):
        sense = ">" if isinstance(relation, sp.LessThan | sp.StrictLessThan) else "<"
        return relation.rhs, sense, relation.lhs, strict
    raise ValueError(f"Region.assumptions must have a lone symbol on one side, got {relation}.")


def _root(symbol: sp.Symbol) -> sp.Symbol:
    return _variable(f"r_{symbol.name}", positive=bool(symbol.is_positive))


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
    polynomial = sp.Poly(factor, *factor.free_symbols)
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
