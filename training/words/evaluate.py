"""The evaluation tables of the word embeddings and of the baselines: in general, by language, in
noise, of zero-shot words, of near-homophones; with the curves of all systems; and of words cut from
fluent speech.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure

from earshot.core.paths import ASSETS
from earshot.systems.words import Words
from earshot.systems.words.library import WORDS, read_words
from training.common.checkpoints import update_metrics
from training.common.corpora import speech_items
from training.common.report import markdown, write_card
from training.words.evaluator import NEAR_HOMOPHONES, Curves, Evaluator, Row
from training.words.recipe import OVER_STATES, SHIPPED
from training.words.recordings import RecordedWord, fluent_words
from training.words.systems import DEFAULT_NAME, systems
from training.words.test_set import noises, select_test_set

MAX_QUICK: Final = 300  # recordings of each kind at most
CORPUS: Final = "librispeech_251"
MIN_LONG: Final = 5  # phonemes of the words that have columns of their own
FLUENT_COLUMNS: Final = {
    "p_at_1": ("P@1", ".3f"),
    "p_at_5": ("P@5", ".3f"),
    "long_p_at_1": (f"P@1, {MIN_LONG} phonemes or more", ".3f"),
    "long_p_at_5": (f"P@5, {MIN_LONG} phonemes or more", ".3f"),
}
LANGUAGE_NAMES: Final = {"en": "English", "ar": "Arabic", "zh": "Mandarin"}
CONDITIONS: Final = {
    "trained": "words trained on",
    **LANGUAGE_NAMES,
    "20db": "noise 20 dB",
    "10db": "10 dB",
    "0db": "0 dB",
    "far": "far microphone",
}
TABLES: Final = {
    "Acoustic AP": {
        "acoustic_ap_across_trained": "across speakers, words trained on",
        **{f"acoustic_ap_{key}": name for key, name in CONDITIONS.items()},
    },
    "Cross-view AP": {f"cross_view_ap_{key}": name for key, name in CONDITIONS.items()},
    "Recognition, AP of the probabilities": {
        "recognition_ap": "all",
        "unseen_recognition_ap": "zero-shot words",
        **{
            f"unseen_recognition_ap_{key}": f"{name}, zero-shot"
            for key, name in LANGUAGE_NAMES.items()
        },
        **{f"recognition_ap_{key}": name for key, name in CONDITIONS.items()},
    },
    "Spoken to written, P@1": {f"p_at_1_{key}": name for key, name in CONDITIONS.items()},
    "Zero-shot words": {
        f"unseen_{metric}_{key}": f"{name}, {title}"
        for metric, title in (("cross_view_ap", "AP"), ("p_at_1", "P@1"))
        for key, name in LANGUAGE_NAMES.items()
    },
    "Near-homophones, share distinguished": {
        f"near_homophones_{pair}": pair for pair in NEAR_HOMOPHONES
    },
}
PANELS: Final = {
    "acoustic": "Acoustic: pairs of recordings",
    "written": "Cross-view: recordings and written words",
}
# The palette of Okabe and Ito, safe for colour vision deficiencies.
COLOURS: Final = ("#000000", "#E69F00", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9")
INK: Final = "#444444"


def evaluate(
    data: Path,
    folders: Sequence[Path],
    split: str = "test",
    json_out: Path | None = None,
    quick: bool = False,
    plot: Path | None = None,
    speech_models: Sequence[str] = (),
    only: Sequence[str] = (),
) -> list[Row]:
    """Measure every system (see evaluator.py); print and return the rows of the table.

    folders: checkpoints; missing ones are skipped. split: see test_set.select_test_set. quick: use
    a seeded sample. plot: file for the precision–recall curves. speech_models: of the hub, "ID" or
    "ID:LAYER". only: names of the systems to measure; all without it.
    Raises SystemExit where there is nothing to measure.
    """
    test_set = select_test_set(data, split, MAX_QUICK if quick else None)
    print(test_set)
    sounds = noises(data)
    if not sounds:
        print(f"There are no sounds in {data}: nothing is measured in noise.")
    evaluator = Evaluator(test_set, sounds)
    rows: list[Row] = []
    curves: dict[str, Curves] = {}
    for system in systems(folders, speech_models):
        if only and system.name not in only:
            continue
        row, curves[system.name] = evaluator.measure(system)
        rows.append(row)
    print(markdown(rows), details(rows), sep="\n\n")
    if json_out:
        json_out.write_text(json.dumps({"rows": rows}, indent=2) + "\n", encoding="utf-8")
    if plot:
        plot_curves(curves, plot)
    return rows


def measure_fluent(
    words: Words, spoken: Sequence[RecordedWord], written: Sequence[tuple[str, ...]]
) -> dict[str, float]:
    """Measure the share of the words that are the first, and among the first five, of the written
    ones by their cosine; homophones are one word.
    """
    vocabulary = list(dict.fromkeys([*written, *(word.phonemes for word in spoken)]))
    row = {phonemes: i for i, phonemes in enumerate(vocabulary)}
    own = np.array([row[word.phonemes] for word in spoken])
    cosines = words.embed_waveforms([word.waveform for word in spoken])
    cosines = cosines @ words.embed_phonemes(vocabulary).T
    rank = (cosines > cosines[np.arange(len(own)), own][:, None]).sum(axis=1)
    long = np.array([len(word.phonemes) >= MIN_LONG for word in spoken])
    return {
        f"{prefix}p_at_{limit}": float((rank[part] < limit).mean())
        for prefix, part in (("", np.ones(len(spoken), bool)), ("long_", long))
        for limit in (1, 5)
    }


def evaluate_fluent(
    data: Path, folders: Sequence[Path], json_out: Path | None = None
) -> list[dict[str, Any]]:
    """Recognise words cut from fluent speech by each checkpoint; print and return the rows.

    Words of MIN_PHONEMES or more, cut by forced alignment out of LibriSpeech's test utterances,
    read by strangers, and ranked among all the written words of the app's library with those that
    were said.
    """
    items = speech_items(data)
    spoken = list(fluent_words([i for i in items if (i.corpus, i.split) == (CORPUS, "test")]))
    library = read_words(ASSETS / "words.index" / WORDS, ASSETS / "words")
    written = [word.phonemes for word in library if word.voice is None]
    speakers = len({word.item.speaker for word in spoken})
    print(f"{len(spoken)} words by {speakers} speakers, {len(set(written))} written ones.")
    rows: list[dict[str, Any]] = []
    for folder in folders:
        measured = measure_fluent(Words.from_pretrained(folder), spoken, written)
        rows.append({"system": folder.name, "shipped": folder.name == DEFAULT_NAME} | measured)
    print(markdown(rows, FLUENT_COLUMNS))
    if json_out:
        json_out.write_text(json.dumps({"rows": rows}, indent=2) + "\n", encoding="utf-8")
    return rows


def details(rows: Sequence[Mapping[str, Any]]) -> str:
    """Write Markdown tables, each of the systems that have any of its metrics."""
    parts = []
    for title, columns in TABLES.items():
        measured = [row for row in rows if columns.keys() & row.keys()]
        if measured:
            heads = {metric: (name, ".3f") for metric, name in columns.items()}
            parts.append(f"{title}:\n\n{markdown(measured, heads)}")
    return "\n\n".join(parts)


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


def publish(rows: list[dict[str, Any]], checkpoints: Path) -> list[dict[str, Any]]:
    """Write the rows into the metrics of the shipped checkpoints, and their cards.

    Rows of systems that were not measured this time stay as they were published. Returns all rows.
    """
    path = checkpoints / DEFAULT_NAME / "metrics.json"
    before = json.loads(path.read_text()).get("results", [])
    table = {row["system"]: row for row in [*before, *rows]}
    for name in (*SHIPPED, *OVER_STATES):
        update_metrics(checkpoints / name, {"results": [*table.values()]})
        write_card(checkpoints / name)
    return [*table.values()]
