"""Nobody's voice: what it is drawn from, and how far speakers are hidden by it.

Measured as the VoicePrivacy challenges do (Tomashenko et al. 2024, arXiv:2404.02677): a verifier of
speakers is to link a trial with the enrolment of the person who said it, and its equal error rate
is 50 % where it can only guess. Trials are anonymised, each as a visit of its own. Attackers:

- ignorant: enrols speakers with original speech;
- informed (*lazy-informed*): has the system, and enrols with speech that it has anonymised itself,
  by other draws. The *semi-informed*, whose verifier is also trained on such speech, is not here.

The speakers are LibriSpeech's, of validation and test, by whom no network was trained; of those
with one recording the halves are enrolment and trial. Words are those of the trials with a text, by
Whisper.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
import torch

from earshot.core.paths import ASSETS, CHECKPOINTS
from earshot.media.audio.load import load
from earshot.media.constants import SAMPLE_RATE
from earshot.pretrained import judges
from earshot.pretrained.nobody import Strangers
from earshot.pretrained.voice import Nobody
from earshot.systems.voice_conversion.any_voice import AnyVoiceConversion
from earshot.systems.voice_conversion.converter import at_level
from earshot.systems.voice_conversion.settings import ANY_VOICE, CONTINUOUS
from training.common.corpora import speech_items, waveforms
from training.common.processes import Row
from training.common.report import print_table
from training.judges import dvector, whisper_base
from training.judges.metrics import equal_error
from training.judges.sphinx import open_test_set
from training.voice_conversion.unseen_voices import CORPUS, ENCODERS

STRENGTHS: Final = (0.2, 0.4, 0.6, 0.8, 1.0)
MORE_HIDDEN: Final = "units-512"  # a model with less room for a speaker, at full strength
ENROLLED: Final = 15 * SAMPLE_RATE  # samples at least of a test speaker's enrolment
OF_SPEAKER: Final = 4  # trials at most of one of these
QUICK: Final = 6  # speakers of validation, and a trial of each of test

Embed = Callable[[Sequence[np.ndarray]], np.ndarray]


@dataclass(frozen=True, eq=False)
class Trial:
    """Speech of a person, to be linked with their enrolment; waveforms (T,); words: said in the
    trial, where they are known."""

    speaker: str
    enrolment: np.ndarray
    waveform: np.ndarray
    words: list[str]


def fit_strangers(data: Path, out: Path = CHECKPOINTS) -> None:
    """Write the distribution of the voices of CORPUS' training speakers into out/any-voice."""
    torch.set_num_threads(1)
    converter = AnyVoiceConversion.load(out / ANY_VOICE, "cpu")
    items = [i for i in speech_items(data) if i.corpus == CORPUS and i.split == "train"]
    levelled = (at_level(waveform, 320) for _, waveform in waveforms(items))
    voices = [voice for waveform in levelled if (voice := converter.own_voice(waveform))]
    Strangers.of(voices).save(out / ANY_VOICE)


def trials_of(data: Path, quick: bool = False) -> list[Trial]:
    """List the trials."""
    trials = []
    items = [i for i in speech_items(data) if i.corpus == CORPUS and i.split == "val"]
    for item, waveform in waveforms(items[:QUICK] if quick else items):
        one, other = np.array_split(waveform, 2)
        name = str(item.speaker)
        trials.append(Trial(name, one, other, []))
    test_set = open_test_set(data)["visitors"]
    for name in dict.fromkeys(s.speaker for s in test_set):
        own = [s for s in test_set if s.speaker == name]
        ends = np.cumsum([len(s.waveform) for s in own])
        first = int(np.searchsorted(ends, ENROLLED)) + 1
        enrolment = np.concatenate([s.waveform for s in own[:first]])
        rest = own[first:][: 1 if quick else OF_SPEAKER]
        trials += [Trial(name, enrolment, s.waveform, s.words) for s in rest]
    return trials


def nobody_rows(
    data: Path, json_out: Path | None = None, quick: bool = False, only: Sequence[str] = ()
) -> list[Row]:
    """Measure originals and conversions to Nobody at STRENGTHS; print and return a row each.

    only: names of rows. Raises ModuleNotFoundError where a judge is missing.
    """
    if not (judges.has_resemblyzer() and dvector.available() and whisper_base.available()):
        raise ModuleNotFoundError("The judges of nobody's voice: requirements-evaluate.txt.")
    torch.set_num_threads(1)
    loaded = AnyVoiceConversion.load(CHECKPOINTS / ANY_VOICE, "cpu")
    trials = trials_of(data, quick)
    systems = {f"nobody, {s:.1f}": (s, CONTINUOUS) for s in STRENGTHS}
    systems[f"nobody, {STRENGTHS[-1]:.1f}, {MORE_HIDDEN}"] = (STRENGTHS[-1], MORE_HIDDEN)
    verifiers = {ending: Verifier.of(embed, trials) for ending, embed in ENCODERS.items()}
    rows = [] if only and "original" not in only else [_original_row(trials, verifiers)]
    for name, (strength, model) in systems.items():
        if not only or name in only:
            convert = partial(_anonymised, loaded.at(model), strength)
            rows.append(_row(name, convert, trials, verifiers))
    print_table(rows)
    if json_out:
        json_out.write_text(json.dumps({"rows": rows}, indent=2) + "\n", encoding="utf-8")
    return rows


def _anonymised(
    converter: AnyVoiceConversion, strength: float, waveform: np.ndarray, seed: int
) -> np.ndarray:
    target = Nobody(strength, seed)
    return converter((SAMPLE_RATE, waveform), target).converted.waveform


@dataclass(frozen=True, eq=False)
class Verifier:
    """An encoder of speakers, with its vectors of the original trials and enrolments (N, D), and of
    the shipped voices.
    """

    embed: Embed
    trials: np.ndarray
    enrolments: np.ndarray
    shipped: np.ndarray

    @classmethod
    def of(cls, embed: Embed, trials: Sequence[Trial]) -> "Verifier":
        """Encode what is not converted."""
        tried = embed([trial.waveform for trial in trials])
        paths = sorted((ASSETS / "voices").glob("*.ogg"))
        shipped = embed([load(path, SAMPLE_RATE).waveform for path in paths])
        return cls(embed, tried, embed([trial.enrolment for trial in trials]), shipped)


def _original_row(trials: Sequence[Trial], verifiers: Mapping[str, Verifier]) -> Row:
    """Measure how often the verifiers err on originals, and how alike strangers are."""
    row: Row = {"system": "original", "shipped": False, "trials": len(trials)}
    speakers = np.array([trial.speaker for trial in trials])
    for ending, verifier in verifiers.items():
        cosines = verifier.trials @ verifier.enrolments.T
        row[f"eer_ignorant{ending}"] = _error(cosines, speakers)
        row[f"like_source{ending}"] = float(cosines[speakers[:, None] != speakers].mean())
        row[f"like_shipped{ending}"] = _nearest(verifier.trials, verifier)
    return row | _quality([t.waveform for t in trials], trials)


def _row(
    name: str,
    convert: "partial[np.ndarray]",
    trials: Sequence[Trial],
    verifiers: Mapping[str, Verifier],
) -> Row:
    """Measure conversions: every trial and every enrolment by its own draw."""
    row: Row = {"system": name, "shipped": False, "trials": len(trials)}
    converted = [convert(t.waveform, seed) for seed, t in enumerate(trials)]
    first = {t.speaker: t.enrolment for t in trials}
    enrolled = {s: convert(w, 10_000 + n) for n, (s, w) in enumerate(first.items())}
    speakers = np.array([trial.speaker for trial in trials])
    for ending, verifier in verifiers.items():
        tried = verifier.embed(converted)
        own = dict(zip(enrolled, verifier.embed(list(enrolled.values())), strict=True))
        informed = np.stack([own[speaker] for speaker in speakers])
        row[f"eer_ignorant{ending}"] = _error(tried @ verifier.enrolments.T, speakers)
        row[f"eer_informed{ending}"] = _error(tried @ informed.T, speakers)
        row[f"like_source{ending}"] = float((tried * verifier.trials).sum(axis=1).mean())
        row[f"like_shipped{ending}"] = _nearest(tried, verifier)
    return row | _quality(converted, trials)


def _nearest(tried: np.ndarray, verifier: Verifier) -> float:
    return float((tried @ verifier.shipped.T).max(axis=1).mean())


def _error(cosines: np.ndarray, speakers: np.ndarray) -> float:
    """Compute the equal error rate in % of linking trials with enrolments, of cosines (N, N)."""
    same = speakers[:, None] == speakers
    return 100 * equal_error(cosines[same], cosines[~same])[1]


def _quality(converted: Sequence[np.ndarray], trials: Sequence[Trial]) -> Row:
    spoken = [(w, t.words) for w, t in zip(converted, trials, strict=True) if t.words]
    recognised = [whisper_base.words(waveform) for waveform, _ in spoken]
    wrong = whisper_base.error_rate([words for _, words in spoken], recognised)
    return {"whisper_wer": wrong} | judges.dnsmos(converted)
