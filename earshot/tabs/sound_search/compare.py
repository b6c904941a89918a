"""Two sounds side by side, A and B: one playhead, which stays where it is on changing sides."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import gradio as gr

from earshot.core.errors import InputError
from earshot.tabs.components.lanes import Spectrogram
from earshot.tabs.components.timeline import Action, File, TimelineSpec, nothing, timeline
from earshot.tabs.shared.events import HIDDEN, SHOW, Update
from earshot.tabs.shared.gradio_internals import event_data
from earshot.tabs.shared.parts import Section
from earshot.tabs.shared.sessions import MAX_AGE
from earshot.tabs.sound_search.catalogue import MAX_PICTURE_SECONDS, Catalogue, title
from earshot.tabs.sound_search.events import sound_id
from earshot.tabs.sound_search.library import DemoLibrary, VisitorLibrary
from earshot.tabs.sound_search.view import GONE, NYQUIST

if TYPE_CHECKING:
    from earshot.sound_index.sound import Sound

SIDES: Final = "AB"
ONE: Final = "A is “{name}”. Press “A/B” on another sound to hear them side by side."
TOO_LONG: Final = (
    f"Sounds of more than {MAX_PICTURE_SECONDS / 60:.0f} minutes cannot be compared here."
)

Pair = tuple[str, ...]  # ids of at most two sounds: A, B


def joined(pair: Pair, sound_id: str) -> Pair:
    """Put a sound into the pair as A, or as B in the place of another; take it out where it is
    in.
    """
    if sound_id in pair:
        return tuple(other for other in pair if other != sound_id)
    return (*pair[:1], sound_id)


def changed(pair: Pair, action: object) -> Pair:
    """Change the pair after a button of the panel was pressed: "swap" or "close"."""
    return {"swap": pair[::-1], "close": ()}.get(str(action), pair)


def compared(pair: Pair, catalogues: Sequence[Catalogue]) -> dict[str, Any]:
    """Make the value of the panel. Raises InputError for a sound that is in none of the catalogues,
    has lost its file, or is too long.
    """
    sounds = [_find(sound_id, catalogues) for sound_id in pair]
    if len(sounds) < len(SIDES):
        return nothing(ONE.format(name=title(sounds[0][1])) if sounds else "")
    lanes, tracks = [], []
    for side, (catalogue, sound) in zip(SIDES, sounds, strict=True):
        label, picture = f"{side}: {title(sound)}", _picture(catalogue, sound)
        lanes.append(Spectrogram(label, picture, sound.seconds, nyquist=NYQUIST))
        tracks.append(File(side, sound.name, catalogue.served(sound)))
    return TimelineSpec(
        name="Two sounds, A and B, with one playhead",
        lanes=lanes,
        tracks=tracks,
        actions=[
            Action("swap", "Exchange", needs_cells=False),
            Action("close", "Close", needs_cells=False),
        ],
        plays=True,
    ).value()


class CompareSection(Section):
    """The panel, whose handlers take the pair, and return it. demo: the library of the demo."""

    def __init__(self, demo: DemoLibrary) -> None:
        """Lay out the pair and the panel, which is hidden at first."""
        self.demo = demo
        self.pair = gr.State((), time_to_live=MAX_AGE)
        self.panel = timeline("compared", "")
        self.panel.visible = False

    def wire(self, message: gr.HTML, cards: Sequence[gr.HTML], own: gr.State) -> None:
        """Connect the cards and the panel. own: holds the visitor's library."""
        self.message = message
        outputs = [message, self.pair, self.panel]
        for triggers, handler in (
            ([component.select for component in cards], self.choose),
            (self.panel.edit, self.change),
        ):
            run = self.on(triggers, handler, [self.pair, own], outputs)
            run.then(js=SHOW % self.panel.elem_id, **HIDDEN)

    def choose(self, pair: Pair, own: VisitorLibrary | None, event: gr.EventData) -> Update:
        """Take the sound whose button was pressed as A, as B, or out again."""
        return self._update(joined(pair, sound_id(event)), own)

    def change(self, pair: Pair, own: VisitorLibrary | None, event: gr.EventData) -> Update:
        """Exchange A and B, or close the panel."""
        return self._update(changed(pair, event_data(event).get("action")), own)

    def leave(self, pair: Pair) -> Update:
        """Close the panel for a new search; a sound that waits for another to compare stays."""
        if len(pair) < len(SIDES):
            return {self.pair: pair}
        return {self.pair: (), self.panel: gr.HTML(nothing(""), visible=False)}

    def _update(self, pair: Pair, own: VisitorLibrary | None) -> Update:
        catalogues = [self.demo.catalogue()[1], *([own] if own else [])]
        panel = gr.HTML(compared(pair, catalogues), visible=bool(pair))
        return {self.message: "", self.pair: pair, self.panel: panel}


def _find(sound_id: str, catalogues: Sequence[Catalogue]) -> "tuple[Catalogue, Sound]":
    for catalogue in catalogues:
        stored = catalogue.stored()
        if sound_id in stored.numbers:
            return catalogue, stored.sounds[stored.numbers[sound_id]]
    raise InputError(GONE)


def _picture(catalogue: Catalogue, sound: "Sound") -> str:
    if not (picture := catalogue.picture(sound)):
        raise InputError(TOO_LONG)
    return picture
