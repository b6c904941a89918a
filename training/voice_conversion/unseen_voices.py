"""Rows on conversions to people whom no training knew, from a recording of them.

SECS is the cosine of a conversion and 30 s of its target, by two encoders of speakers: that of
Resemblyzer, and one that no training and no choice saw. Next to it stands how often they find a
conversion nearer to its target than to its source and to OTHERS speakers; words, by Whisper; and
DNSMOS.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
from scipy.signal import fftconvolve, firwin2

from earshot.media.constants import NYQUIST, SAMPLE_RATE
from earshot.pretrained import judges
from earshot.systems.voice_conversion.any_voice import AnyVoiceConversion
from training.common.corpora import speech_items, waveforms
from training.common.processes import Row
from training.judges import dvector, whisper_base
from training.judges.sphinx import Spoken, open_test_set

CORPUS: Final = "librispeech_251"  # whose training speakers are the others
OTHERS: Final = 20
TARGET_SECONDS: Final = 30
REFERENCES: Final = (10, 20, TARGET_SECONDS)  # seconds of a voice
SOURCES, QUICK = 8, 2  # recordings that are converted to each target
ENCODERS: Final = {"": judges.embed, "_dvector": dvector.embed}  # by the ending of their columns
# A small room and a cheap microphone: in the reference alone, not in what it is compared with.
ROOM_SECONDS: Final = 0.3
DECAY: Final = 0.06  # s, to 1/e
DIRECT: Final = 6.0  # times the deviation of the room's echoes
BANDS: Final = (0, 100, 300, 1000, 3000, 5000, 7500, NYQUIST)  # Hz
MAX_GAIN: Final = 6.0  # dB either way in a band


@dataclass(frozen=True, eq=False)
class Target:
    """A speaker. speech: TARGET_SECONDS of theirs (T,); others: recordings that are not in it."""

    name: str
    speech: np.ndarray
    others: list[Spoken]


@dataclass(frozen=True, eq=False)
class Conversion:
    """A conversion of a source to a target; waveform (T,)."""

    target: Target
    source: Spoken
    waveform: np.ndarray


def unseen_voices(data: Path, converter: AnyVoiceConversion, quick: bool = False) -> list[Row]:
    """Measure other recordings of the targets, and conversions to them: a row a reference.

    Raises ModuleNotFoundError where a judge is missing.
    """
    if not (judges.has_resemblyzer() and dvector.available() and whisper_base.available()):
        raise ModuleNotFoundError("The judges of unseen voices: requirements-evaluate.txt.")
    test_set = open_test_set(data)["visitors"]
    targets = [_target(name, test_set) for name in dict.fromkeys(s.speaker for s in test_set)]
    items = [i for i in speech_items(data) if i.corpus == CORPUS and i.split == "train"]
    strangers = [waveform for _, waveform in waveforms(items[:OTHERS])]
    sources = {
        target.name: _spread([s for s in test_set if s.speaker != target.name], quick)
        for target in targets
    }

    def converted(change: Callable[[np.ndarray], np.ndarray], corrected: bool) -> list[Conversion]:
        conversions = []
        for target in targets:
            reference = converter.reference((SAMPLE_RATE, change(target.speech)))
            voice = converter.voice(reference)
            voice = voice if corrected else replace(voice, corrections=())
            for source in sources[target.name]:
                speech = converter((SAMPLE_RATE, source.waveform), voice).converted.waveform
                conversions.append(Conversion(target, source, speech))
        return conversions

    original = [Conversion(t, s, s.waveform) for t in targets for s in t.others]
    rows = [_row("other recordings of the target", original, strangers)]
    references = {f"{s} s": (partial(_cut, seconds=s), True) for s in REFERENCES}
    whole = f"{TARGET_SECONDS} s"
    references |= {f"{whole}, in another room": (in_a_room, True)}
    references |= {f"{whole}, without correction": (partial(_cut, seconds=TARGET_SECONDS), False)}
    for label, (change, corrected) in references.items():
        rows.append(_row(f"any-voice, {label}", converted(change, corrected), strangers))
    return rows


def in_a_room(waveform: np.ndarray, seed: int = 0) -> np.ndarray:
    """Simulate that speech (T,) was recorded in another room, by another microphone: (T,)."""
    random = np.random.default_rng(seed)
    times = np.arange(round(ROOM_SECONDS * SAMPLE_RATE)) / SAMPLE_RATE
    room = random.standard_normal(len(times)) * np.exp(-times / DECAY)
    room[0] = DIRECT
    gains = 10 ** (random.uniform(-MAX_GAIN, MAX_GAIN, len(BANDS)) / 20)
    gains[0] = 0
    microphone = firwin2(255, BANDS, gains, fs=SAMPLE_RATE)
    recorded = fftconvolve(fftconvolve(waveform, room), microphone)[: len(waveform)]
    level = np.sqrt(np.square(waveform).mean() / np.square(recorded).mean())
    return (level * recorded).astype(np.float32)


def _target(name: str, test_set: Sequence[Spoken]) -> Target:
    spoken = [s for s in test_set if s.speaker == name]
    ends = np.cumsum([len(s.waveform) for s in spoken])
    length = TARGET_SECONDS * SAMPLE_RATE
    speech = np.concatenate([s.waveform for s in spoken])[:length]
    others = [s for s, end in zip(spoken, ends, strict=True) if end - len(s.waveform) >= length]
    return Target(name, speech, others)


def _spread(spoken: list[Spoken], quick: bool) -> list[Spoken]:
    return spoken[:: max(1, len(spoken) // (QUICK if quick else SOURCES))]


def _cut(waveform: np.ndarray, seconds: int) -> np.ndarray:
    return waveform[: seconds * SAMPLE_RATE]


def _row(name: str, conversions: list[Conversion], strangers: list[np.ndarray]) -> Row:
    row: Row = {"system": name, "shipped": False, "conversions": len(conversions)}
    speech = [c.waveform for c in conversions]
    voices = {c.target.name: c.target.speech for c in conversions}
    spoken = {id(c.source): c.source.waveform for c in conversions}
    for ending, embed in ENCODERS.items():
        targets = dict(zip(voices, embed(list(voices.values())), strict=True))
        sources = dict(zip(spoken, embed(list(spoken.values())), strict=True))
        others, nearer, cosines = embed(strangers), [], []
        for vector, c in zip(embed(speech), conversions, strict=True):
            cosines.append(vector @ targets[c.target.name])
            own = c.source.speaker == c.target.name  # then there is no other source
            away = others if own else np.vstack([others, sources[id(c.source)]])
            nearer.append(cosines[-1] > (away @ vector).max())
        row[f"secs{ending}"] = float(np.mean(cosines))
        row[f"nearer_of_21{ending}"] = float(np.mean(nearer))
    words = [c.source.words for c in conversions]
    wrong, before = (
        whisper_base.error_rate(words, [whisper_base.words(w) for w in waveforms])
        for waveforms in (speech, [c.source.waveform for c in conversions])
    )
    return row | {"whisper_wer": wrong, "whisper_added": wrong - before} | judges.dnsmos(speech)
