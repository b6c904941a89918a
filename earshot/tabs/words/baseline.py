"""A pretrained speech model of the hub: the recordings of the library on the map that it makes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import gradio as gr
import numpy as np

from earshot.tabs.components.hub_picker import HubModels, Kind, hub_picker
from earshot.tabs.components.map import Chart, Point, show, sound_map
from earshot.tabs.shared.events import Update
from earshot.tabs.shared.parts import Section
from earshot.tabs.shared.services import Services
from earshot.tabs.words.view import SOUNDS, first_sound, named

if TYPE_CHECKING:
    from earshot.pretrained.speech_encoder import SpeechEncoder
    from earshot.systems.words.comparison import AveragedStates
    from earshot.systems.words.library import LibraryWord, WordLibrary

KIND: Final = Kind(
    ("hubert", "wavlm", "wav2vec2", "moonshine"),
    {
        "facebook/hubert-base-ls960": "0.4 GB",
        "microsoft/wavlm-base-plus": "0.4 GB",
        "facebook/wav2vec2-base": "0.4 GB",
        "UsefulSensors/moonshine-tiny": "0.1 GB",
    },
)
LAYERS: Final = (
    "Of the Transformer, from 1, with commas between several. Empty: the one at three quarters of "
    "its depth."
)
HINT: Final = """<p class="hint">HuBERT, WavLM, wav2vec 2.0 or Moonshine, never trained on single
words, instead of our acoustic network: the mean of a layer's states over each recording of the
library (<a href="https://arxiv.org/abs/2210.16043" target="_blank">Sanabria, Tang and
Goldwater</a>). It has no written view, so written words are left out.</p>"""


@dataclass(frozen=True)
class ModelComparison:
    """A comparison of another model with ours: vectors (N, D) of the library's recordings by the
    other model, and of how many the nearest recording by another voice is the same word: by it, and
    by ours, from 0 to 1.
    """

    words: Sequence["LibraryWord"]
    vectors: np.ndarray
    p_at_1: float
    ours: float

    @classmethod
    def of(
        cls,
        view: "AveragedStates",
        library: "WordLibrary",
        progress: Callable[[int, int], None],
    ) -> "ModelComparison":
        """Embed all recordings of the library by the view."""
        from earshot.systems.words.comparison import nearest_is_same_word
        from earshot.systems.words.spoken_word import find_word  # late, for they load torch

        words = [library.words[row] for row in library.spoken]
        vectors = []
        for done, word in enumerate(words):
            progress(done, len(words))
            vectors.append(view.embed_waveforms([find_word(word.path, None).waveform])[0])
        spellings, voices = [w.spelling for w in words], [str(w.voice) for w in words]
        theirs = np.stack(vectors)
        return cls(
            words,
            theirs,
            nearest_is_same_word(theirs, spellings, voices),
            nearest_is_same_word(library.vectors[library.spoken], spellings, voices),
        )

    def chart(self, name: str) -> Chart:
        """Draw the map of the recordings, by t-SNE, coloured by their first sound."""
        from earshot.sound_index.nearest import map_layout  # late, for it loads scikit-learn

        places = map_layout(self.vectors).tolist()
        points = [
            Point(word.id, x, y, named(word), first_sound(word.phonemes), word.path)
            for word, (x, y) in zip(self.words, places, strict=True)
        ]
        return Chart(f"Map of {len(points)} recordings by {name}", points, tuple(SOUNDS))


class BaselineSection(Section):
    """The folded section, to be made inside a gr.Blocks: choose a model, and see the map that it
    makes.
    """

    def __init__(self, library: Callable[[], "WordLibrary"], services: Services) -> None:
        """Lay it out."""

        def load(name: str, folder: Path) -> "SpeechEncoder":
            from earshot.pretrained.speech_encoder import SpeechEncoder  # late, for it loads torch

            return SpeechEncoder.from_pretrained(str(folder), services.device)

        self.library, self.models = library, HubModels(KIND, services.hub, load)
        with gr.Accordion("Compare with a pretrained speech model", open=False):
            gr.HTML(HINT)
            if picker := hub_picker(self.models, "Model"):
                layers = gr.Textbox("", label="Layer", info=LAYERS, max_lines=1)
                self.numbers = gr.HTML(elem_classes="numbers")
                self.chart = sound_map("baseline-map")
                picker.wire(self.compare, [layers], [self.numbers, self.chart], self.chart)

    def compare(
        self,
        name: str,
        layers: str,
        progress: gr.Progress = gr.Progress(),  # noqa: B008  (how Gradio asks for it)
    ) -> Update:
        """Embed the library by a model, and show its map, and how it compares with ours."""
        from earshot.systems.words.comparison import AveragedStates

        encoder = self.models.load(name, progress).at(layers)

        def report(done: int, total: int) -> None:
            progress((done, total), desc=f"Embedding by {name}", unit="words")

        comparison = ModelComparison.of(AveragedStates(encoder), self.library(), report)
        return {
            self.numbers: _line(comparison, ", ".join(map(str, encoder.layers))),
            self.chart: show(None, comparison.chart(name)),
        }


def _line(comparison: ModelComparison, layers: str) -> str:
    return (
        f"Nearest recording by another voice is the same word: <b>{comparison.p_at_1:.0%}</b> by "
        f"layer <b>{layers}</b>, <b>{comparison.ours:.0%}</b> by ours, of "
        f"<b>{len(comparison.words)}</b> recordings"
    )
