"""The sounds of an index with their vectors: held in memory or read from the disk, and saved."""

from typing import Final

BACKENDS: Final = ("memory", "disk")  # in which an index is searched
