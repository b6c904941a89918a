"""The filters of a search: conditions on sounds, added to what the query means."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr
from gradio.components import Component

from earshot.sound_index.sound import Filter
from earshot.systems.sound_search.query import clean
from earshot.tabs.shared.events import Update
from earshot.tabs.sound_search.catalogue import Catalogue
from earshot.tabs.sound_search.families import CATEGORIES, kinds_of
from earshot.tabs.sound_search.kept_collections import Collections


@dataclass(frozen=True)
class Filters:
    """The components of the section."""

    title: gr.Textbox
    families: gr.Dropdown
    licences: gr.Dropdown
    tags: gr.Dropdown
    collections: gr.Dropdown
    min_seconds: gr.Number
    max_seconds: gr.Number

    @property
    def components(self) -> set[Component]:
        return {getattr(self, name) for name in self.__dataclass_fields__}

    def chosen(self, values: Mapping[Component, Any], kept: Collections, demo: bool) -> Filter:
        """Read the filter from the values of the components.

        kept: the visitor's collections; demo: whether the library has families. Raises InputError
        for lengths that no sound can have.
        """
        families, collections = values[self.families], values[self.collections]
        held = frozenset(sound for name in collections for sound in kept.get(name, ()))
        return Filter(
            clean(values[self.title]),
            values[self.min_seconds] or 0.0,
            values[self.max_seconds] or math.inf,  # the page sends an empty number as 0
            kinds_of(families) if families and demo else None,
            frozenset(values[self.licences]) or None,
            frozenset(values[self.tags]),
            held if collections else None,
        )

    def offered(self, catalogue: Catalogue) -> Update:
        """Offer the licences and tags of a library; without any, there is no choice."""
        stored = catalogue.stored()
        return {self.licences: choice(stored.licences), self.tags: choice(stored.tags)}


def filter_section() -> Filters:
    """Add the filters to the layout that is being built."""
    title = gr.Textbox("", label="Title or file name contains", placeholder="door")
    several: dict[str, Any] = {"value": [], "multiselect": True}
    families = gr.Dropdown(list(CATEGORIES), label="Only these families", **several)
    licences = gr.Dropdown([], label="Only these licences", visible=False, **several)
    tags = gr.Dropdown([], label="Only these tags", visible=False, **several)
    collections = gr.Dropdown([], label="Only these collections", visible=False, **several)
    with gr.Row():
        length: dict[str, Any] = {"value": None, "minimum": 0, "min_width": 100}
        min_seconds = gr.Number(label="At least, s", **length)
        max_seconds = gr.Number(label="At most, s", **length)
    return Filters(title, families, licences, tags, collections, min_seconds, max_seconds)


def choice(names: Sequence[str]) -> gr.Dropdown:
    """Update a filter: what there is to choose from, and nothing chosen."""
    return gr.Dropdown(list(names), value=[], multiselect=True, visible=bool(names))
