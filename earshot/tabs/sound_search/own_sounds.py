"""A visitor's own sounds: adding files, folders and recordings, and which library is searched."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import gradio as gr
from gradio.components import Component

from earshot.core.errors import InputError
from earshot.tabs.shared.events import HIDDEN, Update, empty_after, say
from earshot.tabs.shared.parts import Section
from earshot.tabs.shared.sessions import SessionStore
from earshot.tabs.sound_search.events import SoundEvents
from earshot.tabs.sound_search.library import Remark, VisitorLibrary
from earshot.tabs.sound_search.query import BOTH, DEMO, OWN, Search

INTRO: Final = """<p class="hint">Search your own recordings: up to 200 files, 2 hours
together. Nobody else sees them. They leave the library when you do, and are deleted within the
hour.</p>"""
EMPTY: Final = "There are no files in this. Choose files, or a folder with sounds in it."
DELETED: Final = "Your sounds are deleted."
MAX_NAMED: Final = 8  # remarks on files that a message lists


class OwnSounds(Section):
    """The section, whose handlers take the visitor's library, and return it. events: of the tab,
    which wire is given.
    """

    events: SoundEvents

    def __init__(self, own: gr.State, sessions: SessionStore[VisitorLibrary]) -> None:
        """Lay the section out. own: holds the visitor's library."""
        self.own, self.sessions = own, sessions
        gr.HTML(INTRO)
        with gr.Row():
            several: dict[str, Any] = {"size": "sm", "min_width": 120}
            files = gr.UploadButton("Add files", file_count="multiple", **several)
            folder = gr.UploadButton("Add a folder", file_count="directory", **several)
        self.buttons = [files, folder]
        self.recorder = gr.Audio(
            sources=["microphone"],
            type="filepath",
            label="Record a sound into them",
            buttons=[],
            elem_id="record-own",
            elem_classes="records",
        )
        self.stop = gr.Button("Stop adding", size="sm", visible=False)
        self.message = gr.HTML(elem_id="own-sounds-message")
        libraries = [("Earshot’s sounds", DEMO), ("My sounds", OWN), ("Both", BOTH)]
        self.scope = gr.Radio(libraries, value=DEMO, label="Search in", visible=False)
        self.contents = gr.HTML(elem_classes="numbers")
        self.delete = gr.Button("Delete my sounds", size="sm", visible=False)

    def wire(self, events: SoundEvents) -> None:
        """Connect the section with the rest of the tab."""
        self.events = events
        search, outputs = events.result.search, events.components.outputs
        library: list[Component] = [self.own, self.scope, self.contents, self.message]
        added = [(button.upload, button) for button in self.buttons]
        for trigger, source in (*added, (self.recorder.stop_recording, self.recorder)):
            run = self.on_model(
                trigger,
                self.add,
                [source, search, self.own],
                [*outputs, *library],
                progress_on=self.message,
                start=self.buttons[0] if source is self.recorder else source,
                stop=self.stop,
            )
            if source is self.recorder:
                empty_after(run, self.recorder)
        self.own.change(lambda own: gr.Button(visible=bool(own)), self.own, self.delete, **HIDDEN)
        deleted = self.delete.click(self.forget, self.own, library, **HIDDEN)
        deleted.then(events.first_look, outputs=outputs, **HIDDEN)
        switched = [self.message, *outputs]
        self.on(self.scope.input, self.switch, [search, self.own, self.scope], switched)

    def add(
        self,
        files: Sequence[str] | str | None,
        past: Search,
        own: VisitorLibrary | None,
        request: gr.Request,
        progress: gr.Progress = gr.Progress(),  # noqa: B008  (how Gradio asks for it)
    ) -> Iterator[Update]:
        """Add uploads, or a recording, to the visitor's library."""
        files = [files] if isinstance(files, str) else files or []
        if not files:
            raise InputError(EMPTY)
        progress(0, desc="Getting ready")
        own = self.sessions.of(own, request)
        cleared = own.cleared
        own.embed_by(self.events.systems(past.model)[0], progress)
        search = Search(scope=OWN, labels=past.labels, model=past.model)
        for done, skipped, noticed in own.add(files):
            if own.cleared > cleared:  # the visitor deleted them meanwhile: what came since as well
                own.clear()
                return
            progress((done, len(files)), desc="Embedding your sounds", unit="files")
            yield {
                **self.events.wait(search, own),
                self.message: remarks_message(skipped, noticed),
                self.own: own,
                self.scope: gr.Radio(value=OWN, visible=True),
                self.contents: _contents(own),
            }

    def forget(self, own: VisitorLibrary | None) -> Update:
        """Delete the visitor's library."""
        if own:
            own.clear()
        return {
            self.own: None,
            self.scope: gr.Radio(value=DEMO, visible=False),
            self.contents: DELETED,
            self.message: "",
        }

    def switch(self, past: Search, own: VisitorLibrary | None, scope: str) -> Update:
        """Switch to the other library."""
        search = Search(scope=scope, labels=past.labels, model=past.model)
        return self.events.wait(search, self.events.library(search, own))


def remarks_message(skipped: Sequence[Remark], noticed: Sequence[Remark]) -> str:
    """Write a message that lists the files that were not added, each with the reason, and what
    there is to say of those that were."""
    lists = (("Not added: ", skipped), ("Added: ", noticed))
    return say(" ".join(f"{head}{_listed(remarks)}" for head, remarks in lists if remarks))


def _listed(remarks: Sequence[Remark]) -> str:
    by_text: dict[str, list[str]] = {}
    for name, text in remarks[:MAX_NAMED]:
        by_text.setdefault(text, []).append(name)
    named = " ".join(f"{', '.join(names)}: {text}" for text, names in by_text.items())
    more = f" And {len(remarks) - MAX_NAMED} more." if len(remarks) > MAX_NAMED else ""
    return f"{named}{more}"


def _contents(own: VisitorLibrary) -> str:
    minutes = f"{own.seconds / 60:.1f} minutes" if own.seconds >= 60 else f"{own.seconds:.0f} s"
    count = len(own.sounds)
    return f"<b>{count}</b> sound{'s' if count != 1 else ''} of yours, <b>{minutes}</b>"
