"""Transcripts of source and conversion by a recogniser, word by word: shown with --transcripts
only.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import gradio as gr
from gradio.events import Dependency
from markupsafe import Markup

from earshot.tabs.shared.events import PRIVATE, Update, reporting, say, stoppable
from earshot.tabs.shared.html import render
from earshot.tabs.voice_conversion.view import ConversionResult

if TYPE_CHECKING:
    from earshot.pretrained.transcription import Transcriber, Transcript

# A recording, and what was heard in it: heard once, in however many voices it is said.
Known = tuple[bytes, "Transcript"]

QUEUE: Final = "transcripts"  # of their own: a minute takes some seconds, and nobody waits for them
TEMPLATE: Final = "voice_conversion/transcripts.html"
FIRST: Final = (
    '<p class="hint">The words that a recogniser hears in your speech and in its conversion stand '
    "here, once you have converted something.</p>"
)


@dataclass(frozen=True)
class TranscriptPanel:
    """The words under a conversion. known: what was last heard in a source."""

    load: "Callable[[], Transcriber]"
    words: gr.HTML
    known: gr.State

    @classmethod
    def layout(cls, load: "Callable[[], Transcriber]") -> "TranscriptPanel":
        """Lay out the panel. load: gives the recogniser."""
        known = gr.State(None, time_to_live=3600)
        return cls(load, gr.HTML(FIRST, elem_classes="heard", elem_id="heard"), known)

    def follow(self, job: Dependency, result: gr.State) -> None:
        """Hear the result of a job once it has ended."""
        job.success(
            reporting(stoppable(self.heard), self.words),
            [result, self.known],
            [self.words, self.known],
            concurrency_id=QUEUE,
            concurrency_limit=1,
            show_progress_on=self.words,
            trigger_mode="always_last",
            **PRIVATE,
        )

    def heard(self, result: ConversionResult | None, known: Known | None) -> Update:
        """Show the words of source and conversion."""
        if result is None:
            return {self.words: FIRST}
        from earshot.pretrained.checkpoint import CheckpointError  # late, for it loads torch

        try:
            transcriber = self.load()
        except (FileNotFoundError, CheckpointError) as error:
            return {self.words: say(str(error))}
        converted = transcriber(result.converted.content)
        if result.source is None:
            return {self.words: words_html(None, converted)}
        content = result.source.content
        source = known[1] if known and known[0] == content else transcriber(content)
        return {self.words: words_html(source, converted), self.known: (content, source)}


def words_html(source: "Transcript | None", converted: "Transcript") -> Markup:
    """Write both as HTML: lost words are struck through, and those that only the conversion has
    are underlined; a line says the same in words. source: None where there is no recording."""
    if source is None:
        plain = [True] * len(converted.words)
        return render(TEMPLATE, source=None, converted=converted.words, found=plain)
    kept, found = source.kept_in(converted)
    lost = [word.text for word, is_kept in zip(source.words, kept, strict=True) if not is_kept]
    return render(
        TEMPLATE,
        source=source.words,
        converted=converted.words,
        kept=kept,
        found=found,
        lost=lost,
        is_guess=source.is_guess,
    )
