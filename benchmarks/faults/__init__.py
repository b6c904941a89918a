"""Faults of the machine and of its operator, tried against the running app."""
