"""Advice: is relaxing consistency worth it here, and what to set."""
