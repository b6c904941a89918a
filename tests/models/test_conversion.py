"""The networks that convert between any voices: shapes, bottlenecks, and committed outputs."""

from typing import TypeVar

import pytest
import torch
from torch import Tensor, nn

from earshot.models.any_voice.content import Adapter, AdapterConfig, Bottleneck, BottleneckConfig
from earshot.models.any_voice.inverter import ContourPredictor, Harmonics, Inverter, InverterConfig
from earshot.models.any_voice.voices import ReferenceConfig, ReferenceEncoder, Voices

Network = TypeVar("Network", bound=nn.Module)
SMALL = InverterConfig(
    content_width=4, voice_width=8, condition_width=8, width=16, heads=2, inner=16, layers=1,
    fine_width=16, fine_inner=16, fine_layers=1,
)  # fmt: skip


def wave(*shape: int, step: float = 0.7) -> Tensor:
    count = torch.Size(shape).numel()
    return torch.sin(step * torch.arange(count, dtype=torch.float32)).view(shape)


def filled(network: Network) -> Network:
    for number, parameter in enumerate(network.parameters()):
        parameter.data = 0.2 * wave(*parameter.shape, step=0.3 + 0.01 * number)
    return network.eval().requires_grad_(False)


def voices(count: int) -> Voices:
    return Voices(wave(count, 8), torch.full((count,), 5.0), torch.full((count,), 0.2))


def test_content_of_seeded_adapter_is_golden() -> None:
    config = AdapterConfig((1, 2), 6, width=16, heads=2, inner=16, layers=1, content_width=4)
    content = filled(Adapter(config))(wave(1, 8, 12))
    assert content.shape == (1, 8, 4)
    assert content[0, 3].tolist() == pytest.approx(CONTENT_OUTPUT, abs=1e-4)


def test_content_ignores_size_of_states() -> None:
    adapter = filled(Adapter(AdapterConfig((1, 2), 6, 16, 2, 16, 1, 4)))
    states = wave(1, 8, 12)
    torch.testing.assert_close(adapter(3 * states), adapter(states), rtol=0, atol=1e-3)


def test_seeded_inverter_gives_golden_output() -> None:
    contour = torch.tensor([[[1.0, 0.1]] * 5 + [[0.0, 0.0]] * 5])
    mel = filled(Inverter(SMALL))(wave(1, 5, 4), contour, voices(1), torch.tensor([0]))
    assert mel.shape == (1, 10, 80)
    assert mel[0, 3, :4].tolist() == pytest.approx(INVERTER_OUTPUT, abs=1e-4)


def test_mel_depends_on_voice_and_bottleneck() -> None:
    inverter = filled(Inverter(SMALL))
    contour, two = torch.zeros(2, 10, 2), voices(2)
    content = wave(1, 5, 4).expand(2, -1, -1)
    mel = inverter(content, contour, two, torch.tensor([0, 0]))
    assert not torch.allclose(mel[0], mel[1])
    same = Voices(two.vector[:1].expand(2, -1), two.pitch_mean, two.pitch_std)
    mel = inverter(content, contour, same, torch.tensor([0, 3]))
    assert not torch.allclose(mel[0], mel[1])


def test_contour_and_voice_have_their_shapes() -> None:
    """The voice has unit variance as well."""
    predicted = filled(ContourPredictor(SMALL))(wave(2, 5, 4), voices(2))
    assert predicted.shape == (2, 10, 2)
    vector = filled(ReferenceEncoder(ReferenceConfig(width=16, voice_width=8)))(wave(2, 40, 80))
    assert vector.shape == (2, 8)
    assert vector.mean(dim=1).abs().max() < 1e-5
    assert vector.var(dim=1, unbiased=False).sub(1).abs().max() < 0.01


def test_harmonics_peak_at_multiples_of_pitch() -> None:
    table = Harmonics()
    pattern = table(torch.tensor([[200.0, 0.0]]))[0]
    low = pattern[0, :12]
    peaks = [n for n in range(1, 11) if low[n] > low[n - 1] and low[n] > low[n + 1]]
    spacing = torch.tensor(peaks).diff().float().mean()
    assert spacing == pytest.approx(200 / BAND, rel=0.15)
    assert not pattern[1].any()


def test_every_bottleneck_has_its_rate() -> None:
    bottleneck = Bottleneck(BottleneckConfig())
    rates = [bottleneck.bits_per_second(name) for name in bottleneck.config.names]
    assert rates == [float("inf"), 300, 350, 400, 450, 900, 1350]


def test_codes_decode_to_what_training_passes() -> None:
    bottleneck = Bottleneck(BottleneckConfig(content_width=4, sizes=(4, 8), residual=(8,))).eval()
    content = wave(3, 6, 4)
    for number, name in enumerate(bottleneck.config.names[1:], start=1):
        passed, _ = bottleneck(content, torch.full((3,), number))
        codes = bottleneck.encode(content[1], name)
        torch.testing.assert_close(bottleneck.decode(codes, name), passed[1])


def test_more_codebooks_come_nearer_to_content() -> None:
    config = BottleneckConfig(content_width=4, sizes=(4, 8), residual=(8, 8))
    bottleneck = Bottleneck(config).train()
    torch.manual_seed(0)
    content = torch.randn(16, 50, 4)
    for _ in range(200):
        bottleneck(content, torch.zeros(16, dtype=torch.long))
    bottleneck.eval()
    off = [float(bottleneck(content, torch.full((16,), n))[1]) for n in range(5)]
    assert off[0] == 0
    assert off[1] > off[2] > off[3] > off[4]


def test_the_gradient_passes_straight_through_units() -> None:
    bottleneck = Bottleneck(BottleneckConfig(content_width=4, sizes=(4,), residual=())).eval()
    content = wave(1, 6, 4).requires_grad_()
    passed, _ = bottleneck(content, torch.tensor([1]))
    passed.sum().backward()
    assert content.grad is not None
    assert torch.equal(content.grad, torch.ones_like(content))


BAND = 36.9  # Hz between the centres of the lowest mel bands
CONTENT_OUTPUT = [0.91891, -0.29267, -1.51158, 0.88533]
INVERTER_OUTPUT = [0.10058, 0.1611, 0.06298, 0.25527]
