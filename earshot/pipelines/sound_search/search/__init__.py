"""A query → ranked sounds of an index, and where in them they match."""
