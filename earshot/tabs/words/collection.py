"""Find a word in many recordings: a ready collection, or a visitor's own files, as a ranked list of
places to play and to take away.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import gradio as gr
from markupsafe import Markup

from earshot.core import cancellation
from earshot.core.errors import InputError
from earshot.core.loading import once
from earshot.core.paths import ASSETS
from earshot.media.constants import SAMPLE_RATE
from earshot.tabs.components.timeline import File
from earshot.tabs.shared.events import HIDDEN, Update, say
from earshot.tabs.shared.html import macro
from earshot.tabs.shared.parts import Section, chips, sound_input
from earshot.tabs.shared.sessions import SessionStore, delete_after_use
from earshot.tabs.words.panel import PANELS, Label, word_panel

if TYPE_CHECKING:
    from earshot.systems.words import Words
    from earshot.systems.words.word_index import FoundHits, WordIndex

COLLECTION: Final = ASSETS / "word_collection.index"
READY, OWN = "ready", "own"  # which recordings are searched
MAX_FILES: Final = 20  # of a visitor
MAX_SECONDS: Final = 600.0  # of each
MAX_PLACES: Final = 100  # places of a search
MAX_LISTED: Final = 20  # of these, on the page; the files hold all
EXAMPLES: Final = ("umbrella", "lighthouse", "elephant", "thunder", "cinnamon", "Jupiter")
HINT: Final = """<p class="hint">One word in all recordings at once: half an hour read by six
synthetic voices, or your own files, up to 20 of ten minutes each, videos too. Hours:
<code>earshot words index FOLDER -o INDEX</code>.</p>"""
EMPTY: Final = "Every place where the word is said appears here, the surest first."
NO_FILES: Final = "There are no recordings of yours yet. Add files or a folder."
GONE: Final = "Your recordings are deleted."
NONE: Final = "“{word}” was not found. The nearest places:"


class OwnRecordings:
    """A visitor's recordings, as an index in a folder of their own that is deleted with it."""

    def __init__(self) -> None:
        self._folder = TemporaryDirectory(prefix="words-")
        self.count = 0

    @property
    def path(self) -> Path:
        return Path(self._folder.name)

    def add(
        self, files: Sequence[str], words: "Words", progress: gr.Progress
    ) -> Iterator[tuple[str, str]]:
        """Add files; yields the name of each that cannot be used, with the reason, and of those
        with notices."""
        from earshot.systems.words import word_index  # late, for it loads torch

        word_index.begin(self.path, self.path, words)
        for number, file in enumerate(map(Path, files)):
            cancellation.check()
            progress((number, len(files)), desc="Listening to your recordings", unit="files")
            if self.count >= MAX_FILES:
                yield file.name, f"There is room for {MAX_FILES} files only."
                continue
            try:
                with delete_after_use(str(file)):
                    name = f"{self.count + 1}. {file.name}"
                    recording = word_index.add(self.path, file, name, words, MAX_SECONDS)
                self.count += 1
                for notice in recording.notices:
                    yield file.name, notice
            except (InputError, OSError) as error:
                yield file.name, str(error)

    def clear(self) -> None:
        """Delete the recordings."""
        self.count = 0
        for path in self.path.iterdir():
            path.unlink(missing_ok=True)


class CollectionSection(Section):
    """The accordion, to be made inside a gr.Blocks: recordings, a word, and where it is in them."""

    def __init__(self, pipeline: Callable[[], "Words"]) -> None:
        """Lay it out. pipeline returns the same object each time."""
        self.pipeline = pipeline
        self.ready = once(self._open_ready)
        self.store = SessionStore(OwnRecordings)
        self.own = self.store.state()
        with (
            gr.Accordion("Find a word in many recordings", open=False),
            gr.Row(elem_classes="room"),
        ):
            with gr.Column(scale=1, min_width=300, elem_classes="room-input"):
                gr.HTML(HINT)
                choices = [("The collection", READY), ("My recordings", OWN)]
                self.scope = gr.Radio(choices, value=READY, label="Search in")
                with gr.Row():
                    several: dict[str, Any] = {"size": "sm", "min_width": 120}
                    files = gr.UploadButton("Add files", file_count="multiple", **several)
                    folder = gr.UploadButton("Add a folder", file_count="directory", **several)
                self.contents = gr.HTML(elem_classes="numbers")
                self.delete = gr.Button("Delete my recordings", size="sm", visible=False)
                text = gr.Textbox("", label="Word to find", placeholder="umbrella", max_lines=1)
                spoken = sound_input("Or say the word to look for")
                self.message = gr.HTML()
                run = gr.Button("Find it everywhere", variant="primary")
                stop = gr.Button("Stop", visible=False)
                examples = chips(EXAMPLES)
            with gr.Column(scale=2, min_width=320, elem_classes="room-result"):
                self.places = word_panel("collection-places", EMPTY)
        inputs, outputs = [text, spoken, self.scope, self.own], [self.message, self.places]
        job: dict[str, Any] = {"progress_on": self.places, "start": run, "stop": stop}
        triggers: list[Callable] = [run.click, text.submit]
        for chip, word in zip(examples, EXAMPLES, strict=True):
            filled = [text, spoken, self.scope]
            fill = chip.click(lambda w=word: (w, None, READY), None, filled, **HIDDEN)
            triggers.append(fill.then)
        for trigger in triggers:
            self.on_model(trigger, self.show, inputs, outputs, **job)
        library = [self.own, self.scope, self.contents, self.delete]
        for button in (files, folder):
            add_outputs = [self.message, *library]
            self.on_model(button.upload, self.add, [button, self.own], add_outputs, **job)
        self.delete.click(self.forget, self.own, [*library, self.places], **HIDDEN)

    def _open_ready(self) -> "WordIndex":
        from earshot.systems.words.word_index import WordIndex  # late, for it loads torch

        return WordIndex.open(COLLECTION, self.pipeline())

    def add(
        self,
        files: Sequence[str] | None,
        own: OwnRecordings | None,
        request: gr.Request,
        progress: gr.Progress = gr.Progress(),  # noqa: B008  (how Gradio asks for it)
    ) -> Update:
        """Add uploads to the visitor's recordings."""
        if not files:
            raise InputError("There are no files in this. Choose recordings, or a folder of them.")
        own = self.store.of(own, request)
        remarks = [f"{name}: {text}" for name, text in own.add(files, self.pipeline(), progress)]
        return {
            self.message: say(" ".join(remarks)),
            self.own: own,
            self.scope: OWN if own.count else READY,
            self.contents: _contents(own),
            self.delete: gr.Button(visible=own.count > 0),
        }

    def forget(self, own: OwnRecordings | None) -> Update:
        """Delete the visitor's recordings."""
        if own:
            own.clear()
        empty = {"html": Markup("<p>{}</p>").format(EMPTY), "files": []}
        hidden = gr.Button(visible=False)
        scope = {self.scope: READY, self.contents: GONE, self.delete: hidden}
        return {self.own: None, self.places: empty, **scope}

    def show(self, text: str, spoken: str | None, scope: str, own: OwnRecordings | None) -> Update:
        """Show where a word is said in the recordings."""
        from earshot.systems.words.word_index import WordIndex, query_of  # late: torch

        words = self.pipeline()
        with delete_after_use(spoken):
            word, query = query_of(words, text or "", spoken)
        if scope == OWN and not (own and own.count):
            raise InputError(NO_FILES)
        index = WordIndex.open(own.path, words) if scope == OWN and own else self.ready()
        results = index.find(query, limit=MAX_PLACES)
        return {self.message: "", self.places: view(word, results, index)}


def view(word: str, results: "FoundHits", index: "WordIndex") -> dict[str, Any]:
    """Make the value of the panel: the places to play, and the files to keep."""
    from earshot.exports.words import clip, hits_csv, hits_zip  # late, for it loads torch
    from earshot.media.audio.load import wav_bytes

    hits, matches = results.chosen, len(results.matches)
    heading = f"“{word}”: {matches} place{'s' if matches > 1 else ''} in {_extent(index)}"
    files = [
        File("CSV", "places.csv", hits_csv(hits, word).encode("utf-8-sig")),
        File("Zip", "places.zip", hits_zip(hits, word, index)),
    ]
    downloads = [("CSV", "places.csv"), ("TextGrids, Audacity labels and clips", "places.zip")]
    rows = []
    for hit in hits[:MAX_LISTED]:
        minutes, seconds = divmod(int(hit.place.start), 60)
        time = f"{minutes}:{seconds:02}"
        label = Label(time, "", f"@file{len(files)}")
        files.append(File(time, "place.wav", wav_bytes(clip(hit, index), SAMPLE_RATE)))
        name = PurePosixPath(hit.recording.name).stem
        rows.append((label, name, hit.place.score, not hit.careful))
    html = macro(PANELS, "hits", heading if matches else NONE.format(word=word), rows, downloads)
    return {"html": html, "files": [file.data() for file in files]}


def _extent(index: "WordIndex") -> str:
    count = len(index.recordings)
    length = f"{index.seconds / 60:.0f} min" if index.seconds >= 60 else f"{index.seconds:.0f} s"
    return f"{count} recording{'s' if count != 1 else ''}, {length}"


def _contents(own: OwnRecordings) -> str:
    return f"<b>{own.count}</b> recording{'s' if own.count != 1 else ''} of yours"
