"""Faults: scripts of what goes wrong, lifetimes of workers, and what went wrong in a run."""
