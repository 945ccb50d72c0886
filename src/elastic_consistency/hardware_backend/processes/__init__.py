"""Processes that are ranks: started, watched, and none left behind."""
