"""Ratings that were collected elsewhere, for our analysis."""
