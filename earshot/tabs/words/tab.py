"""The words tab: the neighbours of any spoken or typed word among spoken and written words."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

import gradio as gr

from earshot.core.loading import once
from earshot.tabs.shared.parts import how_it_works, missing_model, when_opened
from earshot.tabs.shared.services import Services
from earshot.tabs.words.collection import CollectionSection
from earshot.tabs.words.compare import CompareSection, ThresholdSection
from earshot.tabs.words.events import WordAPI, WordSection
from earshot.tabs.words.find import FindSection
from earshot.tabs.words.side_by_side import SideBySideSection
from earshot.tabs.words.sounds import SoundsSection
from earshot.tabs.words.vocabulary import VocabularySection

if TYPE_CHECKING:
    from earshot.systems.registry import Offer
    from earshot.systems.words import Words
    from earshot.systems.words.library import WordLibrary

MODEL: Final = "words"  # in checkpoints/
INTRO: Final = """
<header class="intro"><h2>Say any word, or type one, and see which words it sounds like.</h2>
<p>One network encodes the sound of a word, another its phonemes, into the same vector space,
whoever the speaker is. Trained on single words of English, Arabic and Mandarin; for sentences,
other languages and songs the neighbours mean nothing.</p></header>
"""


def build(offer: "Offer[Words]", index: Path, services: Services) -> gr.Blocks:
    """Build the tab over the systems that it offers. index: the folder of the library's index, next
    to that of its sounds.
    """
    sounds = index.with_suffix("")
    gr.set_static_paths([sounds])
    with gr.Blocks(title="Words") as tab:
        if offer:
            library = library_getter(offer, index)
            _layout(offer, library, sounds, services)
        else:
            missing_model("words", MODEL, "words")
    return tab


def library_getter(pipeline: Callable[[], "Words"], index: Path) -> Callable[[], "WordLibrary"]:
    """Make a function that returns the library in the folder ``index``, opened at its first call.

    It raises InputError where the library is missing or damaged, or was made by another model.
    """

    def load() -> "WordLibrary":
        from earshot.systems.words.library import WordLibrary  # late, for it loads torch

        return WordLibrary.open(index, pipeline().fingerprint)

    return once(load)


def _layout(
    offer: "Offer[Words]",
    library: Callable[[], "WordLibrary"],
    sounds: Path,
    services: Services,
) -> None:
    gr.HTML(INTRO)
    words = WordSection(offer, library, sounds, services.drafts)
    FindSection(offer)
    words.lay_out_neighbours()
    CollectionSection(offer)
    for section in (SoundsSection, CompareSection, ThresholdSection, VocabularySection):
        section(offer, library)
    SideBySideSection(offer, library, services)
    how_it_works(__file__)
    WordAPI(offer, library).declare(words.recording, words.text)
    words.wire(when_opened())
