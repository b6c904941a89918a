"""The sounds of an index with their vectors: in memory or on the disk, saved and searched."""

from typing import Final

BACKENDS: Final = ("memory", "disk")  # in which an index is searched
