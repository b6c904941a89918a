"""Sounds and sentences in one space."""
