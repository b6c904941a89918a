"""Every loss, with the network that it trains, on another device than the CPU.

On a machine without a GPU a pretended device finds tensors that were made without naming theirs.
"""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from earshot.media.audio.features import mel_filters
from earshot.media.constants import N_FFT, N_MELS
from earshot.models.lip_to_speech import (
    FaceEncoder,
    FaceEncoderConfig,
    LipReader,
    LipReaderConfig,
    VoiceEncoder,
    VoiceEncoderConfig,
)
from earshot.models.recogniser import Encoder
from earshot.models.sound_search.sound_embedder import (
    PatchTransformerConfig,
    SoundCNNConfig,
    SoundEmbedder,
    SoundEmbedderConfig,
)
from earshot.models.vocoder import Vocoder, VocoderConfig
from earshot.models.vqvae import VQVAE, CodebookInverterConfig, VQVAEConfig
from earshot.models.words.g2p import G2P, G2PConfig, letter_numbers
from earshot.models.words.word_embedder import (
    PhonemeBottleneckConfig,
    ViewConfig,
    WordEmbedderConfig,
    build_embedder,
)
from tests.models.test_golden_outputs import wave
from tests.models.test_lip_to_speech_golden import TinyVocoderLoss
from tests.support.pretend_device import META, PretendDevice, move
from tests.training.words.test_losses import made_up_batch
from training.common.spectral_loss import SpectralLoss
from training.lip_to_speech.batches import Batch
from training.lip_to_speech.losses import stoi_loss_wave
from training.lip_to_speech.readers import reader_losses
from training.lip_to_speech.voices import margin_loss, voice_loss
from training.sound_search.train import distillation_loss, nt_xent, target_weights
from training.voice_conversion.baselines.inverter import contour_loss, spectrogram_loss
from training.voice_conversion.baselines.units import contrastive_loss
from training.voice_conversion.networks import Batch as AnyVoiceBatch
from training.voice_conversion.networks import Listener, System
from training.voice_conversion.speech import relative_contour
from training.voice_conversion.vocoder import VocoderTraining
from training.words import losses as word_losses
from training.words.g2p import ctc_loss as g2p_loss

pytestmark = pytest.mark.slow

Move = Callable[[Any], Any]
FRAMES, HOPS = 25, 100  # of video and of mel, in a second
VIEW = ViewConfig("conformer", 1, 2, width=16, inner=16, dropout=0.0)


def units(to: Move) -> Tensor:
    """The VQ-VAE with its codebook's update, and the contrastive loss of two views."""
    network = to(VQVAE(VQVAEConfig(8, (2, 2), width=16, heads=2, inner=16, code_width=4)))
    features = to(wave(2, 16, 39))
    output = network(features, features, to(torch.zeros(2, 16, dtype=torch.long)))
    return output.loss + contrastive_loss(to(wave(2, 40, 8)), to(wave(2, 40, 8, step=0.71)))


def inverter(to: Move) -> Tensor:
    contour = relative_contour(to((100 + 50 * wave(2, 12)).relu()), to(torch.tensor([4.7, 4.8])))
    mels = to(wave(2, 12, 6)), to(wave(2, 12, 6, step=0.5))
    loss = spectrogram_loss(*mels, to(torch.tensor(2.0)), CodebookInverterConfig())
    return loss + contour_loss(to(wave(2, 12, 2)), contour)


def vocoder(to: Move) -> Tensor:
    spectral = to(SpectralLoss(torch.from_numpy(mel_filters(N_FFT, N_MELS))))
    waveforms = to(0.3 * wave(2, 8000, step=0.05)), to(0.2 * wave(2, 8000, step=0.06))
    return spectral(*waveforms) + stoi_loss_wave(*waveforms).sum()


def any_voice(to: Move) -> Tensor:
    """Every loss, the discriminator's as well."""
    system, listener = to(System(n_speakers=3)), to(Listener(Vocoder(VocoderConfig()), Encoder()))
    states, waveform = 3 * wave(2, 20, 2 * 288, step=0.11), 0.2 * wave(2, 6400, step=0.06)
    mel = -5.5 + 2 * wave(2, 40, N_MELS, step=0.13)
    pitch, speaker = (100 + 50 * wave(2, 40)).relu(), torch.tensor([0, 2])
    parts = (to(part) for part in (states, waveform, mel, mel, pitch, speaker))
    losses = system.losses(AnyVoiceBatch(*parts), to(torch.tensor([0, 1])), listener)
    return torch.stack([*losses.values()]).sum()


def any_voice_vocoder(to: Move) -> Tensor:
    training = to(VocoderTraining(torch.from_numpy(mel_filters(N_FFT, N_MELS))))
    mel, pitch = to(-5.5 + 2 * wave(1, 40, N_MELS)), to((100 + 50 * wave(1, 40)).relu())
    losses = training.losses(mel, pitch, to(0.2 * wave(1, 6400, step=0.06)), share=1.0)
    return torch.stack([*losses.values()]).sum()


def sounds(config: SoundCNNConfig | PatchTransformerConfig, to: Move) -> Tensor:
    network = to(SoundEmbedder(SoundEmbedderConfig(config, n_kinds=3, width=12)))
    kinds = to(torch.tensor([[1.0, 0, 0], [0, 1, 1]]))
    audio = network.embed_audio(to(wave(2, 200, 128)))
    text = network.embed_sentences(to(wave(2, 384)))
    loss = nt_xent(audio, text, network.log_scale.exp(), target_weights(kinds, kinds))
    return loss + distillation_loss(audio, text)


def words(config: WordEmbedderConfig | PhonemeBottleneckConfig, objective: str, to: Move) -> Tensor:
    network = to(build_embedder(config))
    return word_losses.LOSSES[objective](network, 0.5, made_up_batch(), torch.Generator())


def pronunciations(to: Move) -> Tensor:
    network = to(G2P(G2PConfig(width=8, layers=1, dropout=0.0)))
    return g2p_loss(network, [(letter_numbers("cat"), [1, 2, 3]), (letter_numbers("dog"), [4, 5])])


def lips(to: Move) -> Tensor:
    """The reader with all its losses, that of the vocoder included."""
    config = LipReaderConfig(
        side=16, channels=(4, 8), width=16, inner=16, layers=1, heads=2, n_words=5, voice=8
    )
    network = to(LipReader(config))
    batch = Batch(
        crops=0.5 + 0.5 * wave(2, FRAMES, 16, 16),
        log_mel=-5.5 + 2 * wave(2, HOPS, N_MELS, step=0.13),
        pitch=(100 + 50 * wave(2, HOPS)).relu(),
        words=torch.tensor([[1, 2, 3, 4, 1, 2]] * 2),
        spoken=(torch.arange(FRAMES) // 4 % 5)[None].repeat(2, 1),
    )
    batch = replace(batch, **{f.name: to(getattr(batch, f.name)) for f in fields(batch)})
    states, ctc_logits = network.encode(batch.crops)
    predicted = network.decode(states, ctc_logits, to(wave(2, 8)), HOPS, batch.log_mel)
    losses = reader_losses(predicted, ctc_logits, batch)
    return sum(losses.values(), to(TinyVocoderLoss())(predicted, batch))


def voices(to: Move) -> Tensor:
    network = to(VoiceEncoder(VoiceEncoderConfig(width=8, size=8)))
    face = to(FaceEncoder(FaceEncoderConfig(channels=(4, 8), size=8)))
    vectors = network(to(wave(2, 20, N_MELS)))
    predicted, log_pitch = face(to(0.5 + 0.5 * wave(2, 3, 16, 16)))
    loss = margin_loss(vectors, to(wave(4, 8)), to(torch.tensor([0, 3])))
    return loss + voice_loss(predicted, log_pitch, vectors, to(torch.tensor([120.0, 200.0])))


LOSSES: dict[str, Callable[[Move], Tensor]] = {
    "units": units,
    "inverter": inverter,
    "vocoder": vocoder,
    "any-voice": any_voice,
    "any-voice-vocoder": any_voice_vocoder,
    "sound-cnn": lambda to: sounds(SoundCNNConfig(channels=(8, 16), blocks=(1, 1)), to),
    "sound-passt": lambda to: sounds(PatchTransformerConfig(16, 1, 2, 16), to),
    "words": lambda to: words(
        WordEmbedderConfig(VIEW, VIEW, channels=4, width=12), "contrastive", to
    ),
    "words-triplet": lambda to: words(
        WordEmbedderConfig(VIEW, VIEW, channels=4, width=12), "triplet", to
    ),
    "words-bottleneck": lambda to: words(
        PhonemeBottleneckConfig(VIEW, VIEW, channels=4), "ctc", to
    ),
    "g2p": pronunciations,
    "lips": lips,
    "voices": voices,
}


@pytest.fixture
def pretended(monkeypatch: pytest.MonkeyPatch) -> Iterator[torch.device]:
    monkeypatch.setattr(word_losses, "device", lambda: META)
    # What this device has not: a generator of random numbers, and autocast.
    monkeypatch.setattr("earshot.models.vocoder._noise", torch.zeros_like)
    monkeypatch.setattr(torch, "autocast", lambda *_, **__: nullcontext())
    torch.__future__.set_overwrite_module_params_on_conversion(True)
    with PretendDevice(), torch.no_grad():
        yield META
    torch.__future__.set_overwrite_module_params_on_conversion(False)


@pytest.mark.parametrize("name", list(LOSSES))
def test_loss_meets_no_tensor_of_cpu(name: str, pretended: torch.device) -> None:
    """A loss on another device meets no tensor of the CPU."""
    torch.manual_seed(0)
    loss = LOSSES[name](lambda values: move(values, pretended))
    assert loss.device == pretended and np.isfinite(loss.item())


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("name", list(LOSSES))
def test_loss_on_a_gpu_has_gradients(name: str) -> None:
    networks: list[nn.Module] = []

    def to_gpu(values: Any) -> Any:
        moved = move(values, "cuda")
        networks.extend([moved] if isinstance(moved, nn.Module) else [])
        return moved

    torch.manual_seed(0)
    loss = LOSSES[name](to_gpu)
    assert loss.device.type == "cuda" and bool(loss.isfinite())
    if loss.requires_grad:
        loss.backward()
        gradients = [p.grad for network in networks for p in network.parameters()]
        assert any(g is not None and bool(g.any()) for g in gradients)


def test_pretended_device_refuses_tensor_of_cpu(pretended: torch.device) -> None:
    there = torch.ones(3).to(pretended)
    assert (2 * there + torch.arange(3, device=there.device)).sum().item() == 9
    with pytest.raises(RuntimeError, match="on the CPU and on the pretended device"):
        torch.add(there, torch.ones(3))
