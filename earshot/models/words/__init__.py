"""Acoustic word embeddings and letters to phonemes."""
