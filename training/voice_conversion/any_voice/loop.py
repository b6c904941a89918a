"""A training loop that resumes where it was: averaged weights, and a rate that falls at the end.

The rate is constant up to the last fifth of the steps and falls to zero there (Hu et al. 2024,
MiniCPM, section 4): to train for longer, go on from a state that was saved before the fall. The
averaged weights (Polyak & Juditsky 1992) are what is measured and exported.
"""

import copy
import json
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor, nn

from training.common.loop import device

SAVE_EVERY = 120.0  # seconds between states on disk
REPORT_EVERY = 100  # steps
WARMUP = 300  # steps
FALLING = 0.2  # of the steps, at the end
AVERAGE = 0.999  # of the weights, a step
CLIP = 5.0  # norm of the gradient

Losses = dict[str, Tensor]


def train(
    network: nn.Module,
    step_losses: Callable[[int, torch.Generator], Losses],
    validate: Callable[[nn.Module], dict[str, float]],
    run: Path,
    name: str,
    steps: int,
    learning_rate: float,
    validate_every: int = 1000,
    seed: int = 0,
) -> None:
    """AdamW up to step ``steps``, from the state run/name.state if it is there.

    step_losses(step, generator) gives the weighted losses that are added up; validate gives
    numbers for the averaged network, appended to run/name.jsonl with the hours so far. Raises
    FloatingPointError where the loss is not a number: the last state on disk is whole.
    """
    optimizer = torch.optim.AdamW(
        network.parameters(), learning_rate, (0.9, 0.98), 1e-8, 0.01, fused=True
    )
    average = copy.deepcopy(network).eval().requires_grad_(False)
    generator = torch.Generator().manual_seed(seed)
    torch.manual_seed(seed)
    state, first, hours = run / f"{name}.state", 0, 0.0
    if state.exists():
        saved = torch.load(state, weights_only=True, map_location=device())
        saved["generator"] = saved["generator"].cpu()
        network.load_state_dict(saved["network"])
        average.load_state_dict(saved["average"])
        optimizer.load_state_dict(saved["optimizer"])
        generator.set_state(saved["generator"])
        first, hours = saved["step"], saved["hours"]
    saved_at = time.monotonic()
    running: dict[str, float] = {}
    network.train()
    for step in range(first, steps):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate * _share_of_rate(step, steps)
        losses = step_losses(step, generator)
        optimizer.zero_grad()
        loss = torch.stack(list(losses.values())).sum()
        if not loss.isfinite():
            raise FloatingPointError(f"The loss is {loss.item()} at step {step + 1}.")
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), CLIP)
        optimizer.step()
        _follow(average, network, min(AVERAGE, (1 + step) / (10 + step)))
        for key, value in losses.items():
            running[key] = 0.98 * running.get(key, value.item()) + 0.02 * value.item()
        now = time.monotonic()
        if (step + 1) % REPORT_EVERY == 0:
            report = "  ".join(f"{key} {value:.3f}" for key, value in running.items())
            print(
                f"{step + 1}/{steps}  {hours + (now - saved_at) / 3600:.2f} h  {report}", flush=True
            )
        if (step + 1) % validate_every == 0 or step + 1 == steps:
            row = {"step": step + 1, "hours": round(hours + (now - saved_at) / 3600, 3)}
            row |= {key: round(value, 4) for key, value in validate(average).items()}
            with (run / f"{name}.jsonl").open("a") as file:
                file.write(json.dumps(row) + "\n")
            print(row, flush=True)
        if time.monotonic() - saved_at > SAVE_EVERY or step + 1 == steps:
            hours += (time.monotonic() - saved_at) / 3600
            saved_at = time.monotonic()
            _save(state, network, average, optimizer, generator, step + 1, hours)


def _share_of_rate(step: int, steps: int) -> float:
    """A warm-up, a constant, and a straight fall to zero."""
    return min(1.0, (step + 1) / WARMUP, (steps - step) / (FALLING * steps))


def _save(
    state: Path,
    network: nn.Module,
    average: nn.Module,
    optimizer: torch.optim.Optimizer,
    generator: torch.Generator,
    step: int,
    hours: float,
) -> None:
    unfinished = state.with_suffix(".new")
    torch.save(
        {
            "network": network.state_dict(),
            "average": average.state_dict(),
            "optimizer": optimizer.state_dict(),
            "generator": generator.get_state(),
            "step": step,
            "hours": hours,
        },
        unfinished,
    )
    unfinished.replace(state)


@torch.no_grad()
def _follow(average: nn.Module, network: nn.Module, decay: float) -> None:
    """Move the averaged parameters towards the network's; buffers are taken over."""
    for mine, its in zip(average.parameters(), network.parameters(), strict=True):
        mine.lerp_(its, 1 - decay)
    for mine, its in zip(average.buffers(), network.buffers(), strict=True):
        mine.copy_(its)
