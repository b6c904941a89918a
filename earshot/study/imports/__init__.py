"""Ratings that were collected elsewhere, for our analysis: see earshot.study.imports.read."""

from earshot.study.imports.read import read

__all__ = ["read"]
