"""The pretrained recogniser: Moonshine tiny, English. Other systems stand on the states of its
encoder; with its decoder it transcribes speech, word by word, with a confidence of each.

Jeffries et al. 2024 (arXiv:2410.15608), MIT licence; trained with text by others. Its weights are
those of a wheel that is installed with the app, checked by hash; a hub id or a folder of another
Moonshine may be named instead.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch

from earshot.media.audio.load import Audio, load
from earshot.media.audio.speech import Speech
from earshot.media.constants import SAMPLE_RATE
from earshot.media.text.grammar import DIGITS
from earshot.models.recogniser import Encoder, EncoderConfig, RecogniserStates
from earshot.pretrained.accelerator import choose_device
from earshot.pretrained.hub import load_model
from earshot.pretrained.wheels import installed_file, read_ort_weights

PACKAGE: Final = "moonshine_voice"
VERSION: Final = "0.0.49"  # later ones do not hold the model
FOLDER: Final = "assets/tiny-en"
FILES: Final = {  # SHA-256
    "encoder_model.ort": "94e90a4654fc45cdfedb77c4c08e1739f48862998e58fada384b25118134f221",
    "decoder_model_merged.ort": "cf524c4862d36e9e5ab032eddc73637efd822d70e868ac575cf1a46e1e4708a0",
    "tokenizer.bin": "6884b35fd6377d4c4d32336a0bc152f36b64d1e45b6503683cdc238250a8472d",
}
SIZES: Final[dict[str, Any]] = {
    "vocab_size": 32768,
    "hidden_size": 288,
    "intermediate_size": 1152,
    "encoder_num_hidden_layers": 6,
    "decoder_num_hidden_layers": 6,
    "encoder_num_attention_heads": 8,
    "decoder_num_attention_heads": 8,
    "partial_rotary_factor": 0.9,
    "pad_head_dim_to_multiple_of": 8,
    "max_position_embeddings": 194,
}
MISSING: Final = (
    "The recogniser is not installed: pip install moonshine-voice==0.0.49, or name a Moonshine "
    "of the hub."
)

MAX_SECONDS: Final = 60.0
MAX_TOKENS_PER_SECOND: Final = 6.5  # at most, as the paper limits them; else it may repeat itself
# Seconds that are transcribed at once; between, where it is quietest.
PIECE_SECONDS: Final = (8.0, 16.0)
POWER_BLOCK: Final = 1600  # samples of a block, whose power is compared
MIN_CONFIDENCE: Final = 0.6  # of a transcript; below it, the words are guesses
NO_WORDS: Final = "No words were understood in the source, so none can be compared."
A_GUESS: Final = (
    "The recogniser is guessing at the source already, so what is kept of it cannot be told. It "
    "knows English only, and is misled by noise and music."
)
DIGIT_NAMES: Final = tuple(DIGITS)  # from zero on
SPACE: Final = "\u2581".encode()  # begins a word


def load_states(
    layers: tuple[int, ...], name: str | Path | None = None, device: str = "auto"
) -> RecogniserStates:
    """Load the encoder whose states of ``layers`` are taken: the wheel's, unless another is named.

    name: a hub id or a folder of a Moonshine, or the wheel's encoder_model.ort by itself. Raises
    FileNotFoundError where there is none, CheckpointError where a file is not the expected one.
    """
    encoder = _encoder(str(name) if name else None)
    return RecogniserStates(encoder, layers).to(choose_device(device))


@cache
def _encoder(name: str | None) -> Encoder:
    """Load the encoder as it is written here: the wheel's without transformers."""
    if name and not name.endswith(".ort"):
        theirs = load_encoder(name)
        sizes = theirs.config
        config = EncoderConfig(
            sizes.hidden_size,
            sizes.intermediate_size,
            sizes.encoder_num_hidden_layers,
            sizes.encoder_num_attention_heads,
            sizes.rope_parameters["partial_rotary_factor"],
        )
        weights = theirs.state_dict()
    else:
        config = EncoderConfig()
        weights = _tensors(Path(name) if name else _file("encoder_model.ort"))
    encoder = Encoder(config)
    encoder.load_state_dict(weights)
    return encoder


@cache
def load_encoder(name: str | None = None) -> Any:
    """Load the wheel's encoder, or that of a hub id or a folder, as transformers has it; once each.

    Raises FileNotFoundError where there is none, and CheckpointError as load_states does.
    """
    from transformers import MoonshineConfig, MoonshineModel  # late: seconds

    if name:
        return load_model(MoonshineModel, name).encoder
    encoder = MoonshineModel(MoonshineConfig(**SIZES)).encoder
    encoder.load_state_dict(_tensors(_file("encoder_model.ort")))
    return encoder


@cache
def load_recogniser(name: str | None = None) -> Any:
    """Load the whole recogniser with its decoder: the wheel's, unless a hub id or folder is named.

    It shares the encoder with load_encoder. Raises FileNotFoundError where there is none,
    CheckpointError where a file is not the expected one.
    """
    from transformers import MoonshineConfig, MoonshineForConditionalGeneration  # late: seconds

    if name:
        return load_model(MoonshineForConditionalGeneration, name).eval()
    model = MoonshineForConditionalGeneration(MoonshineConfig(**SIZES))
    model.model.encoder = load_encoder()
    weights = _tensors(_file("decoder_model_merged.ort"))
    output = {"weight": weights.pop("proj_out.weight")}
    decoder = {key.removeprefix("model.decoder."): weights[key] for key in weights}
    model.model.decoder.load_state_dict(decoder)
    model.proj_out.load_state_dict(output)
    return model.eval().requires_grad_(False)


def load_vocabulary(name: str | None = None) -> tuple[bytes, ...]:
    """Load the text of every token of the recogniser, in UTF-8; a word begins with U+2581.

    Raises as load_recogniser does.
    """
    if not name:
        return _vocabulary(_file("tokenizer.bin").read_bytes())
    from transformers import AutoTokenizer  # late: seconds

    tokenizer = load_model(AutoTokenizer, name)
    texts = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
    single = [re.fullmatch("<0x([0-9A-F]{2})>", text) for text in texts]
    return tuple(
        bytes.fromhex(byte[1]) if byte else text.encode()
        for byte, text in zip(single, texts, strict=True)
    )


def _vocabulary(content: bytes) -> tuple[bytes, ...]:
    """Read each token with its length before it, of one byte below 128, or else of two."""
    tokens, place = [], 0
    while place < len(content):
        length = content[place]
        place += 1
        if length >= 128:
            length += 128 * (content[place] - 1)
            place += 1
        tokens.append(content[place : place + length])
        place += length
    return tuple(tokens)


def _tensors(path: Path) -> dict[str, torch.Tensor]:
    return {name: torch.from_numpy(array.copy()) for name, array in read_ort_weights(path).items()}


def _file(name: str) -> Path:
    """Find a file of the wheel. Raises as installed_file does."""
    return installed_file(PACKAGE, VERSION, f"{FOLDER}/{name}", FILES[name], MISSING)


@dataclass(frozen=True)
class RecognisedWord:
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

    words: tuple[RecognisedWord, ...]

    @property
    def text(self) -> str:
        """Write the words as a sentence."""
        return " ".join(word.text for word in self.words)

    @property
    def confidence(self) -> float:
        """Average over the words; 0 where there are none."""
        return float(np.mean([word.confidence for word in self.words])) if self.words else 0.0

    @property
    def doubt(self) -> str:
        """Write why nothing can be told of what a conversion keeps of these words: there are none,
        or they are guesses, as where noise covers them; empty where it can.
        """
        return "" if self.confidence >= MIN_CONFIDENCE else A_GUESS if self.words else NO_WORDS

    def compare(self, other: "Transcript") -> tuple[tuple[bool, ...], tuple[bool, ...]]:
        """Return which words of this one are in the other, in the same order, and which of the
        other's are words of this one."""
        ours, theirs = self._spoken(), other._spoken()
        texts = [[word for _, word in each] for each in (ours, theirs)]
        matches = SequenceMatcher(None, *texts, autojunk=False).get_matching_blocks()
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
    """A Moonshine that transcribes speech. Stateless, so that visitors share one."""

    def __init__(self, model: Any, vocabulary: tuple[bytes, ...], device: torch.device) -> None:
        """Transcribe by a MoonshineForConditionalGeneration, whose tokens have these texts."""
        self._model, self._vocabulary, self._device = model.to(device), vocabulary, device

    @classmethod
    def from_pretrained(cls, name: str | Path | None = None, device: str = "auto") -> "Transcriber":
        """Load the decoder of the recogniser's wheel, or a Moonshine by its folder or hub id.

        Raises FileNotFoundError where there is none, CheckpointError where a file is not the
        expected one.
        """
        model = str(name) if name else None
        return cls(load_recogniser(model), load_vocabulary(model), choose_device(device))

    def __call__(self, audio: Audio | Speech) -> Transcript:
        """Transcribe a recording, or speech of a system, of up to 60 s.

        Raises InputError for audio that cannot be used.
        """
        if isinstance(audio, Speech):
            audio = audio.sample_rate, audio.waveform
        waveform = load(audio, SAMPLE_RATE, MAX_SECONDS).waveform
        return Transcript(tuple(word for piece in _pieces(waveform) for word in self._words(piece)))

    @torch.inference_mode()
    def _words(self, waveform: np.ndarray) -> list[RecognisedWord]:
        """Transcribe a piece (T,) greedily, with a cache of keys and values."""
        tokens = math.ceil(MAX_TOKENS_PER_SECOND * len(waveform) / SAMPLE_RATE)
        output = self._model.generate(
            torch.from_numpy(waveform)[None].to(self._device),
            do_sample=False,
            max_new_tokens=tokens,
            return_dict_in_generate=True,
            output_scores=True,
        )
        codes = output.sequences[0, -len(output.scores) :].tolist()
        probabilities = [
            float(s[0].softmax(-1)[c]) for s, c in zip(output.scores, codes, strict=True)
        ]
        if codes[-1] == self._model.config.eos_token_id:
            codes, probabilities = codes[:-1], probabilities[:-1]
        texts = [self._vocabulary[code] for code in codes]
        starts = [i for i, text in enumerate(texts) if not i or text.startswith(SPACE)]
        words = [
            RecognisedWord(_spell(texts[start:end]), float(np.mean(probabilities[start:end])))
            for start, end in pairwise([*starts, len(texts)])
        ]
        return [word for word in words if word.spoken]  # no signs of music, which stand for noise


def _spell(tokens: list[bytes]) -> str:
    return b"".join(tokens).replace(SPACE, b"").decode("utf-8", "replace")


def _pieces(waveform: np.ndarray) -> Iterator[np.ndarray]:
    """Cut a waveform (T,) where it is quietest; silence is left out."""
    shortest, longest = (round(seconds * SAMPLE_RATE) for seconds in PIECE_SECONDS)
    while len(waveform) > longest:
        blocks = waveform[shortest : longest - (longest - shortest) % POWER_BLOCK].reshape(
            -1, POWER_BLOCK
        )
        cut = (
            shortest + POWER_BLOCK * int(np.square(blocks).sum(axis=1).argmin()) + POWER_BLOCK // 2
        )
        yield from _pieces(waveform[:cut])
        waveform = waveform[cut:]
    if waveform.any():
        yield waveform
