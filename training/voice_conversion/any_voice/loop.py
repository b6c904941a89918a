"""A training loop that resumes where it was: averaged weights, and a rate that falls at the end.

Unlike that of training.common, a training ends after so many steps, or after so many seconds on a
machine that is lent. The rate is constant up to the last part of it and falls to zero there (Hu et
al. 2024, MiniCPM, section 4): to train for longer, go on from a state that was saved before the
fall. The averaged weights (Polyak & Juditsky 1992) are what is measured and exported.
"""

import copy
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import torch
from torch import Tensor, nn

from training.common.loop import device, half_precision

SAVE_EVERY: Final = 60.0  # seconds between states on disk, and between validations
REPORT_EVERY: Final = 100  # steps
WARMUP: Final = 200  # steps
FALLING: Final = 0.35  # of the training, at the end
AVERAGE: Final = 0.999  # of the weights, a step
CLIP: Final = 5.0  # norm of the gradient

Losses = dict[str, Tensor]


@dataclass(frozen=True)
class Length:
    """The end of a training: after so many steps in all, or so many seconds of this run."""

    steps: int | None = None
    seconds: float | None = None

    def share(self, step: int, elapsed: float) -> float:
        """Measure how much of the training is done: from 0 to 1."""
        parts = [step / self.steps if self.steps else 0.0]
        parts.append(elapsed / self.seconds if self.seconds else 0.0)
        return min(1.0, max(parts))


def train(
    network: nn.Module,
    step_losses: Callable[[float], Losses],
    validate: Callable[[nn.Module], dict[str, float]],
    run: Path,
    name: str,
    length: Length,
    learning_rate: float,
    seed: int = 0,
) -> nn.Module:
    """Train by AdamW from the state run/name.state if it is there; return the averaged network.

    step_losses(share) gives the weighted losses that are added up; validate gives numbers for the
    averaged network, appended to run/name.jsonl with steps and hours. Raises FloatingPointError
    where a loss or its gradient is not a number: the last state on disk is whole.
    """
    parameters: list[Tensor] = list(network.parameters())
    optimizer = torch.optim.AdamW(
        parameters, learning_rate, (0.9, 0.98), 1e-8, 0.01, fused=device().type == "cuda"
    )
    average = copy.deepcopy(network).eval().requires_grad_(False)
    averaged: list[Tensor] = list(average.parameters())
    state, step, hours = run / f"{name}.state", 0, 0.0
    if state.exists():
        saved = torch.load(state, weights_only=True, map_location=device())
        network.load_state_dict(saved["network"])
        average.load_state_dict(saved["average"])
        optimizer.load_state_dict(saved["optimizer"])
        step, hours = saved["step"], saved["hours"]
    torch.manual_seed(seed + step)
    began = saved_at = time.monotonic()
    reported: list[Tensor] = []
    network.train()
    while (share := length.share(step, time.monotonic() - began)) < 1:
        for group in optimizer.param_groups:
            falling = max(0.02, (1 - share) / FALLING)
            group["lr"] = learning_rate * min(1.0, (step + 1) / WARMUP, falling)
        with half_precision():
            losses = step_losses(share)
        values = torch.stack([loss.float() for loss in losses.values()])
        optimizer.zero_grad()
        values.sum().backward()
        norm = nn.utils.clip_grad_norm_(parameters, CLIP)
        optimizer.step()
        with torch.no_grad():
            towards = 1 - min(AVERAGE, (1 + step) / (10 + step))
            torch._foreach_lerp_(averaged, parameters, towards)  # pyright: ignore
        reported.append(values.detach())
        last = norm.isfinite() & values.isfinite().all()
        step += 1
        now = time.monotonic()
        if step % REPORT_EVERY == 0:
            _check(last, step)
            means = torch.stack([row for row in reported if len(row) == len(values)]).mean(dim=0)
            told = "  ".join(f"{k} {v:.3f}" for k, v in zip(losses, means.tolist(), strict=True))
            print(f"{step}  {now - began:.0f} s  {share:.0%}  {told}", flush=True)
            reported.clear()
        if now - saved_at > SAVE_EVERY or length.share(step, now - began) >= 1:
            _check(last, step)
            hours += (now - saved_at) / 3600
            saved_at = now
            _take_over_buffers(average, network)
            row = {"step": step, "hours": round(hours, 3)}
            row |= {key: round(value, 4) for key, value in validate(average).items()}
            with (run / f"{name}.jsonl").open("a") as file:
                file.write(json.dumps(row) + "\n")
            print(row, flush=True)
            _save(state, network, average, optimizer, step, hours)
    return average


def _check(finite: Tensor, step: int) -> None:
    """Stop where losses or gradients are not numbers: neither are the weights from there on."""
    if not finite:
        raise FloatingPointError(f"A loss or its gradient is no number at step {step}.")


def _save(
    state: Path,
    network: nn.Module,
    average: nn.Module,
    optimizer: torch.optim.Optimizer,
    step: int,
    hours: float,
) -> None:
    unfinished = state.with_suffix(".new")
    torch.save(
        {
            "network": network.state_dict(),
            "average": average.state_dict(),
            "optimizer": optimizer.state_dict(),
            "step": step,
            "hours": hours,
        },
        unfinished,
    )
    unfinished.replace(state)


@torch.no_grad()
def _take_over_buffers(average: nn.Module, network: nn.Module) -> None:
    for mine, its in zip(average.buffers(), network.buffers(), strict=True):
        mine.copy_(its)
