"""Evaluation of the lip-to-speech systems, compared with baselines."""
