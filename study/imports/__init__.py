"""Ratings that were collected elsewhere, for our analysis: see study.imports.read."""

from study.imports.read import read

__all__ = ["read"]
