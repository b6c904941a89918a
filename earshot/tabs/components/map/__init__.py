"""Map: points in a plane, each with a sound."""
