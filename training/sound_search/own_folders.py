"""The threshold of a match in a folder of anything: speech, noise and tones.

That of everyday sounds is the point of equal error in a library of hundreds of clips of fifty
kinds. A folder of one's own is smaller, and holds what the model knows less well: both make the
best score lower.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from earshot.sound_index.embedding import SoundEncoder
from earshot.systems.sound_search.encoder import EarshotEncoder
from training.common.corpora import speech_items
from training.common.report import markdown
from training.judges.metrics import equal_error
from training.sound_search.corpus import SPEECH, spoken

COLUMNS: Final = {
    "lowest": ("lowest best score of a match", ".2f"),
    "median": ("median", ".2f"),
    "highest_other": ("highest of another query", ".2f"),
    "error": ("error", ".3f"),
}
LABEL_COLUMNS: Final = {
    "missed": ("matches that are missed", ".3f"),
    "invented": ("other queries that match", ".3f"),
    "error": ("error", ".3f"),
}
N_SOUNDS: Final = 12  # in each folder
SECONDS: Final = 3.0  # of noise and tones
# Folder → queries of which it holds the sounds.
MATCHES: Final[Mapping[str, tuple[str, ...]]] = {
    "speech": ("someone speaks", "a person is talking", "speech", "a human voice"),
    "noise": ("white noise", "static noise", "hiss", "radio static"),
    "tones": ("a pure tone", "a beep", "beeping", "an electronic tone"),
}
# Queries that none of the folders holds.
OTHERS: Final = (
    "a dog barks",
    "glass breaks",
    "a church bell rings",
    "an engine starts",
    "someone walks on gravel",
    "a cat meows",
    "a door slams",
    "a guitar plays",
)


def evaluate_own(
    data: Path, folders: Sequence[Path], default: Sequence[Path], publish: bool
) -> None:
    """Print the threshold of each checkpoint, write it into its config if it is to be published,
    and print how often the default model labels such folders wrong."""
    for folder in folders:
        threshold, rows = calibrate_own(EarshotEncoder.from_pretrained(folder, "cpu"), data)
        print(folder.name, markdown(rows, COLUMNS), sep="\n")
        if publish:
            write_own_threshold(folder, threshold)
    encoder = EarshotEncoder.from_pretrained(default, "cpu")
    print(encoder.name, markdown(measure_own(encoder, data), LABEL_COLUMNS), sep="\n")


def calibrate_own(encoder: SoundEncoder, data: Path) -> tuple[float, list[dict[str, Any]]]:
    """Find the point of equal error between queries that a folder answers and queries that it does
    not, by the best score in it.

    Returns the threshold, and a row a folder: the lowest and the highest best score of either kind
    of query. Raises SystemExit where the data has no speech.
    """
    matching, others, rows = [], [], []
    for folder, right, false in _best_scores(encoder, data):
        matching += right.tolist()
        others += false.tolist()
        spread = {"lowest": right.min(), "highest_other": false.max(), "median": np.median(right)}
        rows.append({"system": folder, **{name: float(x) for name, x in spread.items()}})
    threshold, error = equal_error(np.array(matching), np.array(others))
    rows.append({"system": f"threshold {threshold:.2f}", "error": error})
    return threshold, [row | {"shipped": False} for row in rows]


def measure_own(encoder: SoundEncoder, data: Path) -> list[dict[str, Any]]:
    """Measure how often a folder is labelled wrong at the encoder's own threshold: a row a folder
    and one of all queries, with the shares of matches that are missed and of other queries that
    match, and the mean of the two.

    Raises SystemExit where the data has no speech.
    """
    threshold, rows, labels = encoder.own_threshold, [], []
    for folder, right, false in _best_scores(encoder, data):
        labels.append((right < threshold, false >= threshold))
        rows.append({"system": folder, **_errors(*labels[-1])})
    missed, invented = (np.concatenate(each) for each in zip(*labels, strict=True))
    rows.append({"system": f"all, threshold {threshold:.2f}", **_errors(missed, invented)})
    return [row | {"shipped": False} for row in rows]


def _errors(missed: np.ndarray, invented: np.ndarray) -> dict[str, float]:
    shares = {"missed": float(missed.mean()), "invented": float(invented.mean())}
    return shares | {"error": sum(shares.values()) / 2}


def _best_scores(encoder: SoundEncoder, data: Path) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield, for each folder, the best score of each query that it answers, and of each other."""
    for folder, sounds in _folders(data, encoder.sample_rate):
        vectors = np.stack([_mean(encoder, sound) for sound in sounds])
        wrong = [*OTHERS, *(q for name, qs in MATCHES.items() if name != folder for q in qs)]
        best = encoder.embed_text([*MATCHES[folder], *wrong]) @ vectors.T
        right, false = np.split(best.max(axis=1), [len(MATCHES[folder])])
        yield folder, right, false


def write_own_threshold(checkpoint: Path, threshold: float) -> None:
    """Set the threshold of own folders in the config of a checkpoint."""
    path = checkpoint / "config.json"
    config = json.loads(path.read_text())
    names = [name for name in config if name != "own_threshold"]
    names.insert(names.index("threshold") + 1, "own_threshold")
    config["own_threshold"] = round(threshold, 4)
    path.write_text(json.dumps({name: config[name] for name in names}, indent=2) + "\n")


def _folders(data: Path, rate: int) -> Iterator[tuple[str, list[np.ndarray]]]:
    rng = np.random.default_rng(0)
    items = [item for item in speech_items(data) if item.split != "train"]
    if not items:
        raise SystemExit(f"There is no speech in {data}.")
    chosen = [items[i] for i in rng.choice(len(items), N_SOUNDS, replace=False)]
    yield SPEECH, [spoken(item, rate) for item in chosen]
    time = np.arange(round(SECONDS * rate)) / rate
    white = rng.standard_normal((N_SOUNDS, len(time)))
    yield "noise", [_normal(_coloured(x, i % 2 / 2)) for i, x in enumerate(white)]
    pitches = 200 * 2 ** rng.uniform(0, 4, N_SOUNDS)  # Hz
    gates = [time % 0.5 < (0.2 if i % 2 else 1.0) for i in range(N_SOUNDS)]
    waves = (np.sin(2 * np.pi * f * time) * gate for f, gate in zip(pitches, gates, strict=True))
    yield "tones", [_normal(wave) for wave in waves]


def _coloured(noise: np.ndarray, exponent: float) -> np.ndarray:
    """Divide the amplitudes by the frequency to a power: 0 is white noise, a half pink."""
    spectrum = np.fft.rfft(noise)
    return np.fft.irfft(spectrum / np.maximum(np.arange(len(spectrum)), 1) ** exponent, len(noise))


def _normal(wave: np.ndarray) -> np.ndarray:
    return (0.3 * wave / np.abs(wave).max()).astype(np.float32)


def _mean(encoder: SoundEncoder, waveform: np.ndarray) -> np.ndarray:
    mean = encoder.embed_audio(encoder.segments(waveform)).vectors.mean(axis=0)
    return mean / np.linalg.norm(mean)
