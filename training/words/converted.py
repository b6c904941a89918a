"""Words made by voice conversion: other voices, other words and other tones than were recorded.

espeak-ng is the only synthetic voice of Arabic and Mandarin, and one person recorded the syllables.
Voice conversion keeps the sounds and the intonation, which carries the tones, and changes the rest.

Spliced words are those that nobody recorded, of recordings of several people, said by one voice.
Concatenated spectra need two recordings of one speaker, and have one joint, which a network can
hear. In the content of any-voice the speakers are alike, and its decoder smooths the joints.

No two of the Mandarin words that people recorded differ in their tones alone, so that a network
need not hear tones to tell them apart. Those with other tones do.

Shapes: T samples, S frames of 10 ms, U steps of 20 ms, C width of the content, P phonemes.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import islice
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor

from earshot.core.paths import CHECKPOINTS
from earshot.media.audio.features import log_mel
from earshot.media.audio.load import match_loudness
from earshot.media.audio.pitch import log_mel_and_pitch, track_pitch
from earshot.media.constants import HOP_LENGTH, SAMPLE_RATE
from earshot.media.text.phonemes import PHONEMES, TONES, from_pinyin, numbers
from earshot.pretrained.voice import Voice, pitch_statistics
from earshot.systems.voice_conversion.any_voice import AnyVoiceConversion
from earshot.systems.voice_conversion.units import FRAMES_PER_STEP, Intonation
from training.common.corpora import LEVEL, speech_items, waveforms
from training.common.zero_shot import is_zero_shot
from training.words.concatenation import HELD_OUT, Word, joints_of
from training.words.frames.arrays import Columns
from training.words.recordings import RecordedWord, is_trained_on, load_recordings, word_items
from training.words.synthesis import Rendition, sandhi, speak

SEED: Final = 0
SPEAKERS: Final = 150  # whose voices words are converted to
GROUP: Final = 12  # words that are converted at once, to the same voice
PAUSE: Final = 24 * HOP_LENGTH  # samples between them
N_JOINED: Final = 4000  # words
# Seconds: shorter syllables have no tone, whatever the corpus says. Its third tones hardly rise at
# the end, as third tones within a word do.
NEUTRAL: Final = 0.25
FADE: Final = SAMPLE_RATE // 100  # samples at a joint
# Arabic has no other words in the voices of people, but those of a poor synthetic voice.
WORDS: Final = {"en": 2000, "ar": 3000, "zh": 1000}
SPLICED_RENDITIONS: Final = 3  # of a word, each of other recordings and in another voice
MIN_PHONEMES, MAX_PHONEMES = 2, 12  # phonemes
MAX_DURATION: Final = 80  # steps, at most
MIN_SAMPLES: Final = SAMPLE_RATE // 8  # samples of a recording
WORD_ATTEMPTS: Final = 50  # to draw a word
PARTS: Final = (2, 3)  # recordings in a word
TONE_ATTEMPTS: Final = 4  # to draw other tones for a recording
# Pitch at the beginning, in the middle and at the end of a tone, on Chao's scale from 1 to 5.
CHAO: Final = {
    "1": (4.7, 4.7, 4.5),
    "2": (3.0, 3.2, 4.8),
    "3": (2.2, 1.0, 1.3),
    "4": (5.0, 3.8, 1.5),
}
LAST_THIRD: Final = (2.2, 1.0, 2.8)  # the third tone rises at the end of a word only
DEVIATION: Final = 1.4  # steps of this scale in a standard deviation of a speaker's log-F0
PITCH_SPREAD: Final = 0.4  # standard deviation of such a pitch from word to word
GLIDE: Final = 9  # frames in which one tone goes over into the next


def write_converted(data: Path, plan: list[Rendition], path: Path) -> None:
    """Write synthetic words, each in the voice of a person, and Mandarin words joined from recorded
    syllables, each in the speaker's voice and in two others.
    """
    rng = np.random.default_rng(SEED)
    columns = Columns(log_mel_and_pitch)
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
        return self._system.through_bottleneck(self._system.networks.encode(speech))

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
    """Join N_JOINED Mandarin words of one to three recorded syllables, as waveforms (T,) and
    phonemes.
    """
    items = [i for i in speech_items(data) if i.corpus == "mandarin_syllables"]
    syllables = [
        (item.text, waveform)
        for item, waveform in waveforms(items)
        if len(waveform) > NEUTRAL * SAMPLE_RATE
    ]
    words: dict[tuple[str, ...], np.ndarray] = {}
    while len(words) < N_JOINED:
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


@dataclass(frozen=True)
class Part:
    """The phonemes of a recorded word from ``begin`` to before ``end``."""

    word: Word
    begin: int
    end: int


@dataclass(frozen=True, eq=False)
class Take:
    """A recording: its content (U, C), intonation (U,), and the step at which each of its phonemes
    begins, with the end of the recording after the last: (P + 1,)."""

    content: Tensor
    intonation: Intonation
    steps: np.ndarray

    def cut(self, part: Part) -> tuple[Tensor, Intonation]:
        """Cut the content and the intonation of a part, with the silence at an end of the word."""
        begin = int(self.steps[part.begin]) if part.begin else 0
        steps = slice(begin, int(self.steps[part.end]))
        return self.content[steps], self.intonation.at(steps)


def write_spliced(
    data: Path, recordings: Iterable[tuple[RecordedWord, np.ndarray]], path: Path
) -> None:
    """Write WORDS of each language, in SPLICED_RENDITIONS each.

    recordings: those that are trained on, with the frame at which each phoneme begins (P,), 0 where
    the alignment failed.
    """
    rng = np.random.default_rng(SEED)
    columns = Columns(log_mel_and_pitch)
    converter = Converter(data, CHECKPOINTS / "any-voice")
    takes: dict[str, dict[Word, list[Take]]] = defaultdict(lambda: defaultdict(list))
    for word, starts in recordings:
        if starts.any() and len(word.waveform) >= MIN_SAMPLES:
            phonemes = tuple(numbers(word.phonemes))
            takes[word.item.language][phonemes].append(take_of(converter, word.waveform, starts))
    for language, count in WORDS.items():
        for word, parts in spliced_words(list(takes[language]), count, rng):
            for _ in range(SPLICED_RENDITIONS):
                pools = [takes[language][part.word] for part in parts]
                chosen = [pool[int(rng.integers(len(pool)))] for pool in pools]
                cuts = [take.cut(part) for take, part in zip(chosen, parts, strict=True)]
                content = torch.cat([cut for cut, _ in cuts])[:MAX_DURATION]
                intonation = reduce(Intonation.then, (of_cut for _, of_cut in cuts))
                frames = converter.speak(
                    content, intonation.at(slice(MAX_DURATION)), converter.any_of(rng)
                )
                columns.append(frames, tuple(PHONEMES[p] for p in word), "", language)
    columns.write(path)


def take_of(converter: Converter, waveform: np.ndarray, starts: np.ndarray) -> Take:
    """Encode a recording (T,) at 16 kHz. starts (P,): the frame at which each phoneme begins."""
    speech = np.pad(waveform, (0, -len(waveform) % (FRAMES_PER_STEP * HOP_LENGTH)))
    content = converter.content(speech)
    steps = np.append(np.round(starts / FRAMES_PER_STEP).astype(int), len(content))
    return Take(content, Intonation.of(track_pitch(speech)), steps)


def spliced_words(
    recorded: Sequence[Word], count: int, rng: np.random.Generator
) -> list[tuple[Word, list[Part]]]:
    """Draw ``count`` different words, none of them recorded or zero-shot, and the parts of each;
    fewer where they are hard to find.
    """
    excluded = {*recorded, *HELD_OUT}
    words: dict[Word, list[Part]] = {}
    for _ in range(WORD_ATTEMPTS * count):
        if len(words) == count:
            break
        parts = spliced_parts(recorded, int(rng.choice(PARTS)), rng)
        word = tuple(p for part in parts for p in part.word[part.begin : part.end])
        if word not in excluded and MIN_PHONEMES <= len(word) <= MAX_PHONEMES:
            words.setdefault(word, parts)
    return list(words.items())


def spliced_parts(recorded: Sequence[Word], count: int, rng: np.random.Generator) -> list[Part]:
    """Draw ``count`` parts of recorded words that can be joined; none where those drawn cannot."""
    first = recorded[int(rng.integers(len(recorded)))]
    parts = [Part(first, 0, len(first))]
    while len(parts) < count:
        last, word = parts[-1], recorded[int(rng.integers(len(recorded)))]
        joints = [(i, j) for i, j in joints_of(last.word, word) if i > last.begin]
        if not joints:
            return []
        i, j = joints[int(rng.integers(len(joints)))]
        parts[-1:] = [replace(last, end=i), Part(word, j, len(word))]
    return parts


def write_tone_changed(data: Path, starts: np.ndarray, path: Path) -> None:
    """Write recorded Mandarin words that are trained on, each with tones drawn for it up to
    TONE_ATTEMPTS times, in other voices.

    starts (N, P): where the phonemes of all recordings begin; those that are trained on come first.
    """
    rng = np.random.default_rng(SEED)
    columns = Columns(log_mel_and_pitch)
    converter = Converter(data, CHECKPOINTS / "any-voice")
    items = [item for item in word_items(data) if is_trained_on(item)]
    for number, word in enumerate(load_recordings(items)):
        if word.item.language != "zh" or not starts[number].any():
            continue
        speech = np.pad(word.waveform, (0, -len(word.waveform) % (FRAMES_PER_STEP * HOP_LENGTH)))
        for _ in range(TONE_ATTEMPTS):
            if toned := other_tones(word.item.phones.split(), rng):
                intonation = intonation_of(speech, toned, starts[number], rng)
                frames = converter.say(speech, intonation, converter.any_of(rng))
                columns.append(frames, from_pinyin(" ".join(toned)), "", "zh")
    columns.write(path)


def other_tones(syllables: list[str], rng: np.random.Generator) -> list[str]:
    """Draw syllables in pinyin with at least one other tone; none where that is a zero-shot word,
    or a third tone comes before another, which would be said as a second one.
    """
    toned = [syllable[:-1] + str(rng.choice(list(CHAO))) for syllable in syllables]
    held_out = is_zero_shot("zh", "", from_pinyin(" ".join(toned)))
    return [] if toned == syllables or sandhi(toned) or held_out else toned


def intonation_of(
    speech: np.ndarray, syllables: list[str], starts: np.ndarray, rng: np.random.Generator
) -> Intonation:
    """Compute the voicing of a word (T,), with the tones of these syllables instead of its own.

    starts (P,): the frame at which each of its phonemes begins.
    """
    voiced = track_pitch(speech) > 0
    pitch = np.zeros(len(voiced))
    first = 0
    for number, syllable in enumerate(syllables):
        phonemes = from_pinyin(syllable)
        vowel = next(i for i, phoneme in enumerate(phonemes) if phoneme in TONES)
        begin, first = int(starts[first + vowel]), first + len(phonemes)
        last = number + 1 == len(syllables)
        end = len(voiced) if last else int(starts[first])
        points = LAST_THIRD if last and syllable[-1] == "3" else CHAO[syllable[-1]]
        places = np.linspace(begin, max(end, begin + 1), len(points))
        begin = begin if number else 0
        varied = np.array(points) + rng.normal(0, PITCH_SPREAD, len(points))
        pitch[begin:] = np.interp(np.arange(begin, len(pitch)), places, varied)
    smooth = np.ones(GLIDE) / GLIDE
    pitch = np.convolve(np.pad(pitch, GLIDE // 2, mode="edge"), smooth, mode="valid")
    relative = ((pitch - 3) / DEVIATION).reshape(-1, FRAMES_PER_STEP).mean(axis=1)
    spoken = np.asarray(voiced.reshape(-1, FRAMES_PER_STEP).any(axis=1))
    return Intonation(spoken, relative.astype(np.float32))
