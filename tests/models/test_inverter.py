"""The inverter keeps time, follows the voice, and follows the contour that it is given."""

import torch

from earshot.models.vqvae import CodebookInverter, CodebookInverterConfig

SIZES = {"code_width": 8, "width": 16, "layers": 1, "inner": 16, "dropout": 0.0}


def make(stride: int = 4, pitch: bool = True, n_outputs: int = 80) -> CodebookInverter:
    torch.manual_seed(0)
    return CodebookInverter(CodebookInverterConfig(stride, n_outputs, pitch, **SIZES)).eval()


def test_inverter_gives_units_their_frames() -> None:
    """Each unit becomes a stride of frames."""
    spectrogram, contour = make(stride=2)(torch.randn(3, 10, 8), torch.tensor([0, 1, 2]))
    assert spectrogram.shape == (3, 20, 80)
    assert contour is not None
    assert contour.shape == (3, 20, 2)


def test_inverter_of_paper_predicts_no_contour() -> None:
    spectrogram, contour = make(pitch=False, n_outputs=321)(
        torch.randn(1, 10, 8), torch.tensor([0])
    )
    assert spectrogram.shape == (1, 40, 321)
    assert contour is None


def test_inverter_spectrogram_depends_on_voice() -> None:
    codes = torch.randn(1, 10, 8).expand(2, -1, -1)
    spectrogram, _ = make()(codes, torch.tensor([0, 4]))
    assert (spectrogram[0] - spectrogram[1]).abs().mean() > 0.01


def test_inverter_follows_given_contour() -> None:
    inverter, codes, voice = make(), torch.randn(1, 10, 8), torch.tensor([0])
    low, high = torch.zeros(1, 40, 2), torch.ones(1, 40, 2)
    difference = inverter(codes, voice, low)[0] - inverter(codes, voice, high)[0]
    assert difference.abs().mean() > 0.01


def test_inverter_without_voicing_equals_zero_contour() -> None:
    inverter, codes, voice = make(), torch.randn(1, 10, 8), torch.tensor([0])
    assert inverter.contour is not None
    inverter.contour.output.weight.data[0] = 0.0
    inverter.contour.output.bias.data[0] = -10.0
    own, _ = inverter(codes, voice)
    silent, _ = inverter(codes, voice, torch.zeros(1, 40, 2))
    torch.testing.assert_close(own, silent)
