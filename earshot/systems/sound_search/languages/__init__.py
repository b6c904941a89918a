"""Queries in other languages: recognised by their words, and translated word by word."""

from earshot.systems.sound_search.languages.translation import LANGUAGES, Translation, translate

__all__ = ["LANGUAGES", "Translation", "translate"]
