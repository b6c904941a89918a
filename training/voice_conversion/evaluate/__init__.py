"""Evaluation of the voice conversion systems, compared with baselines."""
