"""A contender against the theorems: which bounds speak of it, what is measured, a verdict."""
