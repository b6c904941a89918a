"""The networks of any-voice, run over whole recordings in windows: by them voice conversion
converts, and lips speak in another voice.

Shapes: T samples, S frames of 10 ms, U = S / 2 steps of 20 ms, C content width, M mel bands.
"""

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final
from weakref import WeakValueDictionary

import numpy as np
import torch
from torch import Tensor, nn

from earshot.media.audio import features
from earshot.models.any_voice.content import (
    STRIDE,
    Adapter,
    AdapterConfig,
    Bottleneck,
    BottleneckConfig,
)
from earshot.models.any_voice.inverter import ContourPredictor, Inverter, InverterConfig
from earshot.models.any_voice.voices import ReferenceConfig, ReferenceEncoder, Voices, VoiceTable
from earshot.models.recogniser import STEP, EncoderConfig, LowRank, RecogniserStates
from earshot.models.vocoder import Vocoder, VocoderConfig
from earshot.pretrained.checkpoint import companion, load_weights, read_config
from earshot.pretrained.correction import missing
from earshot.pretrained.nobody import Strangers
from earshot.pretrained.recogniser import load_states
from earshot.pretrained.voice import Voice
from earshot.pretrained.windows import in_windows

WINDOW: Final = 256  # frames in one pass of inverter or contour predictor
OVERLAP: Final = 40  # frames
ENCODER_WINDOW: Final = 512  # steps in one pass of recogniser and adapter
ENCODER_OVERLAP: Final = 100  # steps
LOW_RANK: Final = "low_rank"  # part of a checkpoint whose recogniser was taught, and its rank


@dataclass(frozen=True, eq=False)
class Networks:
    """All networks of a checkpoint with its vocoder, and the voices that travel with it; strangers:
    what voices of nobody are drawn from, None where it has none."""

    recogniser: RecogniserStates
    adapter: Adapter
    bottleneck: Bottleneck
    reference: ReferenceEncoder
    inverter: Inverter
    contour: ContourPredictor
    vocoder: Vocoder
    voices: Mapping[str, Voice]
    device: torch.device
    strangers: Strangers | None = None

    @classmethod
    def load(cls, folder: Path, device: torch.device) -> "Networks":
        """Load a checkpoint folder, the inverter and the vocoder that its config names, and the
        recogniser. While they are in use on this device, the same networks are returned again.

        Raises FileNotFoundError when there is none, CheckpointError when a file cannot be used.
        """
        newest = max(path.stat().st_mtime_ns for path in (folder, *folder.iterdir()))
        key = folder.resolve(), newest, str(device)
        with _LOCK:
            if (networks := _IN_USE.get(key)) is None:
                networks = _IN_USE[key] = cls._load(folder, device)
        return networks

    @classmethod
    @torch.inference_mode(False)  # weights that are loaded in it, as by lips, could not be fitted
    def _load(cls, folder: Path, device: torch.device) -> "Networks":
        config = read_config(folder)
        parts = build(config)
        load_weights(parts, folder, device)
        inverter_folder = companion(folder, config["mel_inverter"])
        inverter = Inverter(InverterConfig(**read_config(inverter_folder)))
        load_weights(inverter, inverter_folder, device)
        vocoder_folder = companion(folder, config["vocoder"])
        vocoder = Vocoder(VocoderConfig(**read_config(vocoder_folder)))
        load_weights(vocoder, vocoder_folder, device)
        voices = _voices_of(config["voices"], parts.pop("voices"))
        adapter = parts["adapter"]
        assert isinstance(adapter, Adapter)
        layers = adapter.config.recogniser_layers
        recogniser = load_states(layers, config.get("recogniser"), device.type)
        if LOW_RANK in parts:
            low_rank = parts.pop(LOW_RANK)
            assert isinstance(low_rank, LowRank)
            recogniser = low_rank.folded_into(recogniser)
        return cls(
            **dict(parts.items()),  # type: ignore[arg-type]
            recogniser=recogniser,
            inverter=inverter,
            vocoder=vocoder,
            voices=voices,
            device=device,
            strangers=Strangers.load(folder),
        )

    def encode(self, waveform: np.ndarray) -> Tensor:
        """Encode speech (T,) at the level of the networks' input, T a multiple of 320, as content
        (U, C).
        """
        samples = torch.from_numpy(waveform).to(self.device).reshape(-1, STEP)

        def encode(batch: Tensor) -> Tensor:
            return self.adapter(self.recogniser(batch.flatten(1)))

        return in_windows(encode, samples, ENCODER_WINDOW, ENCODER_OVERLAP)

    def invert(
        self,
        content: Tensor,
        contour: Tensor,
        voice: Voice,
        bottleneck: str,
        last: int | None = None,
    ) -> Tensor:
        """Map content (U, C) that passed a bottleneck and contour (S, 2) to a log-mel spectrogram
        (S, M), with the corrections of the voice. last: how many frames of it are wanted, the last
        of all, where it is short; of those, the first few err by what is before them.
        """
        width, number = content.shape[1], self.bottleneck.config.names.index(bottleneck)
        choice, voices = torch.tensor([number], device=self.device), self._voices(voice)

        def invert(batch: Tensor) -> Tensor:
            rows = torch.zeros(len(batch), dtype=torch.long, device=self.device)
            contours = batch[..., width:].reshape(len(batch), -1, 2)
            mel = self.inverter(batch[..., :width], contours, voices[rows], choice[rows], last)
            return self.inverter.denormalize(mel)

        inputs = torch.cat([content, contour.reshape(len(content), -1)], dim=1)
        mel = in_windows(invert, inputs, WINDOW // STRIDE, OVERLAP // STRIDE, STRIDE)
        content = content[-len(mel) // STRIDE :]
        return mel + sum(share * missing(part, content, mel) for share, part in voice.corrections)

    def predict_contour(self, content: Tensor, voice: Voice) -> Tensor:
        """Predict, from content (U, C), voicing and log-F0 relative to the voice's mean (S, 2)."""
        voices = self._voices(voice)

        def predict(batch: Tensor) -> Tensor:
            rows = torch.zeros(len(batch), dtype=torch.long, device=self.device)
            return self.contour(batch, voices[rows])

        size, overlap = WINDOW // STRIDE, OVERLAP // STRIDE
        logit, relative = in_windows(predict, content, size, overlap, STRIDE).T
        voiced = (logit > 0).to(relative.dtype)
        return torch.stack([voiced, voiced * relative], dim=1)

    def vocode(self, mel: Tensor, pitch: Tensor, vocoder: str) -> np.ndarray:
        """Vocode a log-mel spectrogram (S, M) and F0 (S,) in Hz, 0 where unvoiced, as a waveform
        (T,).
        """
        if vocoder == "neural":
            return self.vocoder(mel[None], pitch[None])[0].cpu().numpy()
        return features.griffin_lim(features.linear_from_log_mel(mel.cpu().numpy()))

    def voice(self, log_mel: np.ndarray) -> np.ndarray:
        """Encode a log-mel spectrogram of a person's speech (S, M) as their voice vector."""
        mel = torch.from_numpy(log_mel)[None].to(self.device)
        return self.reference(self.inverter.normalize(mel))[0].cpu().numpy()

    def _voices(self, voice: Voice) -> Voices:
        vector = torch.from_numpy(voice.vector)[None].to(self.device)
        numbers = torch.tensor([[voice.pitch_mean], [voice.pitch_std]], device=self.device)
        return Voices(vector, numbers[0], numbers[1])


_IN_USE: Final[WeakValueDictionary[tuple[Path, int, str], Networks]] = WeakValueDictionary()
_LOCK: Final = threading.Lock()  # one loads, and the others wait for it


def build(config: Mapping[str, Any]) -> nn.ModuleDict:
    """Build untrained networks of a checkpoint's config, all but those in files of their own."""
    adapter, bottleneck = (
        {name: _tuple(value) for name, value in config[part].items()}
        for part in ("adapter", "bottleneck")
    )
    reference = ReferenceConfig(**config["reference"])
    parts = nn.ModuleDict(
        {
            "adapter": Adapter(AdapterConfig(**adapter)),
            "bottleneck": Bottleneck(BottleneckConfig(**bottleneck)),
            "reference": ReferenceEncoder(reference),
            "contour": ContourPredictor(InverterConfig(**config["contour"])),
            "voices": VoiceTable(len(config["voices"]), reference.voice_width),
        }
    )
    if LOW_RANK in config:
        parts[LOW_RANK] = LowRank(EncoderConfig(), config[LOW_RANK])
    return parts


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _voices_of(names: list[str], table: nn.Module) -> Mapping[str, Voice]:
    """Read the voices of a table by name."""
    assert isinstance(table, VoiceTable)
    rows = zip(names, table.vector, table.pitch_mean, table.pitch_std, strict=True)
    return MappingProxyType(
        {n: Voice(n, v.cpu().numpy(), float(mean), float(std)) for n, v, mean, std in rows}
    )
