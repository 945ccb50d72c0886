"""The comparison: contenders on the same delays and samples, how fast each is, and why."""
