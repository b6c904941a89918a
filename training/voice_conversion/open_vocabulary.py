"""Rows on what visitors record: any sentence, by people whom no training knew, to any voice.

A row a system and group (studio, visitors): word errors, points above the original's, by
pocketsphinx and, where it is installed, by Whisper base, the latter in babble at 10 dB as well; and
naturalness where speechmos is installed. A row on the notice
that noise covers the words: how often it comes, in babble and without it.
"""

from collections import defaultdict
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from earshot.media.constants import SAMPLE_RATE
from earshot.pretrained import judges
from earshot.systems.voice_conversion.converter import MIN_SECONDS, is_covered
from training.common.corpora import Item, speech_items, waveforms
from training.common.processes import Job, Row
from training.judges import whisper_base
from training.judges.hub import Whisper
from training.judges.metrics import word_error_rate
from training.judges.sphinx import (
    OpenRecogniser,
    Spoken,
    open_test_set,
    recogniser,
)
from training.voice_conversion.systems import Original, Speaker

TARGETS: Final = ("TF2", "SM1")
MAX_SENTENCES, QUICK = 20, 4  # recordings of each group, spread over all of them
VISITORS: Final = "visitors"  # the group that no training knew
TALKING: Final = 6  # voices of the babble
LEVELS: Final = (20.0, 10.0, 5.0, 0.0)  # dB of speech to babble
NOTICE_LEVELS: Final = (*LEVELS, -5.0)
MAX_OF_SPEAKER: Final = 12  # recordings that the notice may come with
MAX_SECONDS: Final = 8.0  # of these
BABBLE: Final = "librispeech_251"  # the corpus whose validation speakers talk in it
ADDED: Final = {"open_wer": "open_wer_added", "whisper_wer": "whisper_added"}


def open_jobs(
    data: Path,
    systems: list[Speaker],
    shipped: str,
    split: str,
    quick: bool,
    asr: Whisper | None = None,
) -> list[Job]:
    """Make jobs that measure a row of each system in each group.

    shipped: the name of the system that is the app's default; asr: instead of pocketsphinx.
    """
    jobs: list[Job] = []
    for group, test_set in open_test_set(data, every=split == "all").items():
        some = test_set[:: max(1, len(test_set) // (QUICK if quick else MAX_SENTENCES))]
        judge = asr or recogniser(group, test_set)
        jobs += [partial(_open_row, s, group, judge, some, shipped) for s in systems]
    return jobs


def _open_row(
    system: Speaker,
    group: str,
    judge: OpenRecogniser | Whisper,
    some: list[Spoken],
    shipped: str,
) -> list[Row]:
    voices = tuple(v for v in TARGETS if v in system.voices)
    converted, words = _converted(system, [s.waveform for s in some], some, voices)
    row: Row = {"system": system.name, "group": group, "shipped": system.name == shipped}
    row["open_wer"] = word_error_rate(words, [judge.words(waveform) for waveform in converted])
    if whisper_base.available():
        recognised = [whisper_base.words(waveform) for waveform in converted]
        row["whisper_wer"] = whisper_base.error_rate(words, recognised)
        row["noise_10db"] = _errors_in_babble(system, some, voices, 10.0)
    return [row | (judges.dnsmos(converted) if judges.has_dnsmos() else {})]


def noise_jobs(data: Path, systems: list[Speaker], shipped: str, quick: bool) -> list[Job]:
    """List jobs that make a row of each system, of word errors by Whisper in visitors' speech at
    LEVELS.

    shipped: the name of the system that is the app's default.
    """
    test_set = open_test_set(data).get(VISITORS, [])
    some = test_set[:: max(1, len(test_set) // (QUICK if quick else MAX_SENTENCES))]
    return [partial(_noise_row, system, some, shipped) for system in systems if some]


def _noise_row(system: Speaker, some: list[Spoken], shipped: str) -> list[Row]:
    voices = tuple(v for v in TARGETS if v in system.voices)
    row: Row = {"system": system.name, "group": VISITORS, "shipped": system.name == shipped}
    for snr in LEVELS:
        row[f"noise_{snr:.0f}db"] = _errors_in_babble(system, some, voices, snr)
    return [row]


def _errors_in_babble(
    system: Speaker, some: list[Spoken], voices: tuple[str, ...], snr: float
) -> float:
    """Measure word errors in % by Whisper of what a system makes of recordings in babble of the
    others.
    """
    others = np.concatenate([spoken.waveform for spoken in some])
    noisy = [in_babble(s.waveform, others, n, snr) for n, s in enumerate(some)]
    converted, words = _converted(system, noisy, some, voices)
    return whisper_base.error_rate(words, [whisper_base.words(w) for w in converted])


def _converted(
    system: Speaker, waveforms: list[np.ndarray], some: list[Spoken], voices: tuple[str, ...]
) -> tuple[list[np.ndarray], list[list[str]]]:
    """Convert waveforms by a system, to each of the voices, with the words of each."""
    converted, words = [], []
    for waveform, spoken in zip(waveforms, some, strict=True):
        copies = system.convert(waveform, voices)
        converted += copies
        words += [spoken.words] * len(copies)
    return converted, words


def in_babble(waveform: np.ndarray, speech: np.ndarray, seed: int, snr: float) -> np.ndarray:
    """Mix speech (T,) with TALKING other voices at ``snr`` dB, from random places of ``speech``."""
    random = np.random.default_rng(seed)
    starts = random.integers(0, max(1, len(speech) - len(waveform)), TALKING)
    babble = sum(np.resize(speech[s : s + len(waveform)], len(waveform)) for s in starts)
    gain = np.sqrt(np.square(waveform).mean() / max(np.square(babble).mean(), 1e-12))
    return (waveform + gain * 10 ** (-snr / 20) * babble).astype(np.float32)


def with_added(rows: list[Row]) -> list[Row]:
    """Add to the rows the points by which open word errors are above the original's."""
    in_groups = [row for row in rows if "group" in row]
    originals = {r["group"]: r for r in in_groups if r["system"] == Original.name}
    for row in in_groups:
        if row["system"] != Original.name:
            for metric, added in ADDED.items():
                if metric in row:
                    row[added] = row[metric] - originals[row["group"]][metric]
    return rows


def notice_rows(data: Path) -> list[Row]:
    """Make a row of the shares in % of validation recordings that the notice comes with.

    They are of all corpora, of MIN_SECONDS or more; the babble is of other speakers. There is no
    row without recordings.
    """
    every: dict[tuple[str, str | None], list[Item]] = defaultdict(list)
    for item in speech_items(data):
        if item.split == "val":
            every[item.corpus, item.speaker].append(item)
    some = [i for items in every.values() for i in items[:: -(-len(items) // MAX_OF_SPEAKER)]]
    recordings = [
        (item, waveform[: round(MAX_SECONDS * SAMPLE_RATE)])
        for item, waveform in waveforms(some)
        if len(waveform) >= MIN_SECONDS * SAMPLE_RATE
    ]
    if not recordings:
        return []
    warned = {f"warned_{level:.0f}db": [] for level in NOTICE_LEVELS} | {"warned_clean": []}
    for seed, (item, waveform) in enumerate(recordings):
        others = np.concatenate(
            [w for i, w in recordings if i.corpus == BABBLE and i.speaker != item.speaker]
        )
        warned["warned_clean"].append(is_covered(waveform))
        for level in NOTICE_LEVELS:
            noisy = in_babble(waveform, others, seed, level)
            warned[f"warned_{level:.0f}db"].append(is_covered(noisy))
    shares = {column: 100 * float(np.mean(notices)) for column, notices in warned.items()}
    group = f"validation, {len(recordings)} recordings"
    return [{"system": "notice of noise", "group": group, "shipped": False, **shares}]
