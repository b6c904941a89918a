"""Same or different? A threshold on the cosine, its precision and recall, and pairs next to it."""

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Final

import gradio as gr
from markupsafe import Markup

from earshot.tabs.shared.events import HIDDEN, LAST, Update
from earshot.tabs.shared.html import macro
from earshot.tabs.shared.parts import Section
from earshot.tabs.words.panel import PANELS, Sounds, word_panel

if TYPE_CHECKING:
    from earshot.systems.words import Words
    from earshot.systems.words.comparison import OperatingCurve, Side, WordPairs
    from earshot.systems.words.library import WordLibrary

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


class ThresholdSection(Section):
    """The accordion, to be made inside a gr.Blocks: the pairs next to a threshold, which are sorted
    once for all visitors.
    """

    def __init__(
        self, pipeline: Callable[[], "Words"], library: Callable[[], "WordLibrary"]
    ) -> None:
        """Lay it out. Both functions return the same object each time."""
        self.pipeline = pipeline

        @cache
        def pairs() -> "WordPairs":
            from earshot.systems.words.comparison import WordPairs  # late, for pipelines load torch

            return WordPairs(library())

        self.pairs = pairs
        with gr.Accordion("Same or different?", open=False) as fold:
            gr.HTML(HINT)
            self.slider = gr.Slider(0, 1, step=0.01, label="Threshold on the cosine", buttons=[])
            self.message = gr.HTML()
            self.panel = word_panel("threshold")
        outputs = [self.message, self.panel]
        self.on(fold.expand, self.first_look, self.slider, [*outputs, self.slider])
        # While the slider is dragged only its last position matters.
        self.on(self.slider.input, self.move, self.slider, outputs, **LAST, **HIDDEN)

    def first_look(self, threshold: float) -> Update:
        """Start at the model's own threshold, unless one was chosen."""
        threshold = threshold or round(self.pipeline().threshold, 2)
        return {self.slider: threshold, **self.move(threshold)}

    def move(self, threshold: float) -> Update:
        """Show another threshold."""
        from earshot.systems.words.comparison import OperatingCurve

        lists, sounds = self.pipeline().operating_curve, Sounds()
        curve = plot(OperatingCurve.read(lists), threshold) if lists else NO_CURVE
        sides = [
            _side(name, self.pairs().near_threshold(threshold, same, above), above, sounds)
            for (same, above), name in NAMES.items()
        ]
        html = macro(TEMPLATE, "section", curve, sides)
        return {self.message: "", self.panel: sounds.value(html)}


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
