"""Acoustic word embeddings: recordings and phonemes of words → networks → checkpoints."""
