"""Same or different? A threshold on the cosine, its precision and recall, and pairs next to it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import gradio as gr
from markupsafe import Markup

from earshot.tabs.shared.events import HIDDEN, Update, reporting
from earshot.tabs.shared.html import macro
from earshot.tabs.words.panel import PANELS, Sounds, word_panel

if TYPE_CHECKING:
    from earshot.systems.words import Words
    from earshot.systems.words.library import WordLibrary
    from earshot.systems.words.pairs import OperatingCurve, Side, WordPairs

HINT: Final = """<p class="hint">Two recordings count as the same word if their cosine reaches the
threshold. A higher threshold gives fewer false alarms and more misses.</p>"""
NO_CURVE: Final = Markup("""<p>Precision and recall were not measured for this model: train it
with <code>python -m training.words</code>, and the curve appears here.</p>""")
TEMPLATE: Final = "words/threshold.html"
PLOT: Final = 300  # width and height of the plot
TICKS: Final = (0.0, 0.25, 0.5, 0.75, 1.0)  # of both axes
# (is the same word, is called the same) → name.
NAMES: Final = {
    (True, True): "Hits",
    (False, True): "False alarms",
    (True, False): "Misses",
    (False, False): "Correct rejections",
}


@dataclass(frozen=True)
class ThresholdComponents:
    """The components that the handlers change."""

    message: gr.HTML
    slider: gr.Slider
    panel: gr.HTML


class ThresholdEvents:
    """Handlers of the section; the pairs are sorted once for all visitors."""

    def __init__(
        self,
        pipeline: Callable[[], "Words"],
        library: Callable[[], "WordLibrary"],
        components: ThresholdComponents,
    ) -> None:
        self.pipeline = pipeline
        self.library = library
        self.components = components

        @cache
        def pairs() -> "WordPairs":
            from earshot.systems.words.pairs import WordPairs  # late, for pipelines load torch

            return WordPairs(library())

        self.pairs = pairs

    def first_look(self, chosen: float) -> Update:
        """Start at the model's own threshold, unless one was chosen."""
        threshold = chosen or round(self.pipeline().threshold, 2)
        return {self.components.slider: threshold, **self.move(threshold)}

    def move(self, threshold: float) -> Update:
        """Show another threshold."""
        return {self.components.message: "", self.components.panel: self._panel(threshold)}

    def _panel(self, threshold: float) -> dict[str, Any]:
        from earshot.systems.words.pairs import OperatingCurve

        lists, sounds = self.pipeline().operating_curve, Sounds()
        curve = plot(OperatingCurve.read(lists), threshold) if lists else NO_CURVE
        sides = [
            _side(name, self.pairs().near_threshold(threshold, same, above), above, sounds)
            for (same, above), name in NAMES.items()
        ]
        return sounds.value(macro(TEMPLATE, "section", curve, sides))


def threshold_section(
    pipeline: Callable[[], "Words"], library: Callable[[], "WordLibrary"]
) -> None:
    """Build the accordion, inside a gr.Blocks. Both functions return the same object each time."""
    with gr.Accordion("Same or different?", open=False) as fold:
        gr.HTML(HINT)
        slider = gr.Slider(0.0, 1.0, step=0.01, label="Threshold on the cosine", buttons=[])
        message = gr.HTML()
        panel = word_panel("threshold")
    page = ThresholdComponents(message, slider, panel)
    events = ThresholdEvents(pipeline, library, page)
    first_look = reporting(events.first_look, message)
    fold.expand(first_look, slider, [message, slider, panel], **HIDDEN)
    # While the slider is dragged only its last position matters.
    last: dict[str, Any] = {"trigger_mode": "always_last", **HIDDEN}
    slider.input(reporting(events.move, message), slider, [message, panel], **last)


def plot(curve: "OperatingCurve", threshold: float) -> Markup:
    """Draw the precision–recall curve as SVG with the point of the threshold, and a sentence."""
    precision, recall = curve.at(threshold)
    line = " ".join(
        f"{PLOT * r:.1f},{PLOT * (1 - p):.1f}"
        for p, r in zip(curve.precision, curve.recall, strict=True)
    )
    return macro(TEMPLATE, "plot", PLOT, line, TICKS, threshold, precision, recall)


def _side(name: str, side: "Side", above: bool, sounds: Sounds) -> Markup:
    called = "called the same" if above else "called different"
    where = "just above" if above else "just below"
    pairs = [(sounds.label(p.one), sounds.label(p.other), p.cosine) for p in side.pairs]
    return macro(PANELS, "side", name, called, where, side.count, pairs)
