"""The panels under a conversion: the words that a recogniser finds in it, shown with --transcripts
only; a blind vote, in which one press says which of two systems is clearer; and what bits cost.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import gradio as gr
import numpy as np
from gradio.events import Dependency
from markupsafe import Markup

from earshot.core.errors import InputError
from earshot.media.audio.speech import LABEL
from earshot.media.constants import SAMPLE_RATE
from earshot.study.design import Item, Test
from earshot.study.library import VOTE, TestLibrary
from earshot.tabs.components.blind_vote import standing
from earshot.tabs.components.lanes import Lane, Spectrogram, UnitCells
from earshot.tabs.components.timeline import File, TimelineSpec, timeline, wav
from earshot.tabs.shared.events import (
    LAST,
    Update,
    Values,
    answering,
    offer,
    queued,
    reporting,
    say,
    stoppable,
)
from earshot.tabs.shared.gradio_internals import event_data
from earshot.tabs.shared.html import icon, render
from earshot.tabs.shared.parts import Section
from earshot.tabs.voice_conversion.events import Models
from earshot.tabs.voice_conversion.speaking import SpeakingInputs
from earshot.tabs.voice_conversion.view import ConversionResult, rate

if TYPE_CHECKING:
    from earshot.pretrained.recogniser import Transcriber, Transcript
    from earshot.systems.voice_conversion import Content

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
PUNCTUATION: Final = ' .,;:!?…"“”()[]¿¡'
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
<span class="synthetic-label">{icon("synthetic")}{LABEL}</span>
<p class="vote-hint" role="status"></p></div>
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
RATES: Final = "The speech above at four rates, from 150 bit/s up, in the voice that you chose."
N_RATES: Final = 4  # at first


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
        from earshot.pretrained.checkpoint import CheckpointError  # late, for they load torch
        from earshot.pretrained.recogniser import Transcript

        try:
            transcriber = self.load()
        except (FileNotFoundError, CheckpointError) as error:
            return {self.words: say(str(error))}
        if not result.has_speech:  # a recogniser finds words in noise all the same
            return {self.words: words_html(Transcript(()), Transcript(()))}
        converted = transcriber(result.converted.content)
        if result.source is None:
            return {self.words: words_html(None, converted)}
        content = result.source.content
        source = past[1] if past and past[0] == content else transcriber(content)
        return {self.words: words_html(source, converted), self.source: (content, source)}


@dataclass(frozen=True)
class TranscriptAPI:
    """The endpoint that transcribes. load: returns the recogniser."""

    load: "Callable[[], Transcriber]"

    @answering
    def transcribe(self, audio: str) -> dict[str, Any]:
        """Transcribe English speech by the recogniser that conversions stand on, and say where it
        guesses, as at another language. It takes about as long as a conversion.

        Args:
            audio: a recording of speech, or a conversion, 0.1 to 60 s.

        Returns:
            transcript: {"text": the words, "confidence": the recogniser's in them, from 0 to 1,
                "notices": why they tell nothing of what a conversion keeps: there are none, or they
                are guesses}.
        """
        from earshot.media.audio.load import load  # late, for they load SciPy and torch
        from earshot.pretrained.checkpoint import CheckpointError
        from earshot.pretrained.recogniser import MAX_SECONDS, Transcript
        from earshot.pretrained.speech_segments import has_speech

        waveform = load(audio, SAMPLE_RATE, MAX_SECONDS).waveform
        try:
            transcriber = self.load()
        except (FileNotFoundError, CheckpointError) as error:
            raise InputError(str(error)) from error
        words = transcriber((SAMPLE_RATE, waveform)) if has_speech(waveform) else Transcript(())
        notices = [words.doubt] if words.doubt else []
        return {"text": words.text, "confidence": words.confidence, "notices": notices}

    def declare(self, audio: gr.Audio) -> None:
        """Add the endpoint to the page. audio: a component of the type of its input."""
        with gr.Row(visible=False):
            transcript = gr.JSON(label="transcript")
            offer(gr.Button(), self.transcribe, audio, transcript, TRANSCRIPTS_QUEUE)


def words_html(source: "Transcript | None", converted: "Transcript") -> Markup:
    """Write both as HTML: lost words are struck through, and those that only the conversion has
    are underlined; a line says the same in words. source: None where there is no recording.

    Of a source whose words the recogniser did not find, or guesses, nothing is said to be lost.
    """
    rows = {"source": source and source.words, "converted": converted.words}
    if source is None or source.doubt:
        return render(TRANSCRIPTS, **rows, note=source.doubt if source else "")
    remain, recognised = source.compare(converted)
    lost: dict[str, str] = {}  # each word once, however it is written
    for word, remains in zip(source.words, remain, strict=True):
        if not remains:
            text = word.text.strip(PUNCTUATION)
            lost.setdefault(text.lower(), text)
    return render(TRANSCRIPTS, **rows, kept=remain, found=recognised, lost=lost.values())


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


class RatesPanel(Section):
    """What bits cost: the source that is shown by several models. result: holds it."""

    def __init__(self, models: Models, result: gr.State) -> None:
        """Lay it out."""
        self.models, self.result = models, result
        with gr.Accordion("What bits cost", open=False):
            with gr.Row(elem_classes="rates-button"):
                button = partial(gr.Button, size="sm", scale=0, min_width=160)
                self.some, self.every = button("Run four rates"), button("Run every rate")
                self.stop = button("Stop", visible=False)
            self.message = gr.HTML()
            self.rates = timeline("rates", RATES)

    def follow(self, speaking: SpeakingInputs) -> None:
        """Connect the panel, which speaks as is chosen in these components."""
        self.speaking = speaking
        some = partial(self.compare, count=N_RATES)
        for button, handler in ((self.some, some), (self.every, self.compare)):
            self.on_model(
                button.click,
                handler,
                {self.result, *speaking.components},
                [self.message, self.rates],
                progress_on=self.rates,
                start=button,
                stop=self.stop,
            )

    def compare(
        self,
        values: Values,
        progress: gr.Progress = gr.Progress(),  # noqa: B008  (how Gradio asks for it)
        count: int = 99,
    ) -> Iterator[Update]:
        """Convert the source shown by every model, or count of them, the fewest bits first."""
        result: ConversionResult | None = values[self.result]
        if result is None or result.source is None:
            raise InputError("This needs a recording. Convert one first.")
        source, spoken = result.source, self.speaking.read(values)
        lanes: list[Lane] = []
        tracks = [source.file("Source", "source")]
        every = [self.models.pipeline(name) for name in reversed(self.models.names)]
        suited = [model for model in every if spoken.suits(model)]
        chosen = np.linspace(0, len(suited) - 1, min(count, len(suited))).round().astype(int)
        contents: dict[str, Content] = {}  # by encoder, which models of one checkpoint share
        for done, pipeline in enumerate(suited[i] for i in chosen):
            name = pipeline.name
            progress((done, len(chosen)), desc=f"Converting by {name}", unit="rates")
            if pipeline.encoder not in contents:
                content = pipeline.encode_content(source.content)
                contents[pipeline.encoder] = replace(content, ingredient=result.ingredient)
            conversion = pipeline(contents[pipeline.encoder], *spoken.arguments(pipeline))
            units, speech = conversion.units, conversion.converted
            label = f"{name} · {rate(conversion)}"
            seconds = len(speech.waveform) / speech.sample_rate
            lanes.append(UnitCells(label, tuple(units.codes.tolist()), units.step, pipeline.colors))
            lanes.append(Spectrogram.of(label, speech.log_mel, seconds))
            tracks.append(File(name, f"{name}.wav", wav(speech), synthetic=True))
            spec = TimelineSpec(f"The same speech as {spoken.label} at each rate", lanes, tracks)
            yield {self.message: "", self.rates: spec.value()}


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
    from earshot.study.analysis.paired_comparisons import (
        both_ways,  # late, for it loads statsmodels
    )

    pair = list(item.systems)
    votes = both_ways(tests.store.ratings(test))
    votes = votes[(votes["system"] == pair[0]) & (votes["other"] == pair[1])]
    return standing(votes, pair, [VOTE_LABELS.get(system, system) for system in pair])
