"""Networks and losses in training."""
