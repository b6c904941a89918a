"""Which sounds a search may find: the filters of the tab, beside what the query means."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr
from gradio.components import Component

from earshot.pipelines.sound_search.library.filter import Filter
from earshot.pipelines.sound_search.search.query import clean
from earshot.tabs.sound_search.catalogue import Catalogue
from earshot.tabs.sound_search.families import CATEGORIES, kinds_of
from earshot.tabs.sound_search.kept_collections import Collections


@dataclass(frozen=True)
class Filters:
    """The components, in the order in which `chosen` takes their values."""

    title: gr.Textbox
    families: gr.Dropdown
    licences: gr.Dropdown
    tags: gr.Dropdown
    collections: gr.Dropdown
    shortest: gr.Number
    longest: gr.Number

    @property
    def components(self) -> list[Component]:
        return [getattr(self, name) for name in self.__dataclass_fields__]

    def offered(self, catalogue: Catalogue) -> dict[Component, Any]:
        """The licences and tags of a library to choose from; without any, there is no choice."""
        stored = catalogue.stored()
        return {self.licences: choice(stored.licences), self.tags: choice(stored.tags)}


def filter_section() -> Filters:
    """The filters, in the layout that is being built."""
    title = gr.Textbox("", label="Title or file name contains", placeholder="door")
    several: dict[str, Any] = {"value": [], "multiselect": True}
    families = gr.Dropdown(list(CATEGORIES), label="Only these families", **several)
    licences = gr.Dropdown([], label="Only these licences", visible=False, **several)
    tags = gr.Dropdown([], label="Only these tags", visible=False, **several)
    collections = gr.Dropdown([], label="Only these collections", visible=False, **several)
    with gr.Row():
        length: dict[str, Any] = {"value": None, "minimum": 0, "min_width": 100}
        shortest = gr.Number(label="At least, s", **length)
        longest = gr.Number(label="At most, s", **length)
    return Filters(title, families, licences, tags, collections, shortest, longest)


def chosen(
    kept: Collections,
    demo: bool,
    title: str,
    families: Sequence[str],
    licences: Sequence[str],
    tags: Sequence[str],
    collections: Sequence[str],
    shortest: float | None,
    longest: float | None,
) -> Filter:
    """The filter. kept: the visitor's collections; demo: whether the library has families.

    Raises InputError for lengths that no sound can have.
    """
    held = frozenset(sound for name in collections for sound in kept.get(name, ()))
    return Filter(
        clean(title),
        shortest or 0.0,
        longest or math.inf,  # the page shows an empty number as 0, and sends that
        kinds_of(families) if families and demo else None,
        frozenset(licences) or None,
        frozenset(tags),
        held if collections else None,
    )


def choice(names: Sequence[str]) -> gr.Dropdown:
    """An update of a filter: what there is to choose from, and nothing chosen."""
    return gr.Dropdown(list(names), value=[], multiselect=True, visible=bool(names))
