"""Processors: computations that run alone or slow each other down."""
