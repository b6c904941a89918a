"""Training and evaluation of every system: the only writer of checkpoints/."""
