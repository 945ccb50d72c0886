"""Results on disk: written whole, read back, and never computed twice."""
