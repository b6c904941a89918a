"""Pretrained weights: where they come from, how they are checked, and how they run."""
