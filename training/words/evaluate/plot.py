"""The precision–recall curves of all systems in one figure."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure

from training.words.evaluate.evaluator import Curves

PANELS: Final = {
    "acoustic": "Acoustic: pairs of recordings",
    "written": "Cross-view: recordings and written words",
}
# The palette of Okabe and Ito, safe for colour vision deficiencies.
COLOURS: Final = ("#000000", "#E69F00", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9")
INK: Final = "#444444"


def plot_curves(curves: Mapping[str, Curves], path: Path) -> None:
    """Write one panel a metric, with one line a system; SVG or PNG by the suffix of ``path``."""
    with rc_context({"svg.hashsalt": "words", "font.family": "sans-serif", "font.size": 11}):
        figure = Figure(figsize=(10, 4.4), layout="constrained")
        panels = figure.subplots(1, len(PANELS), sharey=True)
        for panel, (measure, title) in zip(panels, PANELS.items(), strict=True):
            for colour, (system, own) in zip(COLOURS, curves.items(), strict=False):
                if measure in own:
                    precision = own[measure]
                    recall = np.arange(1, len(precision) + 1) / len(precision)
                    panel.plot(recall, precision, color=colour, linewidth=2, label=system)
            panel.set_title(title, loc="left", fontsize=12)
            panel.set_xlabel("Recall")
            panel.set(xlim=(0, 1), ylim=(0, 1.02))
            panel.grid(color="#DDDDDD", linewidth=0.8)
            panel.spines[["top", "right"]].set_visible(False)
            panel.tick_params(colors=INK)
        panels[0].set_ylabel("Precision")
        panels[0].legend(frameon=False, loc="lower left")
        figure.savefig(path, dpi=150, facecolor="white", metadata={"Date": None})
