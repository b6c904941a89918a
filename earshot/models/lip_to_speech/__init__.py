"""Faces to words and speech."""
