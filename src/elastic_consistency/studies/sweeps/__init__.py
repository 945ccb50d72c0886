"""Sweeps: a study at many points, each finished point kept, whatever happens next."""
