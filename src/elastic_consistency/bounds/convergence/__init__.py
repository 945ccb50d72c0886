"""Convergence theorems, published and sharp."""
