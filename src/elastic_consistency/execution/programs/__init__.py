"""Programs: schedules translated once into instructions on arrays, with the bits of the rows."""
