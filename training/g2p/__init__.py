"""Spelling to phones: training and card."""
