"""The schedule of Rhodes & Bains (section 3.2): a tenth of the rate when the score stalls."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor, nn

from training.common.loop import SAVE_EVERY, half_precision

EPOCH: Final = 50  # steps between scores
PATIENCE: Final = 4  # epochs without a better score
DECAY: Final = 0.1
LOWEST: Final = 1e-7  # learning rate at which it ends


def descend(
    network: nn.Module,
    step_loss: Callable[[torch.Generator], Tensor],
    validate: Callable[[], float],
    state: Path,
    steps: int,
    learning_rate: float,
    seed: int = 0,
) -> dict[str, float]:
    """Train with Adam until the rate is LOWEST, or for ``steps`` steps, and keep the best network.

    Resumes from the file ``state``; otherwise as training.common.loop.fit.
    """
    torch.manual_seed(seed)
    optimizer = torch.optim.Adam(network.parameters(), learning_rate)
    generator = torch.Generator().manual_seed(seed)
    at: dict[str, Any] = {"step": 0, "hours": 0.0, "best": float("inf"), "since": 0}
    at["rate"] = learning_rate
    best = {name: value.clone() for name, value in network.state_dict().items()}
    if state.exists():
        saved = torch.load(state, weights_only=True)
        network.load_state_dict(saved["network"])
        optimizer.load_state_dict(saved["optimizer"])
        generator.set_state(saved["generator"])
        at, best = saved["at"], saved["kept"]
    network.train()
    began = time.monotonic()
    saved_at = began
    while at["step"] < steps and at["rate"] >= LOWEST:
        with half_precision():
            loss = step_loss(generator)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        at["step"] += 1
        if at["step"] % EPOCH:
            continue
        score = validate()
        print(f"{at['step']}/{steps}  loss {loss.item():.4f}  score {score:.4f}", flush=True)
        at["since"] += 1
        if score < at["best"]:
            at |= {"best": score, "since": 0}
            best = {name: value.clone() for name, value in network.state_dict().items()}
        elif at["since"] >= PATIENCE:
            network.load_state_dict(best)
            at |= {"rate": at["rate"] * DECAY, "since": 0}
            optimizer = torch.optim.Adam(network.parameters(), at["rate"])
        now = time.monotonic()
        if now - saved_at > SAVE_EVERY:
            at["hours"] += (now - saved_at) / 3600
            saved_at = now
            _write(state, network, optimizer, generator, at, best)
    at["hours"] += (time.monotonic() - saved_at) / 3600
    network.load_state_dict(best)
    network.eval()
    return {"hours": at["hours"], "steps": at["step"], "score": at["best"]}


def _write(
    state: Path,
    network: nn.Module,
    optimizer: torch.optim.Optimizer,
    generator: torch.Generator,
    at: dict[str, Any],
    best: dict[str, Tensor],
) -> None:
    unfinished = state.with_suffix(".new")
    torch.save(
        {
            "network": network.state_dict(),
            "optimizer": optimizer.state_dict(),
            "generator": generator.get_state(),
            "at": at,
            "kept": best,
        },
        unfinished,
    )
    unfinished.replace(state)
