"""Another system beside ours: the recordings of the library on the maps of both, and which of them
are nearest to the same word by one of the two only.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import gradio as gr
import numpy as np
from markupsafe import Markup

from earshot.core.errors import InputError
from earshot.systems.registry import Offer
from earshot.tabs.components.map import Chart, Point, show, sound_map
from earshot.tabs.components.side_by_side import about_systems
from earshot.tabs.shared.events import SYSTEMS_QUEUE, Update
from earshot.tabs.shared.html import render
from earshot.tabs.shared.parts import Section
from earshot.tabs.shared.services import Services
from earshot.tabs.words.view import SOUNDS, first_sound, named

if TYPE_CHECKING:
    from earshot.systems.plugged import PluggedEmbedder
    from earshot.systems.words import Words
    from earshot.systems.words.library import LibraryWord, WordLibrary

MAX_COMPARED: Final = 300  # recordings, which a slow system takes a minute for
MAX_LISTED: Final = 12  # words of which only one system is right
HINT: Final = (
    "Recordings of the library by another system, and by ours. A pretrained speech model, never "
    "trained on single words, gives the mean of a layer's states."
)
MAX_SECONDS: Final = 3600.0  # of a comparison, of which a download may be a part
NO_SYSTEM: Final = "Choose a system first."


@dataclass(frozen=True)
class SystemComparison:
    """A comparison of another system with ours on the recordings of the library that another voice
    speaks too. theirs, ours: vectors (N, D) by each, or rows (N,) of similarities where a system
    has none; right, our_right: whether the nearest recording by another voice is the same word,
    (N,).
    """

    words: Sequence["LibraryWord"]
    theirs: np.ndarray
    ours: np.ndarray
    right: np.ndarray
    our_right: np.ndarray

    @classmethod
    def of(
        cls,
        system: "PluggedEmbedder",
        library: "WordLibrary",
        progress: Callable[[int, int], None],
    ) -> "SystemComparison":
        """Embed recordings of the library (see spread), or measure how far they are from each other
        where the system has no vectors: then a row of that stands for one.
        """
        from earshot.systems.words.comparison import nearest_is_same_word

        rows = spread(library)
        words = [library.words[row] for row in rows]
        encoded = []
        for done, word in enumerate(words):
            progress(done, len(words))
            assert word.path
            encoded.append(system.encode(_word_in(word.path), word.path.stem))
        ours = np.asarray(library.vectors[rows])
        if system.has_vectors:
            theirs = np.stack(encoded)
            similarities = theirs @ theirs.T
        else:
            theirs = similarities = -np.stack([system.distances(one, encoded) for one in encoded])
        spellings, voices = [w.spelling for w in words], [str(w.voice) for w in words]
        right = nearest_is_same_word(similarities, spellings, voices)
        our_right = nearest_is_same_word(ours @ ours.T, spellings, voices)
        shared = ~np.isnan(right)
        words = [word for word, is_shared in zip(words, shared, strict=True) if is_shared]
        return cls(words, theirs[shared], ours[shared], right[shared] > 0, our_right[shared] > 0)

    def charts(self, label: str) -> tuple[Chart, Chart]:
        """Draw the map of the other system, and of ours, by t-SNE, coloured by first sound."""
        return self._chart(self.theirs, label), self._chart(self.ours, "our network")

    def _chart(self, vectors: np.ndarray, label: str) -> Chart:
        from earshot.sound_index.nearest import map_layout  # late, for it loads scikit-learn

        places = map_layout(vectors).tolist()
        points = [
            Point(word.id, x, y, named(word), first_sound(word.phonemes), word.path)
            for word, (x, y) in zip(self.words, places, strict=True)
        ]
        return Chart(f"Map of {len(points)} recordings by {label}", points, tuple(SOUNDS))

    def line(self, label: str) -> Markup:
        """Write how often each is right, and of which words only one of them, as HTML."""
        sides = {
            f"Right by {label} only": self.right & ~self.our_right,
            "Right by ours only": self.our_right & ~self.right,
        }
        lists = {
            title: [named(word) for word, only in zip(self.words, rows, strict=True) if only]
            for title, rows in sides.items()
        }
        shares = self.right.mean(), self.our_right.mean()
        return render(
            "words/side_by_side.html",
            label=label,
            shares=[f"{share:.0%}" for share in shares],
            count=len(self.words),
            lists=lists,
            most=MAX_LISTED,
        )


def _word_in(path: Path) -> np.ndarray:
    """Cut the word out of a recording of the library: all of it, where no speech is detected."""
    from earshot.media.audio.load import load
    from earshot.systems.words.spoken_word import find_word  # late, for they load torch

    try:
        return find_word(path, None).waveform
    except InputError:
        return load(path).waveform


def spread(library: "WordLibrary") -> list[int]:
    """Choose rows of recordings for a comparison, MAX_COMPARED at most: all of a spelling, of
    spellings that are spread over the library."""
    groups: dict[str, list[int]] = {}
    for row in map(int, library.spoken):
        groups.setdefault(library.words[row].spelling, []).append(row)
    step = max(1, -(-len(library.spoken) // MAX_COMPARED))
    rows = [row for spelling in sorted(groups)[::step] for row in groups[spelling]]
    return rows[:MAX_COMPARED]


class SideBySideSection(Section):
    """The folded section, to be made inside a gr.Blocks: choose a system, and see its map beside
    ours.
    """

    def __init__(
        self,
        offer: "Offer[Words]",
        library: Callable[[], "WordLibrary"],
        services: Services,
    ) -> None:
        """Lay it out. offer: the systems of the tab."""
        self.library, self.offer = library, offer
        with gr.Accordion("Side by side", open=False):
            gr.HTML(about_systems(HINT, offer, services.plug_in_faults))
            first = offer.choices[0][1] if offer.plugged else None
            self.system = gr.Dropdown(offer.choices, value=first, label="System")
            with gr.Row(elem_classes="rates-button"):
                start = gr.Button("Compare with ours", size="sm", scale=0, min_width=160)
                stop = gr.Button("Stop", size="sm", scale=0, min_width=160, visible=False)
            self.message = gr.HTML()
            self.numbers = gr.HTML(elem_classes="numbers")
            with gr.Row():
                self.maps = [sound_map("map-by-system"), sound_map("map-by-ours")]
            self.on_model(
                start.click,
                self.compare,
                [self.system],
                [self.message, self.numbers, *self.maps],
                progress_on=self.maps[0],
                start=start,
                stop=stop,
                queue=SYSTEMS_QUEUE,
                seconds=MAX_SECONDS,
            )

    def compare(
        self,
        name: Any,
        progress: gr.Progress = gr.Progress(),  # noqa: B008  (how Gradio asks for it)
    ) -> Update:
        """Embed the library by a system, and show its map, and how it compares with ours."""
        if name not in self.offer.plugged:
            raise InputError(NO_SYSTEM)
        label = self.offer.plugged[name]
        progress(0, desc=f"Loading {label}")
        system = self.offer.any(name)

        def report(done: int, total: int) -> None:
            progress((done, total), desc=f"Embedding by {label}", unit="words")

        comparison = SystemComparison.of(system, self.library(), report)
        maps = zip(self.maps, comparison.charts(label), strict=True)
        return {
            self.message: "",
            self.numbers: comparison.line(label),
            **{place: show(None, chart) for place, chart in maps},
        }
