"""The panels under a conversion: the words that a recogniser finds in it, shown with --transcripts
only; a blind vote, in which one press says which of two systems is clearer; and SpeechT5 of the hub
next to ours, also in a listening test of both.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import gradio as gr
import numpy as np
from gradio.events import Dependency
from markupsafe import Markup

from earshot.core.errors import InputError
from earshot.pretrained.hub import HubPermission, fetch, fetch_from_dataset
from earshot.study.design import Item, Test
from earshot.study.design.folder import DraftItem
from earshot.study.library import VOTE, TestLibrary
from earshot.tabs.components.hub_picker import HubModels, HubPicker, Kind, hub_picker
from earshot.tabs.components.lanes import Lane
from earshot.tabs.components.timeline import SoundLanes, TimelineSpec, timeline
from earshot.tabs.shared.events import LAST, Update, queued, reporting, say, stoppable
from earshot.tabs.shared.gradio_internals import event_data
from earshot.tabs.shared.html import icon, render
from earshot.tabs.shared.parts import Section
from earshot.tabs.shared.services import Drafts
from earshot.tabs.voice_conversion.view import ConversionResult, draft_item

if TYPE_CHECKING:
    from earshot.pretrained.recogniser import Transcriber, Transcript
    from earshot.systems.voice_conversion.speecht5 import SpeechT5Conversion

# A recording, and its words: recognised once, in however many voices it is converted.
SourceWords = tuple[bytes, "Transcript"]

TRANSCRIPTS_QUEUE: Final = (
    "transcripts"  # of their own: a minute takes some seconds, and nobody waits for them
)
TRANSCRIPTS: Final = "voice_conversion/transcripts.html"
NO_WORDS_YET: Final = (
    '<p class="hint">The words that a recogniser hears in your speech and in its conversion stand '
    "here, once you have converted something.</p>"
)
VOTE_HTML: Final = f"""
<section class="vote" aria-label="A blind vote">
<div class="vote-bar"><p><b>Which is clearer?</b> Two systems, one sentence, blind. Only your vote
is stored.</p><button type="button" class="vote-begin">Listen and vote</button></div>
<div class="vote-pair" hidden>
<button type="button" class="vote-play" data-place="0">{icon("play")}{icon("pause")}A</button>
<button type="button" class="vote-play" data-place="1">{icon("play")}{icon("pause")}B</button>
<span class="vote-answers">
<button type="button" data-answer="a" disabled>A is clearer</button>
<button type="button" data-answer="same" disabled>No difference</button>
<button type="button" data-answer="b" disabled>B is clearer</button></span>
</div>
<p class="vote-message message notice" role="status" hidden></p>
</section>
"""
# What people call the systems of the test.
VOTE_LABELS: Final = {
    "continuous": "continuous content",
    "units-512": "512 units",
    "units-64": "64 units",
    "vqvae-512": "512 units of the VQ-VAE",
}
NO_VOTE: Final = "Vote first: what you heard is told then."
NO_INTERVAL: Final = "an interval takes a second voter"
SPEECHT5: Final = "microsoft/speecht5_vc"
SPEECHT5_VOCODER: Final = "microsoft/speecht5_hifigan"
XVECTORS: Final = ("Matthijs/cmu-arctic-xvectors", "spkrec-xvect.zip")
KIND: Final = Kind(("speecht5",), {SPEECHT5: "0.7 GB"}, others=False)
# Four speakers of CMU ARCTIC, on whom it was trained.
SPEECHT5_VOICES: Final = {
    "bdl, a man": "bdl",
    "rms, a man": "rms",
    "clb, a woman": "clb",
    "slt, a woman": "slt",
}
ABOUT: Final = """<p class="hint">The source above by <a href="https://arxiv.org/abs/2110.07205"
target="_blank">SpeechT5</a>, a larger model, in one of its own voices, up to 30 s. Both can go into
a listening test.</p>"""
NO_PAIR: Final = "Source, our conversion and SpeechT5’s appear here."
NO_CONVERSION: Final = "There is nothing to compare it with yet. Convert a recording first."

Baseline = tuple["SpeechT5Conversion", "dict[str, np.ndarray]"]


class TranscriptPanel(Section):
    """The words under a conversion. source: what was last recognised in a source."""

    def __init__(self, load: "Callable[[], Transcriber]") -> None:
        """Lay out the panel. load: returns the recogniser."""
        self.load = load
        self.source = gr.State(None, time_to_live=3600)
        self.message = self.words = gr.HTML(NO_WORDS_YET, elem_classes="heard", elem_id="heard")

    def follow(self, job: Dependency, result: gr.State) -> None:
        """Transcribe the result of a job once it has ended."""
        job.success(
            reporting(stoppable(self.transcribe), self.words),
            [result, self.source],
            [self.words, self.source],
            **queued(self.words, TRANSCRIPTS_QUEUE),
            **LAST,
        )

    def transcribe(self, result: ConversionResult | None, past: SourceWords | None) -> Update:
        """Show the words of source and conversion."""
        if result is None:
            return {self.words: NO_WORDS_YET}
        from earshot.pretrained.checkpoint import CheckpointError  # late, for it loads torch

        try:
            transcriber = self.load()
        except (FileNotFoundError, CheckpointError) as error:
            return {self.words: say(str(error))}
        converted = transcriber(result.converted.content)
        if result.source is None:
            return {self.words: words_html(None, converted)}
        content = result.source.content
        source = past[1] if past and past[0] == content else transcriber(content)
        return {self.words: words_html(source, converted), self.source: (content, source)}


def words_html(source: "Transcript | None", converted: "Transcript") -> Markup:
    """Write both as HTML: lost words are struck through, and those that only the conversion has
    are underlined; a line says the same in words. source: None where there is no recording."""
    if source is None:
        plain = [True] * len(converted.words)
        return render(TRANSCRIPTS, source=None, converted=converted.words, found=plain)
    remain, recognised = source.compare(converted)
    lost = [word.text for word, remains in zip(source.words, remain, strict=True) if not remains]
    return render(
        TRANSCRIPTS,
        source=source.words,
        converted=converted.words,
        kept=remain,
        found=recognised,
        lost=lost,
        is_guess=source.is_guess,
    )


class VotePanel(Section):
    """The vote, and its running score, which shows errors too.

    It is a listening test like any other (assets/vote): its page is a client of the raters' routes,
    so pairs are drawn, sides balanced, votes stored and limits kept as in every test.
    """

    def __init__(self, tests: TestLibrary) -> None:
        """Lay it out. tests: those that are open, with the vote."""
        self.tests = tests
        panel = gr.HTML(
            VOTE_HTML,
            css_template=Path(__file__).with_name("vote.css").read_text(),
            js_on_load=Path(__file__).with_name("vote.js").read_text(),
            apply_default_css=False,
            elem_id="vote",
            test=VOTE.name,
        )
        self.message = self.score = gr.HTML(elem_classes="numbers", elem_id="vote-score")
        self.on(panel.score, self.reveal, None, self.score, **queued())

    def reveal(self, event: gr.EventData) -> Update:
        """Show which systems were heard, and how the votes on this pair stand."""
        data = event_data(event)
        item, test = _voted(self.tests, data.get("rater"), data.get("order"))
        return {self.score: _standing(self.tests, test, item)}


def _voted(tests: TestLibrary, rater: Any, order: Any) -> tuple[Item, Test]:
    """Find the item that a rater has answered. Raises InputError where they have not."""
    test = tests.get(VOTE.name).test
    session = tests.store.resume(test, rater) if isinstance(rater, str) else None
    answered = [i for i in session.items if i.order in session.answered] if session else []
    for item in answered:
        if item.order == order:
            return item, test
    raise InputError(NO_VOTE)


def _standing(tests: TestLibrary, test: Test, item: Item) -> str:
    """Write the systems that were heard, and the share of votes for the better one, as HTML."""
    # Late, for they load statsmodels.
    from earshot.study.analysis.estimates import estimate_row
    from earshot.study.analysis.paired_comparisons import both_ways, mean_votes

    pair = list(item.systems)
    votes = both_ways(tests.store.ratings(test))
    votes = votes[(votes["system"] == pair[0]) & (votes["other"] == pair[1])]
    estimate = estimate_row(mean_votes(votes, pair)[pair[0], pair[1]], (0, 1))
    share, low, high = (estimate[end] for end in ("value", "low", "high"))
    names = [VOTE_LABELS.get(system, system) for system in pair]
    better = names[0]
    if share < 0.5:
        share, low, high, better = 1 - share, 1 - high, 1 - low, names[1]
    within = NO_INTERVAL
    if low == low:  # no NaN
        within = f"95 % interval {low:.0%} to {high:.0%}"
    return (
        f"A was <b>{names[0]}</b>, B was <b>{names[1]}</b>. So far <b>{better}</b> is preferred in "
        f"<b>{share:.0%}</b> of <b>{len(votes)}</b> votes on this pair ({within})."
    )


@dataclass(frozen=True)
class Pair:
    """Our conversion of a source, and SpeechT5's in one of its voices."""

    ours: ConversionResult
    baseline: SoundLanes
    voice: str

    def timeline(self) -> TimelineSpec:
        """Lay out source and both conversions on one time axis."""
        sounds = {"Ours": self.ours.converted, "SpeechT5": self.baseline}
        if self.ours.source:
            sounds = {"Source": self.ours.source, **sounds}
        lanes: list[Lane] = [lane for name, sound in sounds.items() for lane in sound.lanes(name)]
        tracks = [sound.file(name, name.lower()) for name, sound in sounds.items()]
        return TimelineSpec("Source, our conversion and SpeechT5’s", lanes, tracks)

    def draft_items(self) -> list[DraftItem]:
        """Make items of a listening test of both conversions, of one source."""
        ours = draft_item(self.ours)
        if ours is None:
            return []
        settings = {"model": SPEECHT5, "vocoder": SPEECHT5_VOCODER, "target": self.voice}
        baseline = DraftItem(f"SpeechT5 {self.voice}", self.baseline.content, ours.source, settings)
        return [ours, baseline]


def baselines(permission: HubPermission, device: str) -> HubModels[Baseline]:
    """Offer SpeechT5 with its vocoder and voices, loaded when it is asked for."""

    def load(name: str, folder: Path) -> Baseline:
        # Late, for it loads torch.
        from earshot.systems.voice_conversion.speecht5 import SpeechT5Conversion, read_voices

        vocoder = fetch(SPEECHT5_VOCODER, ["hifigan"])
        voices = read_voices(fetch_from_dataset(*XVECTORS), list(SPEECHT5_VOICES.values()))
        return SpeechT5Conversion.from_pretrained(folder, vocoder, device), voices

    return HubModels(KIND, permission, load)


class BaselinePanel(Section):
    """The folded panel under the result, which compares it with SpeechT5."""

    def __init__(
        self, models: HubModels[Baseline], result: gr.State, drafts: Drafts | None
    ) -> None:
        """Lay the panel out. result: holds the ConversionResult that it is compared with."""
        self.models, self.result = models, result
        self.pair = gr.State(None, time_to_live=3600)
        with gr.Accordion("Compare with SpeechT5", open=False):
            gr.HTML(ABOUT)
            self.picker = hub_picker(models, "Baseline")
            if self.picker:
                self._layout(self.picker, drafts)

    def _layout(self, picker: HubPicker, drafts: Drafts | None) -> None:
        voice = gr.Radio(list(SPEECHT5_VOICES.items()), value="bdl", label="Voice")
        with gr.Row(elem_classes="rates-button"):
            run = gr.Button("Convert by SpeechT5", size="sm", scale=0, min_width=180)
            halt = gr.Button("Stop", size="sm", scale=0, min_width=180, visible=False)
            if drafts:
                drafts.button(self.pair, _items, "Add both to a listening test")
        self.message = gr.HTML()
        self.lanes = timeline("baseline", NO_PAIR)
        picker.wire(self.load, [], [], self.lanes)
        self.on_model(
            run.click,
            self.convert,
            [self.result, voice],
            [self.message, self.pair, self.lanes],
            progress_on=self.lanes,
            start=run,
            stop=halt,
        )

    def load(
        self,
        name: str,
        progress: gr.Progress = gr.Progress(),  # noqa: B008  (how Gradio asks for it)
    ) -> Update:
        """Load the baseline."""
        self.models.load(name, progress)
        return {}

    def convert(
        self,
        result: ConversionResult | None,
        voice: str,
        progress: gr.Progress = gr.Progress(),  # noqa: B008
    ) -> Update:
        """Convert the source of the result by the baseline, and show both."""
        if result is None or result.source is None:
            raise InputError(NO_CONVERSION)
        pipeline, voices = self.models(SPEECHT5)
        if voice not in voices:
            raise InputError(f"There is no voice {voice}. Choose one of {', '.join(voices)}.")
        progress(0.2, desc=f"SpeechT5 speaks as {voice}")
        converted = pipeline(result.source.content, voices[voice]).converted
        pair = Pair(result, SoundLanes.of(converted), voice)
        return {self.message: "", self.pair: pair, self.lanes: pair.timeline().value()}


def _items(pair: Pair | None) -> list[DraftItem]:
    return pair.draft_items() if pair else []
