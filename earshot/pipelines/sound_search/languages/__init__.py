"""Queries in other languages: recognised by their words, and translated word by word."""

from earshot.pipelines.sound_search.languages.reading import LANGUAGES, Reading, read

__all__ = ["LANGUAGES", "Reading", "read"]
