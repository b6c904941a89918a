"""Training and evaluation of the acoustic word embeddings."""
