"""Words: say or type any word, and see and hear where it lands among spoken and written words."""

from tabs.words.tab import MODEL, build

__all__ = ["MODEL", "build"]
