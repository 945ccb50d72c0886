"""Expected quantities that lemmas and steps share: starts, drops, averages, windows."""

import sympy as sp

from elastic_consistency.bounds.proofs.vectors import Atom, nonnegative_atom, signed_atom

JOBS_BETWEEN = nonnegative_atom("N")
SUM_BETWEEN = nonnegative_atom("|sum of N updates|")


def drop(of: sp.Expr) -> Atom:
    """Return the atom "first minus last value of `of`"."""
    return signed_atom(f"drop[{of}]")


def start(of: sp.Expr) -> Atom:
    """Return the atom "first value of `of`"."""
    return nonnegative_atom(f"start[{of}]")


def window(of: sp.Expr) -> Atom:
    """Return the atom "sum of `of` over the jobs in a window"."""
    return nonnegative_atom(f"window[{of}]")


def average(of: sp.Expr, *, weight: sp.Symbol | None = None) -> sp.Expr:
    """Return the average over steps of a linear form.

    Args:
        of: Linear form in atoms, polynomial in the weight.
        weight: A parameter that changes from step to step; each of its powers is averaged
            together with the atom that it multiplies.
    """
    if weight is None:
        return of.subs({atom: averaged(atom) for atom in of.atoms(Atom)}, simultaneous=True)
    terms = sp.Add.make_args(sp.expand(of))
    return sp.Add(*(_average_term(term, weight) for term in terms))


def averaged(atom: sp.Expr, *, weight: sp.Symbol | None = None, power: int = 0) -> Atom:
    """Return the atom "average over steps of weight^power atom"."""
    name = f"avg {atom}" if power == 0 else f"avg {weight}^{power} {atom}"
    return nonnegative_atom(name) if atom.is_nonnegative else signed_atom(name)


def _average_term(term: sp.Expr, weight: sp.Symbol) -> sp.Expr:
    power = sp.degree(term, weight) if term.has(weight) else 0
    rest = sp.cancel(term / weight**power)
    atoms = sorted(rest.atoms(Atom), key=str)
    if not atoms:
        return rest if power == 0 else rest * averaged(sp.S.One, weight=weight, power=power)
    (atom,) = atoms
    return sp.cancel(rest / atom) * averaged(atom, weight=weight, power=power)
