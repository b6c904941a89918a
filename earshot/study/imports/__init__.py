"""Ratings that were collected elsewhere, for our analysis, and data sets that were published."""
