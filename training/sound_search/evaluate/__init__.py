"""Evaluation of sound search, with baselines."""
