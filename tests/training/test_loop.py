"""The training loop: budgets, averaged weights, and losses that are no numbers."""

import signal
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from training.common import loop
from training.common.loop import Budget, FallAtEnd, fit

Loss = Callable[[float], Tensor]  # given the share of the training that is done


def train(network: nn.Module, run: Path, budget: Budget, loss: Loss) -> dict[str, float]:
    """Fit the network under a budget, with falling rates from 0.1."""
    return fit(
        network,
        lambda _: {"loss": loss(budget.share)},
        lambda: 0.0,
        run / "net.state",
        None,
        0.1,
        schedule_of=lambda optimizer: FallAtEnd(
            optimizer, network, budget, lambda _: {"score": 1.0}, run / "net.jsonl", warmup=1
        ),
    )


def test_share_is_of_steps_or_seconds() -> None:
    steps, seconds, both = Budget(steps=10), Budget(seconds=100.0), Budget(steps=10, seconds=1.0)
    for budget in (steps, seconds, both):
        budget.steps_spent, budget.seconds_spent = 5, 25.0
    assert [steps.share, seconds.share, both.share] == [0.5, 0.25, 1.0]


def test_rate_falls_over_last_part(tmp_path: Path) -> None:
    network, budget = nn.Linear(1, 1), Budget(steps=100)
    optimizer = torch.optim.AdamW(network.parameters(), 1.0)
    schedule = FallAtEnd(
        optimizer, network, budget, lambda _: {}, tmp_path / "log", falling=0.5, warmup=10
    )
    rates = [optimizer.param_groups[0]["lr"]]
    while not schedule.finished:
        schedule.step()
        rates.append(optimizer.param_groups[0]["lr"])
    assert rates[0] == pytest.approx(0.1)
    assert rates[10:50] == [1.0] * 40
    assert rates[75] == pytest.approx(0.5)
    assert rates[100] == pytest.approx(0.02)


def test_average_is_what_training_ends_with(tmp_path: Path) -> None:
    """The network ends with averaged weights, which follow the last ones."""
    network, passed = nn.Linear(1, 1), []

    def loss(share: float) -> Tensor:
        passed.append(network.weight.item())
        return network.weight.sum()

    train(network, tmp_path, Budget(steps=20), loss)
    last = torch.load(tmp_path / "net.state", weights_only=True)["network"]["weight"].item()
    assert passed[0] > network.weight.item() > last
    assert len((tmp_path / "net.jsonl").read_text().splitlines()) == 10


@pytest.mark.parametrize("budget", [Budget(steps=6), Budget(steps=6, seconds=1e6)])
def test_training_goes_on_with_larger_budget(tmp_path: Path, budget: Budget) -> None:
    network = nn.Linear(1, 1)
    train(network, tmp_path, Budget(steps=4), lambda _: network.weight.sum())
    shares = []

    def loss(share: float) -> Tensor:
        shares.append(share)
        return network.weight.sum()

    train(network, tmp_path, budget, loss)
    assert shares == pytest.approx([4 / 6, 5 / 6])


def test_training_stops_at_nan_loss(tmp_path: Path) -> None:
    network = nn.Linear(2, 1)

    def loss(share: float) -> Tensor:
        return network(torch.full((1, 2), 1.0 if share < 0.5 else float("nan"))).sum()

    with pytest.raises(FloatingPointError, match="at step 4"):
        train(network, tmp_path, Budget(steps=6), loss)
    assert not (tmp_path / "net.state").exists()


def test_nan_gradient_leaves_state_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "SAVE_EVERY", 0.0)
    network = nn.Linear(2, 1)

    def loss(share: float) -> Tensor:
        return (network.weight * (0.0 if share >= 0.5 else 1.0)).square().sum().sqrt()

    with pytest.raises(FloatingPointError, match="at step 4"):
        train(network, tmp_path, Budget(steps=6), loss)
    saved = torch.load(tmp_path / "net.state", weights_only=True)
    assert saved["step"] == 3
    assert bool(saved["network"]["weight"].isfinite().all())


def test_sigterm_ends_training_at_saved_step(tmp_path: Path) -> None:
    """The step is finished, and the training goes on after it."""
    network, before = nn.Linear(1, 1), signal.getsignal(signal.SIGTERM)

    def loss(share: float) -> Tensor:
        if share == 0.5:
            signal.raise_signal(signal.SIGTERM)
        return network.weight.sum()

    with pytest.raises(SystemExit, match="step 3"):
        train(network, tmp_path, Budget(steps=4), loss)
    assert torch.load(tmp_path / "net.state", weights_only=True)["step"] == 3
    assert signal.getsignal(signal.SIGTERM) == before
    train(network, tmp_path, Budget(steps=4), loss)
    assert torch.load(tmp_path / "net.state", weights_only=True)["step"] == 4
