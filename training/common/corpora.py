"""The speech corpora: which recordings there are, who speaks, and which split each belongs to.

Every corpus is optional: a data folder holds whichever corpora it has. Splits are the corpora's
own where they have them; otherwise they are by speaker, so that no speaker is in two splits.
"""

import csv
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from earshot.media.audio.load import load, match_loudness
from earshot.media.constants import SAMPLE_RATE

MAX_FILE = 3600.0  # seconds
LEVEL = -23.0  # LUFS of all speech in training
DIGIT_TEST_SPEAKERS = ("fsdd_nicolas",)
DIGIT_VALIDATION_SPEAKERS = ("fsdd_yweweler",)
GRID_CLEAN = 8.0  # dB of speech-to-rest ratio, below which there is noise outside the sentence
GRID_LABEL_LEAD = 0.02  # seconds by which GRID's labels are early
# Errors of a manifest: تصغير has an emphatic s.
CORRECTED = {"tasɣiːr": "tasˤɣiːr"}


@dataclass(frozen=True)
class Item:
    """One utterance or word: seconds ``start`` to ``end`` of the file ``path``.

    ``speaker`` is None where the corpus does not label it; ``text`` is empty where there is none.
    """

    corpus: str
    path: Path
    speaker: str | None
    split: str  # train, val or test
    text: str = ""
    phones: str = ""
    language: str = "en"
    start: float = 0.0
    end: float | None = None
    sentence: str = ""  # id shared by parallel recordings
    official_test: bool = False  # the corpus itself calls it test


def data_root(argument: str | None) -> Path:
    """Choose the data folder: the argument, else $EARSHOT_DATA. Raises SystemExit when there is
    none.
    """
    root = argument or os.environ.get("EARSHOT_DATA")
    if not root or not Path(root).is_dir():
        raise SystemExit("No data folder: pass --data DIR or set EARSHOT_DATA.")
    return Path(root)


def speech_items(root: Path) -> list[Item]:
    """List every recording of speech below ``root``, in the order of the manifests."""
    readers = {
        "speech/npvcc2016": _npvcc,
        "speech/free_spoken_digits": _digits,
        "speech/google_speech_commands_sample": _official,
        "speech/dspspeech20": _dspspeech,
        "speech/arabic_speech_commands": _official,
        "speech/picovoice_wake_words": _unlabelled,
        "speech/picovoice_commands": _unlabelled,
        "speech/librispeech_251": _own_split,
        "speech/studio_prompts": _own_split,
        "speech/mandarin_syllables": _own_split,
    }
    items: list[Item] = []
    for folder, reader in readers.items():
        rows = _rows(root / folder / "manifest.csv")
        items += [
            _item(row, root / folder, split) for row, split in zip(rows, reader(rows), strict=True)
        ]
    return items + [_grid(row, root / "av") for row in _rows(root / "av" / "manifest.csv")]


def waveforms(items: list[Item]) -> Iterator[tuple[Item, np.ndarray]]:
    """Yield each item with its waveform at 16 kHz, float32 (T,), decoding a packed file only
    once."""
    path, packed = None, np.zeros(0, np.float32)
    for item in items:
        if item.path != path:
            path = item.path
            packed = load(path, SAMPLE_RATE, max_seconds=MAX_FILE).waveform
        end = len(packed) if item.end is None else round(item.end * SAMPLE_RATE)
        waveform = packed[round(item.start * SAMPLE_RATE) : end]
        yield item, match_loudness(waveform, SAMPLE_RATE, LEVEL)


def grid_words(item: Item) -> list[tuple[str, float, float]]:
    """Read the words of a GRID clip with their start and end in seconds, pauses left out."""
    rows = [line.split() for line in item.path.with_suffix(".align").read_text().splitlines()]
    times = [(word, int(a) / 25_000, int(b) / 25_000) for a, b, word in rows]
    return [
        (word, a + GRID_LABEL_LEAD, b + GRID_LABEL_LEAD)
        for word, a, b in times
        if word not in ("sil", "sp")
    ]


def sentence_only(item: Item, waveform: np.ndarray, margin: float = 0.2) -> np.ndarray:
    """Cut a GRID clip (T,) to ``margin`` seconds around its words: (T',)."""
    words = grid_words(item)
    first = round((words[0][1] - margin - item.start) * SAMPLE_RATE)
    last = round((words[-1][2] + margin - item.start) * SAMPLE_RATE)
    return waveform[max(first, 0) : last]


def _rows(manifest: Path) -> list[dict[str, str]]:
    if not manifest.exists():
        return []
    with manifest.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _item(row: dict[str, str], folder: Path, split: str) -> Item:
    return Item(
        corpus=folder.name,
        path=folder / row["path"],
        speaker=row["speaker"] or None,
        split=split,
        text=row.get("word") or row.get("text") or "",
        phones=CORRECTED.get(row.get("pron") or "", row.get("pron") or ""),
        language=row["lang"],
        start=float(row.get("start") or 0.0),
        end=float(row["end"]) if row.get("end") else None,
        sentence=row.get("sentence_id") or "",
        official_test=row.get("official_split") in ("test", "testing"),
    )


def _npvcc(rows: list[dict[str, str]]) -> list[str]:
    """Keep the official split, of whose training sentences each speaker's last six validate."""
    sentences: dict[str, list[str]] = {}
    for row in rows:
        if row["split"] == "train":
            sentences.setdefault(row["speaker"], []).append(row["sentence_id"])
    held = {(speaker, s) for speaker, ids in sentences.items() for s in sorted(ids)[-6:]}
    names = {"train": "train", "eval": "test"}
    return [
        "val" if (row["speaker"], row["sentence_id"]) in held else names[row["split"]]
        for row in rows
    ]


def _own_split(rows: list[dict[str, str]]) -> list[str]:
    """Keep the corpus's own split, whose validation sentences and test speakers nothing trains
    on.
    """
    return [row["split"] for row in rows]


def _digits(rows: list[dict[str, str]]) -> list[str]:
    """Split by speaker; the official test utterances of training speakers are in the test split
    too.
    """
    splits = []
    for row in rows:
        if row["speaker"] in DIGIT_VALIDATION_SPEAKERS:
            splits.append("val")
        elif row["speaker"] in DIGIT_TEST_SPEAKERS or row["official_split"] == "test":
            splits.append("test")
        else:
            splits.append("train")
    return splits


def _official(rows: list[dict[str, str]]) -> list[str]:
    names = {"training": "train", "validation": "val", "testing": "test"}
    return [names.get(row["official_split"], row["official_split"]) for row in rows]


def _dspspeech(rows: list[dict[str, str]]) -> list[str]:
    """Split by speaker: dsp25 to dsp27 validate, dsp28 and above test."""
    numbers = [int(row["speaker"].removeprefix("dsp")) for row in rows]
    return ["train" if n < 25 else "val" if n < 28 else "test" for n in numbers]


def _unlabelled(rows: list[dict[str, str]]) -> list[str]:
    """Let every tenth recording validate: speakers are unknown, and nothing is tested here."""
    return ["val" if i % 10 == 9 else "train" for i in range(len(rows))]


def _grid(row: dict[str, str], folder: Path) -> Item:
    item = Item(
        corpus="grid",
        path=folder / row["path"],
        speaker="S1" if row["speaker"] == "s1" else row["speaker"],
        split=row["split"] if row["split"] in ("train", "val") else "test",
        text=row["sentence"],
    )
    if float(row["speech_minus_rest_db"] or 99.0) >= GRID_CLEAN:
        return item
    words = grid_words(item)
    return replace(item, start=max(words[0][1] - 0.1, 0.0), end=words[-1][2] + 0.1)
