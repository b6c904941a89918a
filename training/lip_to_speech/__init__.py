"""Lip to speech: prepare → train (readers of lips, voices of faces) → evaluate."""
