"""The training loop of networks with a given number of steps: it schedules the learning rate,
resumes, and reports.
"""

import json
import math
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

SAVE_EVERY = 120.0  # seconds between states on disk
REPORT_EVERY = 100  # steps


def device() -> torch.device:
    """Choose the GPU where there is one, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def half_precision() -> torch.autocast:
    """Compute products in bfloat16 where that is faster: on GPUs, and on most CPUs made for it
    (EPYC: half the time; on one such Xeon 1.4 times as long). On others they would take twice as
    long."""
    faster = device().type == "cuda" or torch.cpu._is_avx512_bf16_supported()
    return torch.autocast(device().type, torch.bfloat16, enabled=faster)


def numpy_generator(generator: torch.Generator) -> np.random.Generator:
    """Make a generator of numpy's, seeded by the next draw of one of torch's."""
    return np.random.default_rng(int(torch.randint(2**31, (), generator=generator)))


class Schedule(Protocol):
    """A schedule that sets the optimizer's learning rate, and may end the training before its last
    step.
    """

    @property
    def finished(self) -> bool:
        """Say whether training ends here."""
        ...

    def step(self) -> None:
        """Set the rate, after each step of the optimizer."""
        ...

    def restore(self) -> None:
        """Put back the weights to keep when training ends, if they are not the last."""
        ...

    def state_dict(self) -> dict[str, Any]:
        """Collect what load_state_dict resumes from."""
        ...

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Resume from what state_dict returned."""
        ...


class WarmupCosine(torch.optim.lr_scheduler.LambdaLR):
    """Linear warm-up over a tenth of the steps (500 at most), then cosine decay to 1 %."""

    finished = False

    def __init__(self, optimizer: torch.optim.Optimizer, steps: int) -> None:
        warmup = min(500, max(1, steps // 10))
        super().__init__(
            optimizer,
            lambda n: min(
                (n + 1) / warmup, 0.5 * (1 + math.cos(math.pi * min(n / steps, 1.0))) + 0.01
            ),
        )

    def restore(self) -> None:
        """Keep the last weights."""


def fit(
    network: nn.Module,
    step_loss: Callable[[torch.Generator], Tensor],
    validate: Callable[[], float],
    state: Path,
    steps: int,
    learning_rate: float,
    weight_decay: float = 0.01,
    seed: int = 0,
    betas: tuple[float, float] = (0.9, 0.98),
    schedule_of: Callable[[torch.optim.Optimizer], Schedule] | None = None,
) -> dict[str, float]:
    """Train for ``steps`` steps of AdamW, resuming from the file ``state`` if it is there.

    step_loss draws a batch with the generator and returns its loss; validate returns a score that
    falls as the network gets better; schedule_of makes the schedule of the learning rate, by
    default WarmupCosine. Returns the hours spent, over all runs, and the last score.
    """
    optimizer = torch.optim.AdamW(
        network.parameters(), learning_rate, betas=betas, weight_decay=weight_decay
    )
    schedule: Schedule = schedule_of(optimizer) if schedule_of else WarmupCosine(optimizer, steps)
    first, hours = 0, 0.0
    generator = torch.Generator().manual_seed(seed)
    torch.manual_seed(seed)
    if state.exists():
        saved = torch.load(state, weights_only=True)
        network.load_state_dict(saved["network"])
        optimizer.load_state_dict(saved["optimizer"])
        schedule.load_state_dict(saved["schedule"])
        generator.set_state(saved["generator"])
        first, hours = saved["step"], saved["hours"]

    def save(step: int) -> None:
        torch.save(
            {
                "network": network.state_dict(),
                "optimizer": optimizer.state_dict(),
                "schedule": schedule.state_dict(),
                "generator": generator.get_state(),
                "step": step,
                "hours": hours,
            },
            state.with_suffix(".new"),
        )
        state.with_suffix(".new").replace(state)

    network.train()
    began = saved_at = time.monotonic()
    running = 0.0
    for step in range(first + 1, steps + 1):
        if schedule.finished:
            break
        with half_precision():
            loss = step_loss(generator)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        running = loss.item() if step == first + 1 else 0.98 * running + 0.02 * loss.item()
        now = time.monotonic()
        if step % REPORT_EVERY == 0:
            rate = (step - first) / (now - began)
            left = (steps - step) / rate / 60
            print(f"{step}/{steps}  loss {running:.4f}  {left:.1f} min left", flush=True)
        if now - saved_at > SAVE_EVERY or step == steps or schedule.finished:
            hours += (now - saved_at) / 3600
            saved_at = now
            save(step)
    schedule.restore()
    network.eval()
    return {"hours": hours, "score": validate()}


def save(
    run: Path, name: str, config: "DataclassInstance", network: nn.Module, result: dict[str, float]
) -> None:
    """Write the trained network with its config to run/name.pt, and the result of fit next to
    it."""
    torch.save({"config": asdict(config), "network": network.state_dict()}, run / f"{name}.pt")
    (run / f"{name}.json").write_text(json.dumps(result))
    print(name, result, flush=True)
