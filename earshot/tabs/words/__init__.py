"""The words tab: the neighbours of any spoken or typed word among spoken and written words."""

from earshot.tabs.words.tab import MODEL, build

__all__ = ["MODEL", "build"]
