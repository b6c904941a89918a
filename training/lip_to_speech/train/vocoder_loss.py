"""The vocoder as an ear: how what is drawn will sound, for the reader to learn from.

Shapes: B batch, S mel frames of 10 ms, M mel bands, T samples at 16 kHz.
"""

from pathlib import Path
from typing import Final

import torch
from torch import Tensor, nn

from media.audio import features
from models.lip_reader import Drawn
from models.vocoder import Vocoder, VocoderConfig
from training.lip_to_speech.data.batches import Batch
from training.lip_to_speech.train.pesq_loss import disturbance
from training.lip_to_speech.train.stoi_loss import frames_apart
from training.voice_conversion.train.vocoder import SpectralLoss

DISTURBANCE: Final = 0.2  # its weight beside intelligibility
PITCHES: Final = (60.0, 500.0)  # Hz: what is drawn early in training may be anything


class Ear(nn.Module):
    """A trained vocoder that stays as it is."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        saved = torch.load(path, weights_only=True)
        self.vocoder = Vocoder(VocoderConfig(**saved["config"]))
        self.vocoder.load_state_dict(saved["network"])
        self.spectra = SpectralLoss(
            torch.from_numpy(features.mel_filters(features.N_FFT, features.N_MELS))
        )
        self.eval().requires_grad_(False)

    def forward(self, drawn: Drawn, batch: Batch) -> Tensor:
        """One less the intelligibility of the sound of drawn frames beside the real frames, and how
        much it disturbs beside the sound of these: a scalar."""
        sound = self.sound(drawn, batch)
        with torch.no_grad():
            real = self.vocoder(batch.log_mel, batch.pitch)
        with torch.autocast(sound.device.type, enabled=False):
            made = self.spectra.log_mel(sound).transpose(1, 2)[:, : drawn.log_mel.shape[1]]
            disturbing = disturbance(sound, real).mean()
        return frames_apart(made, batch.log_mel) + DISTURBANCE * disturbing

    def sound(self, drawn: Drawn, batch: Batch) -> Tensor:
        """What the vocoder makes of the drawn frames, at the drawn melody over the real mean pitch:
        (B, T)."""
        pitch = (drawn.melody + batch.mean_log_pitch).exp().clamp(*PITCHES).detach()
        return self.vocoder(drawn.log_mel, pitch * (drawn.voicing > 0))
