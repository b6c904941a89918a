"""Windows give what the whole would, without seams."""

import itertools

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from earshot.core.cancellation import Job, running
from earshot.core.errors import StoppedError
from earshot.pretrained.windows import AT_ONCE, in_windows


@pytest.mark.parametrize("steps", [1, 19, 20, 21, 35, 36, 100, 103])
def test_windowed_pointwise_network_equals_whole(steps: int) -> None:
    x = torch.randn(steps, 3)
    torch.testing.assert_close(in_windows(lambda w: 2 * w, x, 20, 4), 2 * x)


@pytest.mark.parametrize("steps", [20, 52, 100])
def test_in_windows_supports_other_output_rates(steps: int) -> None:
    x = torch.arange(steps, dtype=torch.float32)[:, None]
    doubled = in_windows(lambda w: w.repeat_interleave(2, dim=1), x, 20, 4, ratio=2)
    torch.testing.assert_close(doubled, x.repeat_interleave(2, dim=0))
    halved = in_windows(lambda w: w[:, ::2], x, 20, 4, ratio=0.5)
    torch.testing.assert_close(halved, x[::2])


def test_in_windows_crossfades_between_windows() -> None:
    """A network that disagrees with itself from window to window must not jump."""

    moods = itertools.count()

    def moody(windows: Tensor) -> Tensor:
        each = torch.tensor([float(next(moods)) for _ in windows])
        return each[:, None, None].expand(-1, windows.shape[1], 1)

    output = in_windows(moody, torch.zeros(200, 1), 50, 20).flatten()
    assert next(moods) == 6
    assert output.diff().abs().max() < 1.5 / 20


def test_few_windows_are_computed_at_once() -> None:
    """A minute takes hardly more memory than a few seconds, and is stopped on the way."""
    job, sizes = Job(60), []

    def network(windows: Tensor) -> Tensor:
        sizes.append(len(windows))
        if len(sizes) == 2:
            job.stop()
        return windows

    with running(job), pytest.raises(StoppedError):
        in_windows(network, torch.zeros(1000, 1), 50, 20)
    assert sizes == [AT_ONCE, AT_ONCE]


def test_windowed_local_network_is_exact_inside() -> None:
    x = torch.randn(100, 1)

    def blur(windows: Tensor) -> Tensor:
        return F.avg_pool1d(windows.transpose(1, 2), 3, 1, 1).transpose(1, 2)

    difference = (in_windows(blur, x, 40, 10) - blur(x[None])[0]).abs()
    # Only at the edges of windows, whose weight is least, does the padding show.
    assert difference.flatten().sort().values[:-8].max() < 1e-6
    assert difference.max() < 0.3
