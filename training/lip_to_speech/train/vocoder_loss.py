"""The vocoder as a loss, which compares how predicted frames will sound.

Shapes: B batch, S mel frames of 10 ms, M mel bands, T samples at 16 kHz.
"""

from pathlib import Path
from typing import Final

import torch
from torch import Tensor, nn

from earshot.models.lip_to_speech import Prediction
from earshot.models.vocoder import Vocoder, VocoderConfig
from training.common.spectral_loss import SpectralLoss
from training.lip_to_speech.data.batches import Batch
from training.lip_to_speech.train.pesq_loss import pesq_loss
from training.lip_to_speech.train.stoi_loss import stoi_loss_mel

PESQ_WEIGHT: Final = 0.2
PITCHES: Final = (60.0, 500.0)  # Hz: limits, as predictions early in training may be anything


class VocoderLoss(nn.Module):
    """A frozen, trained vocoder, with losses on its output."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        saved = torch.load(path, weights_only=True, map_location="cpu")
        self.vocoder = Vocoder(VocoderConfig(**saved["config"]))
        self.vocoder.load_state_dict(saved["network"])
        self.spectra = spectral_loss()
        self.eval().requires_grad_(False)

    def forward(self, predicted: Prediction, batch: Batch) -> Tensor:
        """Add up two losses, a scalar: the STOI loss between the vocoded prediction and the
        reference frames, and the PESQ loss between the vocoded prediction and the vocoded
        reference.
        """
        waveform = self.vocode(predicted, batch)
        with torch.no_grad():
            reference = self.vocoder(batch.log_mel, batch.pitch)
        with torch.autocast(waveform.device.type, enabled=False):
            log_mel = self.spectra.log_mel(waveform).transpose(1, 2)
            pesq = pesq_loss(waveform, reference).mean()
        frames = predicted.log_mel.shape[1]
        return stoi_loss_mel(log_mel[:, :frames], batch.log_mel) + PESQ_WEIGHT * pesq

    def vocode(self, predicted: Prediction, batch: Batch) -> Tensor:
        """Vocode the predicted frames as a waveform (B, T), at the predicted log-F0 contour around
        the reference's mean log F0.
        """
        pitch = (predicted.log_f0 + batch.mean_log_pitch).exp().clamp(*PITCHES).detach()
        return self.vocoder(predicted.log_mel, pitch * (predicted.voicing > 0))


def spectral_loss() -> SpectralLoss:
    """Make the spectral loss of the vocoder, with the mel filters of its spectrograms."""
    from earshot.media.audio import features  # late: training of other stages needs no librosa

    filters = features.mel_filters(features.N_FFT, features.N_MELS)
    return SpectralLoss(torch.from_numpy(filters))
