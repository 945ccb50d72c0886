"""Studies: what is computed for a person, from the cluster to the verdict."""
