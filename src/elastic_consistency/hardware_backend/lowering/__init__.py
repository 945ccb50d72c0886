"""Lowering: the rows of a schedule become what each rank runs, sends and receives."""
