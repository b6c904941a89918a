"""The way from recordings to batches."""
