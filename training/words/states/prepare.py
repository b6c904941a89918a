"""Pack the states of words and sentences, and a lexicon, into one small file for training.

People's words come from the word corpora; fluent speech from prompts whose texts are known, and
from LibriSpeech, whose utterances Whisper base writes down: runs of words that it is sure of.
Each is heard VIEWS times: in noise, far away, by telephone, or as it is.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from scipy.signal import butter, sosfilt

from earshot.core.errors import InputError
from earshot.media.audio.load import match_loudness
from earshot.media.constants import SAMPLE_RATE
from earshot.media.text.phonemes import from_arpabet, from_pinyin, numbers, pronunciations
from earshot.pretrained.recogniser import load_states
from earshot.systems.words.front_end import States
from training.common.corpora import LEVEL, Item, speech_items, waveforms
from training.common.processes import in_processes
from training.common.sounds import TRAINING_FOLDS
from training.common.zero_shot import has_zero_shot_word, zero_shot
from training.judges.whisper_base import MISSING, TimedWord, available, timed_words
from training.words.recordings import (
    fluent_words,
    is_trained_on,
    load_recordings,
    phonemes_of,
    validation_items,
    word_items,
)
from training.words.states import arrays as basis
from training.words.states.arrays import FILE, KINDS, LANGUAGES, LAYERS, OCTAVE, VALIDATION, Packed
from training.words.synthesis import (
    arabic,
    consistent_with_voice,
    english,
    mandarin,
    rendition,
    speak,
)
from training.words.test_set import far, in_noise, noises

SEED: Final = 0
MAX_EACH: Final = 80  # recordings of a word at most
N_VALIDATION: Final = 450  # recordings
VIEWS: Final = 2  # of each recording that is trained on
SYNTHETIC: Final = {"en": 900, "zh": 1500, "ar": 1500}  # words
LEXICON: Final = {"en": 40_000, "zh": 8000, "ar": 8000}  # words
LEXICON_PHONEMES: Final = (2, 16)
COMPONENTS: Final = 128
STEP: Final = 0.55  # of the packed components
N_STATES: Final = 40_000  # states, of which the components are
SENTENCE: Final = (3, 90)  # phonemes
MAX_SENTENCE: Final = 9.0  # seconds
SURE: Final = 0.5  # probability that Whisper gives a word
MAX_WORD, MAX_PAUSE, MAX_RUN = 1.6, 0.6, 5.0  # seconds
BEFORE, AFTER = 0.05, 0.08  # seconds kept around a run
NOISY, FAR, TELEPHONE = 0.5, 0.07, 0.08  # shares of the recordings
FAR_TAIL: Final = 1600  # samples of the room that are kept after the speech
SNRS: Final = (-2.0, 20.0)  # dB
VALIDATED_SNRS: Final = (0.0, 10.0)  # dB
BAND: Final = (300, 3400)  # Hz, of a telephone

Phonemes = tuple[str, ...]


@dataclass(frozen=True)
class Utterance:
    """A recording (T,) of a kind (arrays.KINDS), with its phonemes and language."""

    kind: str
    phonemes: Phonemes
    language: str
    waveform: np.ndarray


def prepare_states(data: Path, out: Path) -> None:
    """Write out/states.npz, and out/basis.npz: mean (D,) and std (D,) of the states, and their
    principal components (D, K). Raises SystemExit where Whisper base is not installed."""
    if not available():
        raise SystemExit(MISSING)
    out.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(SEED)
    sounds = noises(data, TRAINING_FOLDS)
    _front_end()  # once, before the processes are forked
    views = (
        view for utterance in _recordings(data, rng) for view in _views(utterance, sounds, rng)
    )
    kinds, languages, phonemes, frames = [], [], [], []
    for view, vectors in in_processes(_encoded, views):
        frames.append(vectors)
        kinds.append(KINDS.index(view.kind))
        languages.append(LANGUAGES.index(view.language))
        phonemes.append(tuple(numbers(view.phonemes)))
    lengths = np.array([len(one) for one in frames])
    together = np.concatenate(frames)
    states, pitch = together[:, :-2], together[:, -2:]
    mean, std, components = _components(states, rng)
    np.savez(out / basis.BASIS_FILE, mean=mean, std=std, basis=components)
    projected = [((part - mean) / std) @ components / STEP for part in np.array_split(states, 64)]
    Packed(
        _packed(np.concatenate(projected)),
        _packed(pitch * np.array([OCTAVE, 1])),
        STEP,
        lengths,
        phonemes,
        np.array(kinds, np.uint8),
        np.array(languages, np.uint8),
        _lexicon(rng),
    ).save(out / FILE)


@cache
def _front_end() -> States:
    return States(load_states(LAYERS, device="cpu"))


def _encoded(view: Utterance) -> tuple[Utterance, np.ndarray]:
    """Encode a view: what it is without its waveform, and its states and pitch (S, D + 2)."""
    torch.set_num_threads(1)
    frames = _front_end()(match_loudness(view.waveform, SAMPLE_RATE, LEVEL))
    return replace(view, waveform=np.empty(0)), frames.astype(np.float16)


def _recordings(data: Path, rng: np.random.Generator) -> Iterator[Utterance]:
    """Yield words of people, sentences, Mandarin syllables, and synthetic words."""
    items = word_items(data)
    for word in load_recordings(_few_of_each([i for i in items if is_trained_on(i)], rng)):
        yield Utterance("word", word.phonemes, word.item.language, word.waveform)
    validation = validation_items(items)
    chosen = rng.permutation(len(validation))[:N_VALIDATION]
    for word in load_recordings([validation[i] for i in np.sort(chosen)]):
        yield Utterance("val", word.phonemes, word.item.language, word.waveform)
    items = speech_items(data)
    for word in fluent_words(i for i in items if _is_prompt(i) and i.split == "val"):
        yield Utterance("fluent", word.phonemes, "en", word.waveform)
    for utterance in _sentences(items):
        if not any(_within(word, utterance.phonemes) for word in zero_shot(utterance.language)):
            yield utterance
    yield from _synthetic(rng)


def _few_of_each(items: list[Item], rng: np.random.Generator) -> list[Item]:
    """Choose at most MAX_EACH recordings of a word, in the order of their files."""
    by_word: dict[Phonemes, list[Item]] = {}
    for item in items:
        by_word.setdefault(phonemes_of(item), []).append(item)
    chosen = [
        of_word[i] for of_word in by_word.values() for i in rng.permutation(len(of_word))[:MAX_EACH]
    ]
    return sorted(chosen, key=lambda item: (str(item.path), item.start))


def _sentences(items: list[Item]) -> Iterator[Utterance]:
    """Yield English prompts with texts, toned syllables, and what LibriSpeech's speakers say."""
    training = [item for item in items if item.split == "train" and not has_zero_shot_word(item)]
    prompts = [item for item in training if item.corpus == "npvcc2016" or _is_prompt(item)]
    for item, waveform in waveforms(sorted(prompts, key=lambda i: (str(i.path), i.start))):
        runs = None if re.search(r"\d", item.text) else _spoken(item.text)
        short = len(waveform) < MAX_SENTENCE * SAMPLE_RATE
        if runs and SENTENCE[0] <= len(runs) <= SENTENCE[1] and short:
            yield Utterance("sentence", runs, "en", waveform)
    for item, waveform in waveforms([i for i in training if i.corpus == "mandarin_syllables"]):
        try:
            phonemes = from_pinyin(item.phones or item.text)
        except InputError:
            continue
        yield Utterance("word", phonemes, "zh", waveform)
    for _, waveform in waveforms([i for i in training if i.corpus == "librispeech_251"]):
        for runs, start, end in _runs(timed_words(waveform)):
            first, last = (round(second * SAMPLE_RATE) for second in (start, end))
            yield Utterance("sentence", runs, "en", waveform[max(first, 0) : last])


def _within(word: Phonemes, sentence: Phonemes) -> bool:
    """Say whether the phonemes of a word follow one another somewhere in a sentence: its stretches
    are trained on as words."""
    size = len(word)
    return any(sentence[i : i + size] == word for i in range(len(sentence) - size + 1))


def _is_prompt(item: Item) -> bool:
    return (item.corpus, item.language) == ("studio_prompts", "en")


def _runs(words: list[TimedWord]) -> Iterator[tuple[Phonemes, float, float]]:
    """Yield runs of words that the recogniser is sure of: phonemes, start and end in seconds."""
    run: list[tuple[Phonemes, float, float]] = []
    for word in [*words, None]:
        spoken = _spoken(word.text) if word and word.probability > SURE else None
        usable = word and spoken and word.end - word.start <= MAX_WORD
        near = word and run and word.start - run[-1][2] <= MAX_PAUSE
        goes_on = word and near and word.end - run[0][1] <= MAX_RUN
        if run and not (usable and goes_on):
            phonemes = tuple(phoneme for part, _, _ in run for phoneme in part)
            if len(phonemes) >= SENTENCE[0]:
                yield phonemes, run[0][1] - BEFORE, run[-1][2] + AFTER
            run = []
        if word and spoken and usable:
            run.append((spoken, word.start, word.end))


def _spoken(text: str) -> Phonemes | None:
    """Look up the phonemes of a text; None where a word is unknown, or a zero-shot one."""
    dictionary, phonemes = pronunciations(), []
    for word in re.findall(r"[a-z']+", text.lower().replace("’", "'")):
        phones = dictionary.get(word) or dictionary.get(word.strip("'"))
        if phones is None or from_arpabet(phones) in zero_shot("en"):
            return None
        phonemes += from_arpabet(phones)
    return tuple(phonemes) or None


def _synthetic(rng: np.random.Generator) -> Iterator[Utterance]:
    spellings = english(rng)
    some = [spellings[i] for i in rng.permutation(len(spellings))[: 2 * SYNTHETIC["en"]]]
    words = [
        *consistent_with_voice(some)[: SYNTHETIC["en"]],
        *mandarin(SYNTHETIC["zh"], rng),
        *arabic(SYNTHETIC["ar"], rng),
    ]
    for word in words:
        yield Utterance("synthetic", word.phonemes, word.language, speak(rendition(word, rng)))


def _lexicon(rng: np.random.Generator) -> list[tuple[int, ...]]:
    """List dictionary words and pseudo-words as numbers of phonemes; no zero-shot ones."""
    spelled = [variants[0] for _, variants in english(rng)]
    words = [
        *(spelled[i] for i in rng.permutation(len(spelled))[: LEXICON["en"]]),
        *(word.phonemes for word in mandarin(LEXICON["zh"], rng)),
        *(word.phonemes for word in arabic(LEXICON["ar"], rng)),
    ]
    shortest, longest = LEXICON_PHONEMES
    fitting = [word for word in words if shortest <= len(word) <= longest]
    return [tuple(numbers(word)) for word in dict.fromkeys(fitting)]


def _views(
    utterance: Utterance, sounds: list[np.ndarray], rng: np.random.Generator
) -> Iterator[Utterance]:
    """Yield what is heard of a recording."""
    if utterance.kind not in VALIDATION:
        for _ in range(VIEWS):
            yield replace(utterance, waveform=_degraded(utterance.waveform, sounds, rng))
        return
    yield utterance
    if utterance.kind == "val":
        noise = sounds[rng.integers(len(sounds))]
        snr = float(rng.uniform(*VALIDATED_SNRS))
        noisy = in_noise(utterance.waveform, noise, snr, rng.random())
        yield replace(utterance, kind="noisy", waveform=noisy)


def _degraded(
    waveform: np.ndarray, sounds: list[np.ndarray], rng: np.random.Generator
) -> np.ndarray:
    """Put a recording into noise, far away, behind a telephone, or leave it as it is."""
    draw = rng.random()
    if draw < NOISY:
        noise = sounds[rng.integers(len(sounds))]
        return in_noise(waveform, noise, float(rng.uniform(*SNRS)), rng.random())
    if draw < NOISY + FAR:
        return far(waveform, rng)[: len(waveform) + FAR_TAIL]
    if draw < NOISY + FAR + TELEPHONE:
        filtered: Any = sosfilt(butter(4, BAND, "band", fs=SAMPLE_RATE, output="sos"), waveform)
        return filtered.astype(np.float32)
    return waveform


def _components(
    states: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute mean and std of the states (F, D), and their first principal components (D, K)."""
    sample = states[np.sort(rng.permutation(len(states))[:N_STATES])].astype(np.float32)
    mean, std = sample.mean(axis=0), sample.std(axis=0) + 1e-4
    standard = (sample - mean) / std
    values, vectors = np.linalg.eigh(standard.T @ standard / len(standard))
    return mean, std, vectors[:, np.argsort(-values)[:COMPONENTS]]


def _packed(values: np.ndarray) -> np.ndarray:
    return np.clip(np.round(values), -127, 127).astype(np.int8)
