"""Adaptive pairing: the next pair is chosen by what is known so far."""
