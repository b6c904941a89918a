"""Recordings, synthetic words, augmentation and batches."""
