"""Libraries beyond the memory of a machine, and beyond a day of its work."""
