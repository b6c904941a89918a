"""Word embeddings over log-mel frames: their data and their training."""
