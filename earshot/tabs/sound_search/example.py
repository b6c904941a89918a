"""The finished search that the page shows first, stored in assets/examples."""

import json
from typing import TYPE_CHECKING, Final

import numpy as np

from earshot.core.paths import ASSETS
from earshot.systems.sound_search.compound import parse

if TYPE_CHECKING:
    from earshot.sound_index.library import Library as Stored
    from earshot.systems.sound_search import SearchResult

FINISHED: Final = ASSETS / "examples" / "finished-search.json"


def write_finished(text: str, result: "SearchResult", fingerprint: str) -> None:
    """Write a search of the demo library for `text`, by the model with this fingerprint."""
    hits = [
        {
            "id": hit.sound.id,
            "score": round(hit.score, 4),
            "part_scores": hit.part_scores.round(4).tolist(),
            "starts": hit.starts,
        }
        for hit in result.hits
    ]
    data = {
        "text": text,
        "fingerprint": fingerprint,
        "matched": result.matched,
        "threshold": result.threshold,
        "point": result.point,
        "compute_seconds": result.compute_seconds,
        "hits": hits,
    }
    FINISHED.write_text(json.dumps(data, indent=1) + "\n")


def read_finished(stored: "Stored", fingerprint: str) -> "tuple[str, SearchResult] | None":
    """Read the query and its result, for an index that the model with this fingerprint made; None
    if the search was made with another model or other sounds.
    """
    if not FINISHED.exists():
        return None
    data = json.loads(FINISHED.read_text())
    known = all(hit["id"] in stored.numbers for hit in data["hits"])
    if data.pop("fingerprint") != fingerprint or not known:
        return None
    from earshot.systems.sound_search import Hit, SearchResult  # late, for it loads torch

    hits = [
        Hit(
            stored.sounds[stored.numbers[hit["id"]]],
            hit["score"],
            np.array(hit["part_scores"], np.float32),
            tuple(hit["starts"]),
        )
        for hit in data.pop("hits")
    ]
    text = data.pop("text")
    shown = {"hits": tuple(hits), "scores": np.zeros(0), "notices": (), "compound": parse(text)}
    return text, SearchResult(**data, **shown)
