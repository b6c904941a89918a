"""What one visitor searched for, and how its result is shown."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Final

import gradio as gr

from tabs.components.map.map import Star, show
from tabs.components.timeline.timeline import File
from tabs.sound_search.cards import cards_value, panel
from tabs.sound_search.catalogue import Shelf
from tabs.sound_search.library import Library

if TYPE_CHECKING:
    from pipelines.sound_search import SearchResult
    from study.design.draft import Take

OURS: Final = "ours"  # where to search
MINE: Final = "mine"
FIRST: Final = (
    '<p class="no-match">Describe a sound in your own words, or try an example: the sounds that '
    "fit best appear here, each with the place where it does.</p>"
)
RECORDING: Final = "your recording"


@dataclass(frozen=True)
class Search:
    """What a visitor asked for last, and all that they judged.

    like: the id of a sound, or the path of a recording; like_name: what the page calls it. place:
    OURS or MINE. labels: query → id of a sound → +1 or -1. mapped: which sounds the map shows;
    best: the file of the sound that fits best.
    """

    text: str = ""
    like: str | None = None
    like_name: str = ""
    without: str = ""
    place: str = OURS
    labels: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    mapped: str = ""
    best: Path | None = None

    @property
    def name(self) -> str:
        """The query as the page says it."""
        parts = [f"“{self.text.strip()}”"] if self.text.strip() else []
        if self.like:
            name = self.like_name if self.like_name == RECORDING else f"“{self.like_name}”"
            parts.append(f"like {name}")
        without = f", but not “{self.without.strip()}”" if self.without.strip() else ""
        return " and ".join(parts) + without

    @property
    def query(self) -> str:
        """The query as the labels say it: the words, as they are where there is nothing else."""
        words = self.text.strip()
        if self.like:
            # Every recording has a folder of its own, named after its content.
            words += f" [like {self.like_name} {Path(self.like).parent.name[:8]}]"
        return words + (f" [not {self.without.strip()}]" if self.without.strip() else "")

    @property
    def votes(self) -> Mapping[str, int]:
        return self.labels.get(self.query, {})

    def voted(self, sound: str, vote: int) -> "Search":
        """The same with a vote for a sound, or without it if it was cast already."""
        votes = dict(self.votes)
        if votes.pop(sound, 0) != vote:
            votes[sound] = vote
        labels = {**self.labels, self.query: votes}
        return replace(self, labels={query: given for query, given in labels.items() if given})


def shown(search: Search, result: "SearchResult", shelf: Shelf, note: str = "") -> tuple:
    """What the result's components show → search, found, best, map, rest, labels. note: said
    beside the numbers."""
    hits = result.hits
    star = Star(*result.point, search.name, [hit.sound.id for hit in hits])
    mapped = _mapped(search, shelf)
    chart = shelf.chart() if search.mapped != mapped else None
    if result.matched:
        best = cards_value(result, hits[:1], shelf, search.votes)
        rest = cards_value(result, hits[1:], shelf, search.votes)
    else:
        best = panel(_no_match(search, result))
        fold = f"Show the {len(hits)} nearest sounds all the same"
        rest = cards_value(result, hits, shelf, search.votes, fold) if hits else panel("")
    found, labels = _found(search, result, shelf, note), _labels(search, shelf)
    search = replace(search, mapped=mapped, best=hits[0].sound.path if hits else None)
    return search, found, best, show(star, chart), rest, labels


def take(search: Search) -> "Take | None":
    """The sound that fits best, for a listening test on what was searched for."""
    if search.best is None or not search.best.exists():
        return None
    from study.design.draft import Take  # late, for it loads scipy

    settings = {"query": search.query, "file": search.best.name}
    return Take("sound search", search.best.read_bytes(), search.name, settings)


def waiting(search: Search, shelf: Shelf | None) -> tuple:
    """The same before a search: the map alone, where there is one."""
    if shelf is None:
        return search, "", panel(FIRST), gr.skip(), panel(""), gr.skip()
    search = replace(search, mapped=_mapped(search, shelf))
    chart = show(None, shelf.chart())
    return search, "", panel(FIRST), chart, panel(""), _labels(search, shelf)


def _mapped(search: Search, shelf: Shelf) -> str:
    return f"{search.place} {hash(shelf.stored().layout.tobytes())}"


def _found(search: Search, result: "SearchResult", shelf: Shelf, note: str) -> str:
    top = max((hit.score for hit in result.hits), default=None)
    best = "" if top is None else f"best score <b>{top:.2f}</b> · "
    also = f" · {escape(note)}" if note else ""
    return (
        f"<h3>{escape(search.name)}</h3><p>{best}<b>{len(shelf.sounds)}</b> sounds searched in "
        f"<b>{1000 * result.seconds:.0f}</b> ms{also}</p>"
    )


def _no_match(search: Search, result: "SearchResult") -> str:
    return (
        f'<div class="no-match" role="status"><h3>Nothing here matches {escape(search.name)}.</h3>'
        f"<p>What fits scores {result.threshold:.2f} or more, and no sound here does. Say it in "
        "other words, or look at what comes nearest, below.</p></div>"
    )


def _labels(search: Search, shelf: Shelf) -> gr.DownloadButton:
    """The download of all votes as graded labels; hidden where there are none."""
    count = sum(map(len, search.labels.values()))
    if not count or not isinstance(shelf, Library):
        return gr.DownloadButton(visible=False)
    from pipelines.sound_search import labels_csv  # late, for it loads torch

    table = File("Labels", "labels.csv", labels_csv(shelf.index, search.labels).encode())
    label = f"Export {count} label{'s' if count > 1 else ''} (CSV)"
    return gr.DownloadButton(label, value=table.data()["path"], visible=True)
