"""Evaluation of the word embeddings and of baselines."""
