"""A visitor's query: their last search with their votes, the sounds that its text names, as chips,
and the filters that limit it.

The chips change the text, which is then English. Their event is edit, with {"action", "number"}:
"link" (in order, or together), "swap" (the other order), "drop" (without one sound), "anyhow" (a
sound however often and long), "whole" (one sound after all).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import gradio as gr
from gradio.components import Component

from earshot.sound_index.sound import EVERYTHING, Filter
from earshot.systems.sound_search.query import as_text, clean, parse, understand
from earshot.systems.sound_search.request import as_caption
from earshot.tabs.shared.events import Update
from earshot.tabs.shared.html import macro
from earshot.tabs.shared.parts import optional_number, read_number
from earshot.tabs.sound_search.catalogue import CATEGORIES, Catalogue, kinds_of

if TYPE_CHECKING:
    from earshot.sound_index.sound import Sound

DEMO: Final = "ours"  # scopes: the library of the demo, the visitor's own sounds, or both
OWN: Final = "mine"
BOTH: Final = "both"
PARTS: Final = "sound_search/search.html"  # templates
RECORDING: Final = "your recording"
Collections = Mapping[str, Sequence[str]]  # name → ids of sounds, in the order they were kept
CHIPS_SCRIPT: Final = """
element.addEventListener("click", (event) => {
  const { action, number } = event.target.closest("button")?.dataset ?? {};
  if (action) trigger("edit", { action, number: Number(number) });
});
"""


@dataclass(frozen=True)
class Search:
    """A visitor's last query, and all of their votes.

    like: the id of a sound, or the path of a recording; like_name: its name on the page. scope:
    DEMO, OWN or BOTH. model: the id of a model of the hub, or "" for ours. only: the sounds that
    may be found. listing, ids: sounds that were chosen instead of searched for, and what they are
    called. labels: query → id of a sound → +1 or -1. count: how many results. mapped: identifies
    the map that the page shows; best: the best sound.
    """

    text: str = ""
    like: str | None = None
    like_name: str = ""
    without: str = ""
    scope: str = DEMO
    model: str = ""
    only: Filter = EVERYTHING
    listing: str = ""
    ids: tuple[str, ...] = ()
    labels: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    count: int = 9
    mapped: str = ""
    best: "Sound | None" = None

    @property
    def name(self) -> str:
        """Name the query, or the list, as the page shows it."""
        if self.listing:
            return self.listing
        parts = [f"“{self.text}”"] if self.text else []
        if self.like:
            name = self.like_name if self.like_name == RECORDING else f"“{self.like_name}”"
            parts.append(f"like {name}")
        without = f", but not “{self.without}”" if self.without else ""
        return " and ".join(parts) + without

    @property
    def query(self) -> str:
        """Name the query as the exported labels do: a text query is its text alone."""
        query = self.text or self.listing
        if self.like:
            # Every recording lies in a folder that is named by a hash of its content.
            query += f" [like {self.like_name} {Path(self.like).parent.name[:8]}]"
        return query + (f" [not {self.without}]" if self.without else "")

    @property
    def votes(self) -> Mapping[str, int]:
        return self.labels.get(self.query, {})

    def listed(self, listing: str, ids: Sequence[str]) -> "Search":
        """List these sounds of the same library instead of a query."""
        return Search(
            scope=self.scope,
            model=self.model,
            listing=listing,
            ids=tuple(ids),
            labels=self.labels,
            mapped=self.mapped,
        )

    def voted(self, sound_id: str, vote: int) -> "Search":
        """Add a vote for a sound to the search, or take it away if the same vote was cast
        before.
        """
        votes = dict(self.votes)
        if votes.pop(sound_id, 0) != vote:
            votes[sound_id] = vote
        labels = {**self.labels, self.query: votes}
        return replace(self, labels={query: votes for query, votes in labels.items() if votes})


def query_chips() -> gr.HTML:
    """Lay out no chips; return chips_html() to show some."""
    return gr.HTML(
        "",
        css_template=Path(__file__).with_name("chips.css").read_text(),
        js_on_load=CHIPS_SCRIPT,
        apply_default_css=False,
        elem_id="query-chips",
    )


def chips_html(text: str) -> str:
    """Show the sounds that a text names, and how they relate; nothing for one sound."""
    _, positive, unwanted = understand(text)
    compound = parse(positive)
    amounts = [amount.name if amount else "" for amount in compound.amounts]
    if not (compound.links or any(amounts) or (positive and unwanted)):
        return ""
    parts = list(zip(compound.captions, amounts, strict=True))
    return macro(PARTS, "chips", parts, compound.links, unwanted)


def edited_text(text: str, action: object, number: object) -> str:
    """Edit the text of the query after a chip was pressed; it is unchanged for an unknown
    action.
    """
    _, positive, unwanted = understand(text)
    compound, behind = parse(positive), f", without {unwanted}" if unwanted else ""
    if action == "whole":
        return f'"{as_caption(text).replace(chr(34), "")}"'
    if not isinstance(number, int):
        return text
    if action == "drop" and 0 <= number < len(compound.parts):
        return as_text(compound.without(number)) + behind
    if action == "anyhow" and 0 <= number < len(compound.parts):
        return as_text(compound.anyhow(number)) + behind
    if 0 <= number < len(compound.links) and action in ("link", "swap"):
        change = compound.toggled if action == "link" else compound.swapped
        return as_text(change(number)) + behind
    return text


@dataclass(frozen=True)
class Filters:
    """The components of the section."""

    title: gr.Textbox
    families: gr.Dropdown
    licences: gr.Dropdown
    tags: gr.Dropdown
    collections: gr.Dropdown
    min_seconds: gr.Textbox
    max_seconds: gr.Textbox

    @property
    def components(self) -> set[Component]:
        return {getattr(self, name) for name in self.__dataclass_fields__}

    def read(self, values: Mapping[Component, Any], own: Collections, demo: bool) -> Filter:
        """Read the filter from the values of the components.

        own: the visitor's collections; demo: whether the library has families. Raises InputError
        for lengths that no sound can have.
        """
        families, collections = values[self.families], values[self.collections]
        longest = read_number(self.max_seconds, values[self.max_seconds], 0)
        members = frozenset(sound for name in collections for sound in own.get(name, ()))
        return Filter(
            clean(values[self.title]),
            read_number(self.min_seconds, values[self.min_seconds], 0) or 0.0,
            math.inf if longest is None else longest,
            kinds_of(families) if families and demo else None,
            frozenset(values[self.licences]) or None,
            frozenset(values[self.tags]),
            members if collections else None,
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
        length: dict[str, Any] = {"empty": "any length", "min_width": 110}
        min_seconds = optional_number("At least, s", **length)
        max_seconds = optional_number("At most, s", **length)
    return Filters(title, families, licences, tags, collections, min_seconds, max_seconds)


def choice(names: Sequence[str]) -> gr.Dropdown:
    """Update a filter: what there is to choose from, and nothing chosen."""
    return gr.Dropdown(list(names), value=[], multiselect=True, visible=bool(names))
