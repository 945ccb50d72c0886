"""Schedules and results in a few figures, alone or side by side."""
