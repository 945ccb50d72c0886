"""Real processes beside the simulation: replays and live runs, checked."""
