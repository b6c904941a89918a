"""Word embeddings over the states of a pretrained recogniser: their data and their training."""
