"""From recordings to batches."""
