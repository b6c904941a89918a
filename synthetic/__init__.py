"""Sounds, words and speaking heads that this project makes itself."""
