"""Words in the voices of many people: synthetic ones, and Mandarin ones joined from syllables.

espeak-ng is the only synthetic voice of Arabic and Mandarin, and one person recorded the syllables.
Voice conversion keeps the sounds and the intonation, which carries the tones, and changes the rest.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor

from earshot.core.paths import CHECKPOINTS
from earshot.media.audio.features import log_mel
from earshot.media.audio.load import match_loudness
from earshot.media.audio.pitch import track_pitch
from earshot.media.constants import HOP_LENGTH, SAMPLE_RATE
from earshot.media.text.phonemes import from_pinyin
from earshot.pretrained.voice import Voice, pitch_statistics
from earshot.systems.voice_conversion.any_voice import AnyVoiceConversion
from earshot.systems.voice_conversion.intonation import Intonation
from training.common.corpora import LEVEL, speech_items, waveforms
from training.common.zero_shot import is_zero_shot
from training.words.data.columns import Columns
from training.words.data.lexicon import sandhi
from training.words.data.synthesis import Rendition, speak

SEED: Final = 0
SPEAKERS: Final = 150  # whose voices words are converted to
GROUP: Final = 12  # words that are converted at once, to the same voice
PAUSE: Final = 24 * HOP_LENGTH  # samples between them
JOINED: Final = 4000  # words
# Seconds: shorter syllables have no tone, whatever the corpus says. Its third tones hardly rise at
# the end, as third tones within a word do.
NEUTRAL: Final = 0.25
FADE: Final = SAMPLE_RATE // 100  # samples at a joint


def write_converted(data: Path, plan: list[Rendition], path: Path) -> None:
    """Write synthetic words, each in the voice of a person, and Mandarin words joined from recorded
    syllables, each in the speaker's voice and in two others.
    """
    rng = np.random.default_rng(SEED)
    columns = Columns()
    converter = Converter(data, CHECKPOINTS / "any-voice")
    plan = sorted(plan, key=lambda one: one.voice)  # each voice in groups of its own
    frames = converter((speak(one) for one in plan), rng)
    for one, mel in zip(plan, frames, strict=True):
        columns.append(mel, one.word.phonemes, "", one.word.language)
    words = joined(data, rng)
    for waveform, phonemes in words:
        columns.add(waveform, phonemes, "", "zh")
    for _ in range(2):
        frames = converter((waveform for waveform, _ in words), rng)
        for (_, phonemes), mel in zip(words, frames, strict=True):
            columns.append(mel, phonemes, "", "zh")
    columns.write(path)


class Converter:
    """A converter of words to the voices of SPEAKERS people who read English books."""

    def __init__(self, data: Path, checkpoint: Path) -> None:
        self._system = AnyVoiceConversion.load(checkpoint, "cpu")
        items = [i for i in speech_items(data) if i.corpus == "librispeech_251"]
        some = [item for item in items if item.split == "train"][:SPEAKERS]
        self._voices = [self._voice(waveform) for _, waveform in waveforms(some)]

    def _voice(self, waveform: np.ndarray) -> Voice:
        vector = self._system.networks.voice(log_mel(waveform))
        return Voice("", vector, *pitch_statistics(track_pitch(waveform)))

    def __call__(
        self, words: Iterable[np.ndarray], rng: np.random.Generator
    ) -> Iterator[np.ndarray]:
        """Convert words (T,) of one speaker at 16 kHz to frames (S, M) of each, every GROUP of them
        in another voice.
        """
        remaining = iter(words)
        while group := list(islice(remaining, GROUP)):
            parts = [np.pad(w, (PAUSE, -len(w) % (2 * HOP_LENGTH))) for w in group]
            speech = np.concatenate([*parts, np.zeros(PAUSE, np.float32)])
            frames = self.say(speech, Intonation.of(track_pitch(speech)), self.any_of(rng))
            ends = np.cumsum([len(part) for part in parts]) // HOP_LENGTH
            for word, end in zip(group, ends, strict=True):
                yield frames[end - -(-len(word) // HOP_LENGTH) : end]

    def any_of(self, rng: np.random.Generator) -> Voice:
        """Draw one of the voices."""
        return self._voices[rng.integers(len(self._voices))]

    def say(self, speech: np.ndarray, intonation: Intonation, voice: Voice) -> np.ndarray:
        """Convert speech (T,) at 16 kHz, with another intonation, to a voice: its frames (S, M)."""
        return self.speak(self.content(speech), intonation, voice)

    @torch.inference_mode()
    def content(self, speech: np.ndarray) -> Tensor:
        """Encode what is said in speech (T,) at 16 kHz, not how: (U, C), U steps of two frames."""
        return self._system.passed(self._system.networks.encode(speech))

    @torch.inference_mode()
    def speak(self, content: Tensor, intonation: Intonation, voice: Voice) -> np.ndarray:
        """Speak content (U, C) with an intonation in a voice: its frames (S, M)."""
        contour = intonation.contour(voice.pitch_std)
        mel = self._system.networks.invert(
            content, torch.from_numpy(contour), voice, self._system.name
        )
        octaves = contour[:, 0] * (contour[:, 1] + voice.pitch_mean) / np.log(2)
        return np.column_stack([mel.numpy(), octaves]).astype(np.float32)


def joined(data: Path, rng: np.random.Generator) -> list[tuple[np.ndarray, tuple[str, ...]]]:
    """Join JOINED Mandarin words of one to three recorded syllables, as waveforms (T,) and
    phonemes.
    """
    items = [i for i in speech_items(data) if i.corpus == "mandarin_syllables"]
    syllables = [
        (item.text, waveform)
        for item, waveform in waveforms(items)
        if len(waveform) > NEUTRAL * SAMPLE_RATE
    ]
    words: dict[tuple[str, ...], np.ndarray] = {}
    while len(words) < JOINED:
        count = rng.choice([1, 2, 3], p=[0.1, 0.75, 0.15])
        chosen = [syllables[i] for i in rng.integers(len(syllables), size=count)]
        texts = [text for text, _ in chosen]
        phonemes = from_pinyin(" ".join(texts))
        if not sandhi(texts) and not is_zero_shot("zh", "", phonemes):
            speech = _cross_faded([waveform for _, waveform in chosen])
            words[phonemes] = match_loudness(speech, SAMPLE_RATE, LEVEL)
    return [(waveform, phonemes) for phonemes, waveform in words.items()]


def _cross_faded(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Join waveforms one after the other, each over the last FADE samples of that before it."""
    whole, rising = parts[0], np.linspace(0, 1, FADE, dtype=np.float32)
    for part in parts[1:]:
        joint = whole[-FADE:] * rising[::-1] + part[:FADE] * rising
        whole = np.concatenate([whole[:-FADE], joint, part[FADE:]])
    return whole
