"""Layers that several networks are built from."""
