"""The last search of one visitor, and their votes on the results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from earshot.sound_index.sound import EVERYTHING, Filter

if TYPE_CHECKING:
    from earshot.sound_index.sound import Sound

DEMO: Final = "ours"  # scopes: the library of the demo, the visitor's own sounds, or both
OWN: Final = "mine"
BOTH: Final = "both"
RECORDING: Final = "your recording"


@dataclass(frozen=True)
class Search:
    """A visitor's last query, and all of their votes.

    like: the id of a sound, or the path of a recording; like_name: its name on the page. scope:
    DEMO, OWN or BOTH. model: the id of a model of the hub, or "" for ours. only: the sounds that
    may be found. listing, ids: sounds that were chosen instead of searched for, and what they are
    called. labels: query → id of a sound → +1 or -1. shown: how many results. mapped: identifies
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
    shown: int = 9
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
        return replace(self, labels={query: given for query, given in labels.items() if given})
