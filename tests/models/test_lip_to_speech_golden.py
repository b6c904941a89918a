"""Golden outputs of the networks and losses of lip to speech, tiny and seeded.

Weights and inputs are sines, as in test_golden_outputs: a refactoring that changes numbers is seen
here.
"""

from typing import Literal

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from earshot.media.audio import features
from earshot.media.constants import SAMPLE_RATE
from earshot.models.lip_to_speech import (
    ClipNorm,
    FaceEncoder,
    FaceEncoderConfig,
    LipReader,
    LipReaderConfig,
    Prediction,
    VisualFrontend,
    VoiceEncoder,
    VoiceEncoderConfig,
)
from earshot.models.vocoder import Vocoder, VocoderConfig
from tests.models.test_golden_outputs import filled, wave
from training.lip_to_speech.batches import Batch
from training.lip_to_speech.eigenlips import Eigenlips, EigenlipsConfig
from training.lip_to_speech.losses import (
    VocoderLoss,
    pesq_loss,
    spectral_loss,
    stoi_loss_mel,
    stoi_loss_wave,
)
from training.lip_to_speech.readers import ctc_loss, reader_losses

FRAMES, HOPS = 25, 100


class TinyVocoderLoss(VocoderLoss):
    """With a vocoder of sines instead of a trained one."""

    def __init__(self) -> None:
        nn.Module.__init__(self)
        self.vocoder = filled(Vocoder(VocoderConfig(width=16, inner=16, layers=1)))
        self.spectra = spectral_loss()


def crops() -> Tensor:
    return 0.5 + 0.5 * wave(1, 6, 16, 16)


def reader(decoder: Literal["parallel", "autoregressive"]) -> LipReader:
    return filled(
        LipReader(
            LipReaderConfig(
                side=16,
                channels=(4, 8),
                width=16,
                inner=16,
                layers=1,
                heads=2,
                decoder=decoder,
                n_words=5,
                voice=8,
            )
        )
    )


@pytest.fixture(scope="module")
def waveforms() -> tuple[Tensor, Tensor]:
    """An estimate with an added tone, and its reference: a second of modulated tones."""
    time = torch.arange(SAMPLE_RATE) / SAMPLE_RATE

    def tone(level: float, hertz: float, beats: float) -> Tensor:
        envelope = 1 + torch.sin(2 * torch.pi * beats * time)
        return level * torch.sin(2 * torch.pi * hertz * time) * envelope

    reference = tone(0.1, 150, 4) + tone(0.02, 1700, 7)
    return (reference + tone(0.02, 900, 3))[None], reference[None]


@pytest.fixture(scope="module")
def batch() -> Batch:
    voiced = torch.arange(HOPS) % 20 < 14
    return Batch(
        crops=torch.zeros(1, FRAMES, 64, 64),
        log_mel=-5.5 + 2 * wave(1, HOPS, 80, step=0.13),
        pitch=torch.where(voiced, 110 + 10 * wave(1, HOPS), torch.zeros(1, HOPS)),
        words=torch.tensor([[1, 2, 3, 4, 1, 2]]),
        spoken=(torch.arange(FRAMES) // 4 % 5)[None],
    )


@pytest.fixture(scope="module")
def prediction() -> Prediction:
    log_mel = -5.5 + 2 * wave(1, HOPS, 80, step=0.1)
    return Prediction(log_mel, wave(1, HOPS), 0.1 * wave(1, HOPS, step=0.3))


def test_visual_frontend_has_golden_output() -> None:
    frontend = filled(VisualFrontend((4, 8)))
    expected = [0.053219, 0.115983, 0.088058, 0.145369]
    assert frontend(crops())[0, 3, :4].tolist() == pytest.approx(expected, abs=1e-5)


def test_lip_reader_encoder_has_golden_output() -> None:
    states, ctc_logits = reader("parallel").encode(crops())
    expected = [0.0, 0.082812, 0.60549, 0.229706]
    assert states[0, 3, :4].tolist() == pytest.approx(expected, abs=1e-5)
    expected = [0.308409, 0.362119, 0.228688, -0.026533]
    assert ctc_logits[0, 3, :4].tolist() == pytest.approx(expected, abs=1e-5)


def test_clip_norm_moves_towards_given_clip() -> None:
    norm = ClipNorm(2, clip_share=0.25).eval()
    x = torch.arange(16.0).view(2, 2, 2, 2)
    mean = 0.25 * x.mean(dim=(0, 2, 3))  # what it has learned is mean 0 and variance 1
    var = 0.75 + 0.25 * x.transpose(0, 1).flatten(1).var(dim=1)
    expected = (x - mean[:, None, None]) / (var[:, None, None] + norm.eps).sqrt()
    torch.testing.assert_close(norm(x), expected)
    assert norm.running_mean is not None and not norm.running_mean.any(), "nothing is learned"
    plain = nn.BatchNorm2d(2).eval()
    torch.testing.assert_close(ClipNorm(2, 0.0).eval()(x), plain(x))
    torch.testing.assert_close(ClipNorm(2, 0.25)(x), nn.BatchNorm2d(2)(x))  # in training


@pytest.mark.parametrize(
    ("decoder", "log_mel", "log_f0"),
    [
        ("parallel", [-4.767182, -5.513853, -5.334648, -5.48655], [0.326064, 0.335691]),
        ("autoregressive", [-3.942204, -6.348993, -6.578057, -4.74296], [-0.443071, 0.508961]),
    ],
)
def test_mel_decoder_has_golden_output(
    decoder: Literal["parallel", "autoregressive"], log_mel: list[float], log_f0: list[float]
) -> None:
    network = reader(decoder)
    predicted = network.decode(*network.encode(crops()), wave(1, 8), 24)
    assert predicted.log_mel[0, 7, :4].tolist() == pytest.approx(log_mel, abs=1e-5)
    assert predicted.log_f0[0, 7:9].tolist() == pytest.approx(log_f0, abs=1e-5)


def test_teacher_forced_decoder_has_golden_output() -> None:
    network = reader("autoregressive")
    predicted = network.decode(*network.encode(crops()), wave(1, 8), 24, wave(1, 24, 80))
    expected = [-3.970478, -6.350339, -6.549555, -4.746459]
    assert predicted.log_mel[0, 7, :4].tolist() == pytest.approx(expected, abs=1e-5)


def test_face_encoder_has_golden_output() -> None:
    network = filled(FaceEncoder(FaceEncoderConfig(channels=(4, 8), size=8)))
    voice, log_f0 = network(0.5 + 0.5 * wave(1, 3, 16, 16))
    expected = [0.307456, -0.187604, 0.521696, -0.007114]
    assert voice[0, :4].tolist() == pytest.approx(expected, abs=1e-5)
    assert log_f0.item() == pytest.approx(5.040882, abs=1e-5)


def test_voice_encoder_has_golden_output() -> None:
    network = filled(VoiceEncoder(VoiceEncoderConfig(width=8, size=8)))
    expected = [0.465478, 0.405734, 0.044854, -0.139261]
    assert network(wave(1, 20, 80))[0, :4].tolist() == pytest.approx(expected, abs=1e-5)


def test_eigenlips_have_golden_output() -> None:
    network = filled(Eigenlips(EigenlipsConfig(side=8, components=2, width=4)))
    network.components, network.mean = wave(2, 64), 0.1 * wave(64)
    expected = [-4.838513, -4.967127, -4.91725, -4.126072]
    output = network(0.5 + 0.5 * wave(1, 5, 8, 8))[0, 3, :4]
    assert output.tolist() == pytest.approx(expected, abs=1e-5)


def test_pesq_loss_has_golden_value(waveforms: tuple[Tensor, Tensor]) -> None:
    assert pesq_loss(*waveforms).item() == pytest.approx(4.54436, abs=1e-3)


def test_stoi_losses_have_golden_values(waveforms: tuple[Tensor, Tensor]) -> None:
    assert stoi_loss_wave(*waveforms).item() == pytest.approx(0.358027, abs=1e-4)
    log_mels = (
        torch.from_numpy(features.log_mel(np.asarray(waveform[0])))[None] for waveform in waveforms
    )
    assert stoi_loss_mel(*log_mels).item() == pytest.approx(0.324059, abs=1e-4)


def test_reader_losses_have_golden_values(prediction: Prediction, batch: Batch) -> None:
    losses = reader_losses(prediction, wave(1, FRAMES, 5), batch)
    assert {name: loss.item() for name, loss in losses.items()} == pytest.approx(
        {
            "mel": 1.723949,
            "envelopes": 0.994969,
            "voicing": 0.147347,
            "log_f0": 0.075565,
            "words": 1.204066,
            "moments": 0.886013,
        },
        abs=1e-4,
    )
    assert ctc_loss(wave(1, FRAMES, 5), batch.words).item() == pytest.approx(
        1.204066 / 0.3, abs=1e-3
    )


def test_vocoder_loss_has_golden_value(
    prediction: Prediction, batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "earshot.models.vocoder._noise", torch.zeros_like
    )  # random numbers are not sines
    assert TinyVocoderLoss()(prediction, batch).item() == pytest.approx(1.95295, abs=1e-3)
