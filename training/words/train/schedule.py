"""The learning rate schedule of Rhodes & Bains (section 3.2)."""

from collections.abc import Callable
from typing import Any, Final

import torch
from torch import nn

EPOCH: Final = 50  # steps between scores
PATIENCE: Final = 4  # epochs without a better score
DECAY: Final = 0.1
MIN_RATE: Final = 1e-7  # learning rate at which training ends


class DecayOnPlateau:
    """A schedule that multiplies the learning rate by DECAY when the validation score has not
    improved for PATIENCE epochs, goes back to the best weights, and ends below the rate MIN_RATE.

    A schedule for training.common.loop.fit. validate returns a score that falls as the network gets
    better.
    """

    def __init__(
        self, optimizer: torch.optim.Optimizer, network: nn.Module, validate: Callable[[], float]
    ) -> None:
        self._optimizer = optimizer
        self._network = network
        self._validate = validate
        self._steps = 0
        self._best_score = float("inf")
        self._epochs_since = 0
        self._best = _copy(network)

    @property
    def rate(self) -> float:
        """Read the learning rate of the next step."""
        return self._optimizer.param_groups[0]["lr"]

    @property
    def finished(self) -> bool:
        """Say whether the learning rate has fallen below MIN_RATE."""
        return self.rate < MIN_RATE

    def step(self) -> None:
        """Count a step of the optimizer, and score the network at the end of an epoch."""
        self._steps += 1
        if self._steps % EPOCH:
            return
        score = self._validate()
        print(f"step {self._steps}  score {score:.4f}  rate {self.rate:.0e}", flush=True)
        self._epochs_since += 1
        if score < self._best_score:
            self._best_score, self._epochs_since, self._best = score, 0, _copy(self._network)
        elif self._epochs_since >= PATIENCE:
            self.restore()
            self._epochs_since = 0
            self._optimizer.state.clear()  # the moments belong to the weights that were left
            for group in self._optimizer.param_groups:
                group["lr"] *= DECAY

    def restore(self) -> None:
        """Put the best weights back into the network."""
        self._network.load_state_dict(self._best)

    def state_dict(self) -> dict[str, Any]:
        """Collect the best weights and score, and the steps and epochs counted."""
        return {
            "steps": self._steps,
            "best_score": self._best_score,
            "epochs_since": self._epochs_since,
            "best": self._best,
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Resume from state_dict(); the optimizer, with its rate, is resumed on its own."""
        self._steps = state_dict["steps"]
        self._best_score = state_dict["best_score"]
        self._epochs_since = state_dict["epochs_since"]
        self._best = state_dict["best"]


def _copy(network: nn.Module) -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in network.state_dict().items()}
