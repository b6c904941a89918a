"""The training loop: it schedules the learning rate, resumes, and reports."""

import copy
import json
import math
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

SAVE_EVERY = 120.0  # seconds between states on disk
REPORT_EVERY = 100  # steps
VALIDATIONS = 10  # of a training with a budget

Losses = Tensor | Mapping[str, Tensor]  # that are added up


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
        """Whether training ends here."""
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


class Budget:
    """The length of a training: so many steps in all, or so many seconds."""

    def __init__(self, steps: int | None = None, seconds: float | None = None) -> None:
        self.steps, self.seconds = steps, seconds
        self.steps_spent, self.seconds_spent = 0, 0.0

    @property
    def share(self) -> float:
        """The share of the training that is done, from 0 to 1."""
        steps = self.steps_spent / self.steps if self.steps else 0.0
        seconds = self.seconds_spent / self.seconds if self.seconds else 0.0
        return min(1.0, max(steps, seconds))


class FallAtEnd:
    """A schedule for a budget: after a warm-up the learning rate is constant, and falls to zero
    over the last part (Hu et al. 2024, MiniCPM, section 4).

    The weights to keep are averages of those of all steps (Polyak & Juditsky 1992). They are also
    what ``validate`` measures at every tenth of the training; its numbers are printed, and appended
    to a file. A training that is over goes on where it was with a new budget: of seconds, all; of
    steps, those beyond the ones that are done.
    """

    def __init__(
        self,
        optimizer: torch.optim.Optimizer,
        network: nn.Module,
        budget: Budget,
        validate: Callable[[nn.Module], Mapping[str, float]],
        log: Path,
        falling: float = 0.35,
        lowest: float = 0.02,
        warmup: int = 200,
        decay: float = 0.999,
    ) -> None:
        """Begin at the first step.

        falling: the share of the training in which the rate falls, to ``lowest`` of the highest;
        warmup: steps; decay: what the average keeps of itself in a step; log: of JSON lines.
        """
        self._optimizer, self._network, self._budget = optimizer, network, budget
        self._validate, self._log = validate, log
        self._falling, self._lowest, self._warmup, self._decay = falling, lowest, warmup, decay
        self._highest = [group["lr"] for group in optimizer.param_groups]
        self._average = copy.deepcopy(network).eval().requires_grad_(False)
        self._validated = 0  # times
        self._now = time.monotonic()
        self._set_rate()

    @property
    def finished(self) -> bool:
        """Whether the budget is spent."""
        return self._budget.share >= 1

    def step(self) -> None:
        """Average the weights, set the rate of the next step, and validate now and then."""
        before, budget = self._budget.steps_spent, self._budget
        decay = min(self._decay, (1 + before) / (10 + before))
        with torch.no_grad():
            weights: list[Tensor] = list(self._network.parameters())
            average: list[Tensor] = list(self._average.parameters())
            torch._foreach_lerp_(average, weights, 1 - decay)
        now = time.monotonic()
        budget.steps_spent += 1
        budget.seconds_spent += now - self._now
        self._now = now
        self._set_rate()
        if int(VALIDATIONS * budget.share) > self._validated:
            self._validated = int(VALIDATIONS * budget.share)
            numbers = self._validate(self._averaged()).items()
            row = {"step": budget.steps_spent, "share": round(budget.share, 3)}
            row |= {name: round(number, 4) for name, number in numbers}
            print(row, flush=True)
            with self._log.open("a") as file:
                file.write(json.dumps(row) + "\n")

    def restore(self) -> None:
        """Put the averaged weights into the network."""
        self._network.load_state_dict(self._averaged().state_dict())

    def state_dict(self) -> dict[str, Any]:
        """Collect the averaged weights, and how much of the budget is spent."""
        seconds = 0.0 if self.finished else self._budget.seconds_spent
        steps = self._budget.steps_spent
        return {"average": self._averaged().state_dict(), "steps": steps, "seconds": seconds}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Resume from what state_dict returned."""
        self._average.load_state_dict(state_dict["average"])
        self._budget.steps_spent = state_dict["steps"]
        self._budget.seconds_spent = state_dict["seconds"]
        self._validated = int(VALIDATIONS * self._budget.share)
        self._set_rate()

    def _averaged(self) -> nn.Module:
        """Return the averaged network, whose buffers are those of the last step."""
        for its, own in zip(self._network.buffers(), self._average.buffers(), strict=True):
            own.copy_(its)
        return self._average

    def _set_rate(self) -> None:
        falling = max(self._lowest, (1 - self._budget.share) / self._falling)
        factor = min(1.0, (self._budget.steps_spent + 1) / self._warmup, falling)
        for group, highest in zip(self._optimizer.param_groups, self._highest, strict=True):
            group["lr"] = factor * highest


def fit(
    network: nn.Module,
    step_loss: Callable[[torch.Generator], Losses],
    validate: Callable[[], float],
    state: Path,
    steps: int | None,
    learning_rate: float,
    weight_decay: float = 0.01,
    seed: int = 0,
    betas: tuple[float, float] = (0.9, 0.98),
    schedule_of: Callable[[torch.optim.Optimizer], Schedule] | None = None,
    max_norm: float = 1.0,
) -> dict[str, float]:
    """Train for ``steps`` steps of AdamW, resuming from the file ``state`` if it is there.

    step_loss draws a batch with the generator and returns its loss, or losses by name; validate
    returns a score that falls as the network gets better; steps: None where the schedule ends the
    training; schedule_of makes the schedule of the learning rate, by default WarmupCosine;
    max_norm: of the gradient, which is clipped. Returns the hours spent, over all runs, and the
    last score. Raises FloatingPointError where a loss or its gradient is no number: the last state
    on disk is whole; SystemExit after SIGTERM, when the state is written.
    """
    optimizer = torch.optim.AdamW(
        network.parameters(), learning_rate, betas=betas, weight_decay=weight_decay
    )
    schedule: Schedule = (
        schedule_of(optimizer) if schedule_of else WarmupCosine(optimizer, steps or 1)
    )
    step, hours = 0, 0.0
    generator = torch.Generator().manual_seed(seed)
    if state.exists():
        saved = torch.load(state, weights_only=True)
        network.load_state_dict(saved["network"])
        optimizer.load_state_dict(saved["optimizer"])
        schedule.load_state_dict(saved["schedule"])
        generator.set_state(saved["generator"])
        step, hours = saved["step"], saved["hours"]
    torch.manual_seed(seed + step)

    def save() -> None:
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
    first = step
    running: dict[str, float] = {}
    with _ending_by_signal() as ending:
        while not schedule.finished and (steps is None or step < steps):
            with half_precision():
                losses = step_loss(generator)
            terms = losses if isinstance(losses, Mapping) else {"loss": losses}
            values = torch.stack([term.float() for term in terms.values()])
            optimizer.zero_grad()
            values.sum().backward()
            norm = nn.utils.clip_grad_norm_(network.parameters(), max_norm)
            step += 1
            if not (norm.isfinite() and values.isfinite().all()):
                raise FloatingPointError(f"A loss or its gradient is no number at step {step}.")
            optimizer.step()
            schedule.step()
            for name, value in zip(terms, values.tolist(), strict=True):
                running[name] = 0.98 * running.setdefault(name, value) + 0.02 * value
            now = time.monotonic()
            if step % REPORT_EVERY == 0:
                means = "  ".join(f"{name} {mean:.4f}" for name, mean in running.items())
                if steps:
                    left = (now - began) / (step - first) * (steps - step) / 60
                    print(f"{step}/{steps}  {means}  {left:.1f} min left", flush=True)
                else:
                    print(f"{step}  {means}", flush=True)
            last = ending.is_set() or step == steps or schedule.finished
            if now - saved_at > SAVE_EVERY or last:
                hours += (now - saved_at) / 3600
                saved_at = now
                save()
            if ending.is_set():
                raise SystemExit(f"Ended at step {step}, which is saved.")
    schedule.restore()
    network.eval()
    return {"hours": hours, "score": validate()}


@contextmanager
def _ending_by_signal() -> Iterator[Event]:
    """Let SIGTERM set an event within the context, and end nothing."""
    ending = Event()
    before = signal.signal(signal.SIGTERM, lambda *_: ending.set())
    try:
        yield ending
    finally:
        signal.signal(signal.SIGTERM, before)


def save(
    run: Path, name: str, config: "DataclassInstance", network: nn.Module, result: dict[str, float]
) -> None:
    """Write the trained network with its config to run/name.pt, and the result of fit next to
    it."""
    torch.save({"config": asdict(config), "network": network.state_dict()}, run / f"{name}.pt")
    (run / f"{name}.json").write_text(json.dumps(result))
    print(name, result, flush=True)
