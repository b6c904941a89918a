"""Plug-ins that need no code: results that were made before, a system that runs elsewhere, and
models of transformers.

Each is named in a file of ``pipelines/``:
``system("voice_conversion", "mine")(lambda: Precomputed("outputs/mine"))``.
"""

import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile

import numpy as np

from earshot.core.errors import InputError
from earshot.media.constants import SAMPLE_RATE
from earshot.media.text.letters import composed
from earshot.pretrained.hub import fetch, fetch_from_dataset

SOUNDS: Final = (".wav", ".flac", ".aif", ".aiff", ".ogg", ".opus", ".mp3", ".m4a")
VECTOR: Final = ".npy"  # of a recording
TEXTS: Final = "texts.npz"  # vectors of texts, by the texts
VIDEOS: Final = (".mp4", ".webm", ".mov", ".mkv")  # whose sound is taken of an answer
MAX_RATE: Final = 48_000  # Hz, of a result
MAX_SECONDS: Final = 180.0  # of a result
MAX_NAMES: Final = 5  # that a message repeats
SPEECH_MODELS: Final = ("hubert", "wavlm", "wav2vec2", "moonshine")  # model types of transformers
SPEECHT5_VOCODER: Final = "microsoft/speecht5_hifigan"
XVECTORS: Final = ("Matthijs/cmu-arctic-xvectors", "spkrec-xvect.zip")


def _load(audio: Any, sample_rate: int) -> Any:
    """Load a sound, no longer than MAX_SECONDS, at a rate in Hz."""
    from earshot.media.audio.load import load  # late, for it loads SciPy

    return load(audio, sample_rate, MAX_SECONDS)


class Precomputed:
    """A folder of results by the names of their inputs: what ``a/b/in.wav`` became is ``in.wav``, a
    sound, or for words and sound search ``in.npy``, a vector (D,).

    For several voices, each has a folder of its name in it, ``VOICE/in.wav``, or the results are
    named ``in__VOICE.wav``. Vectors of written words, or sentences, are in ``texts.npz``, an array
    each, by the text.
    """

    def __init__(self, folder: str | Path) -> None:
        """Read the folder. Raises FileNotFoundError where there is none with results."""
        self.folder = Path(folder).expanduser()
        self._paths = self._read()
        if not self._paths:
            raise FileNotFoundError(f"{folder} is no folder with sounds, or vectors, in it")
        names = {key.rpartition("/")[0] for key in self._paths}
        names |= {key.rpartition("__")[2] for key in self._paths if "__" in key}
        self.voices: Sequence[str] = sorted(names - {""})
        if (self.folder / TEXTS).exists():
            texts = _array(self.folder / TEXTS)
            self._texts = {_key(text).casefold(): vector for text, vector in texts.items()}
            self.embed_text = self._vector_of_text  # which others have not

    def _read(self) -> dict[str, Path]:
        return {
            _key(path.relative_to(self.folder).with_suffix("").as_posix()): path
            for path in sorted(self.folder.rglob("*"))
            if path.suffix.lower() in (*SOUNDS, VECTOR) and not path.name.startswith(".")
        }

    @property
    def inputs(self) -> Sequence[str]:
        """List the names that result_for takes, with their voices."""
        return [*self._paths]

    def result_for(self, name: str, target: Any = "") -> Any:
        """Read the result for an input, by its name, in a voice: a waveform and its rate, or a
        vector. Raises InputError where there is none.
        """
        keys = [_key(key) for key in (f"{target}/{name}", f"{name}__{target}", name)]
        if not any(key in self._paths for key in keys):
            self._paths = self._read()  # it may have been made meanwhile
        for key in keys:
            if path := self._paths.get(key):
                if path.suffix.lower() == VECTOR:
                    return _array(path)
                sound = _load(path, MAX_RATE)
                return sound.waveform, sound.sample_rate
        some = ", ".join(sorted({Path(key).name for key in self._paths})[:MAX_NAMES])
        raise InputError(f"There is no result for “{name or 'a recording'}”, only for {some} ….")

    def _vector_of_text(self, text: str) -> np.ndarray:
        if (vector := self._texts.get(_key(text).casefold())) is None:
            some = ", ".join([*self._texts][:MAX_NAMES])
            raise InputError(f"There is no vector for “{text}”, only for {some} ….")
        return vector


def _array(path: Path) -> Any:
    """Read an array, or several by name. Raises InputError for what is none."""
    try:
        array = np.load(path, allow_pickle=False)
        return array if isinstance(array, np.ndarray) else dict(array)
    except (OSError, ValueError, EOFError, BadZipFile) as error:
        raise InputError(f"{path.name} cannot be read as an array of numbers.") from error


def _key(name: str) -> str:
    """Write a name as all disks do."""
    return composed(name)


class Remote:
    """A system that runs elsewhere: an endpoint of a Space or any Gradio app, which returns a sound
    for speech, or for a video of lips; for words and sound search a vector, a list of numbers.

    What a visitor gives is sent there: it leaves this machine.
    """

    def __init__(
        self,
        source: str,
        api_name: str = "/predict",
        voices: Sequence[str] = (),
        arguments: Callable[[Any, Any], Sequence[Any]] | None = None,
        text_api_name: str = "",
    ) -> None:
        """Name it. source: "user/space", or an address; voices: that it is asked for; arguments:
        what its endpoint takes, of the file and a voice, without it both, or the file where there
        is no voice; text_api_name: an endpoint that embeds a text.
        """
        self.source, self.api_name, self.voices = source, api_name, voices
        self._arguments = arguments or (lambda file, voice: (file, voice) if voice else (file,))
        if text_api_name:
            self.embed_text = partial(self._vector, text_api_name)  # which others have not

    @cached_property
    def _client(self) -> Any:
        from gradio_client import Client  # late, for it asks the network

        self._folder = tempfile.TemporaryDirectory(prefix="remote-")
        return Client(self.source, verbose=False, download_files=self._folder.name)

    def __call__(
        self, recording: np.ndarray, rate: float, target: Any = ""
    ) -> tuple[np.ndarray, int]:
        """Convert speech (T,) to a voice, or speak what is read in images (N, H, W, 3), by the
        endpoint: the first sound of its answer. Raises InputError where it cannot be reached,
        refuses, or answers without one.
        """
        answer = self._answer(recording, rate, target)
        # Of what was downloaded: other paths are only words of the answer.
        folder = Path(self._folder.name).resolve()
        files = [
            part
            for part in _parts(answer)
            if isinstance(part, str)
            and Path(part).suffix.lower() in (*SOUNDS, *VIDEOS)
            and Path(part).resolve().is_relative_to(folder)
        ]
        if not files:
            raise InputError(f"{self.source} answers without a sound.")
        try:
            sound = _load(files[0], MAX_RATE)
        finally:
            for part in files:
                Path(part).unlink(missing_ok=True)
        return sound.waveform, sound.sample_rate

    def embed_audio(self, waveform: np.ndarray, sample_rate: int) -> np.ndarray:
        """Embed a sound (T,) by the endpoint: the first list of numbers of its answer."""
        return _first_numbers(self._answer(waveform, sample_rate, ""), self.source)

    def _vector(self, api_name: str, text: str) -> np.ndarray:
        return _first_numbers(self._predict([text], api_name), self.source)

    def _answer(self, recording: np.ndarray, rate: float, target: Any) -> Any:
        """Send a sound, or images as a video, and a voice."""
        from gradio_client import handle_file

        is_sound = recording.ndim == 1
        with tempfile.NamedTemporaryFile(suffix=".wav" if is_sound else ".mp4") as file:
            file.write(_wav(recording, int(rate)) if is_sound else _mp4(recording, rate))
            file.flush()
            return self._predict(self._arguments(handle_file(file.name), target), self.api_name)

    def _predict(self, values: Sequence[Any], api_name: str) -> Any:
        from gradio_client.exceptions import AppError
        from httpx import HTTPError

        try:
            return self._client.predict(*values, api_name=api_name)
        except AppError as error:
            raise InputError(f"{self.source} refuses: {error}") from error
        except (OSError, ValueError, HTTPError) as error:
            raise InputError(
                f"{self.source} cannot be reached, or has no such endpoint."
            ) from error


def _wav(waveform: np.ndarray, sample_rate: int) -> bytes:
    from earshot.media.audio.load import wav_bytes  # late, for it loads SciPy

    return wav_bytes(waveform, sample_rate)


def _mp4(images: np.ndarray, fps: float) -> bytes:
    from earshot.media.encode import encode_video  # late, for it loads av
    from earshot.media.video import Frame

    return encode_video(Frame(place / fps, image) for place, image in enumerate(images))


def _parts(answer: Any) -> Iterator[Any]:
    """List an answer, and what is in its lists and dictionaries."""
    yield answer
    if isinstance(answer, dict | list | tuple):
        for part in answer.values() if isinstance(answer, dict) else answer:
            yield from _parts(part)


def _first_numbers(answer: Any, source: str) -> np.ndarray:
    """Take the first list of numbers in an answer. Raises InputError where there is none."""
    for part in _parts(answer):
        if isinstance(part, list) and part and all(isinstance(x, int | float) for x in part):
            return np.array(part, np.float64)
    raise InputError(f"{source} answers without a list of numbers.")


class Transformers:
    """A model of transformers by its hub id, or in a folder: SpeechT5 for voice conversion; HuBERT,
    WavLM, wav2vec 2.0 and Moonshine for words ("ID:LAYER"); CLAP for sounds.

    Downloaded when it is first used, where it was not before.
    """

    def __init__(self, name: str, device: str = "auto") -> None:
        """Load the model. Raises InputError for one of another kind."""
        identifier, _, layers = name.partition(":")
        kinds = {"speecht5": _SpeechT5, "clap": _Clap, **dict.fromkeys(SPEECH_MODELS, _SpeechModel)}
        folder = Path(identifier)
        if not (folder / "config.json").exists():
            folder = fetch(identifier, kinds)
        kind = json.loads((folder / "config.json").read_text()).get("model_type")
        if kind not in kinds:
            raise InputError(f"{name} is of the kind {kind}; here it takes {', '.join(kinds)}.")
        self._model: Any = kinds[kind](folder, layers, device)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_model"], name)


class _SpeechT5:
    """SpeechT5 (Ao et al. 2022), in the voices of four speakers of CMU ARCTIC, on whom it was
    trained."""

    voices = ("bdl", "rms", "clb", "slt")

    def __init__(self, folder: Path, layers: str, device: str) -> None:
        # Late, for it loads torch.
        from earshot.systems.voice_conversion.speecht5 import SpeechT5Conversion, read_voices

        vocoder = fetch(SPEECHT5_VOCODER, ["hifigan"])
        self._voices = read_voices(fetch_from_dataset(*XVECTORS), list(self.voices))
        self._convert = SpeechT5Conversion.from_pretrained(folder, vocoder, device)

    def __call__(
        self, waveform: np.ndarray, sample_rate: int, target: str
    ) -> tuple[np.ndarray, int]:
        converted = self._convert((sample_rate, waveform), self._voices[target]).converted
        return converted.waveform, converted.sample_rate


class _SpeechModel:
    """The mean of a layer's states over a word, without training on words (Sanabria, Tang and
    Goldwater 2022, arXiv:2210.16043)."""

    def __init__(self, folder: Path, layers: str, device: str) -> None:
        from earshot.pretrained.speech_encoder import SpeechEncoder  # late, for it loads torch

        self._encoder = SpeechEncoder.from_pretrained(str(folder), device).at(layers)

    def embed_audio(self, waveform: np.ndarray, sample_rate: int) -> np.ndarray:
        speech = _load((sample_rate, waveform), SAMPLE_RATE)
        return self._encoder.states(speech.waveform).mean(axis=0)


class _Clap:
    """CLAP: sounds and sentences in one space."""

    def __init__(self, folder: Path, layers: str, device: str) -> None:
        from earshot.systems.sound_search.encoder import ClapEncoder  # late, for it loads torch

        self._encoder = ClapEncoder.from_pretrained(folder, device)

    def embed_audio(self, waveform: np.ndarray, sample_rate: int) -> np.ndarray:
        return self._embedding(waveform, sample_rate).vectors.mean(axis=0)

    def embed_seconds(self, waveform: np.ndarray, sample_rate: int) -> np.ndarray:
        per_second = self._embedding(waveform, sample_rate).per_second
        return per_second.reshape(-1, per_second.shape[-1])

    def embed_text(self, text: str) -> np.ndarray:
        return self._encoder.embed_text([text])[0]

    def _embedding(self, waveform: np.ndarray, sample_rate: int) -> Any:
        sound = _load((sample_rate, waveform), self._encoder.sample_rate)
        return self._encoder.embed_audio(self._encoder.segments(sound.waveform))
