"""The device of networks: the CPU, a GPU of this machine, or one that a ZeroGPU Space lends.

ZeroGPU lends a GPU to a process that is forked for a call, whose arguments are pickled, and wants
`spaces` imported before torch uses CUDA: app.launch imports this module for that. The small
networks stay on the CPU there, for waiting for a GPU takes longer than they do; only what is
wrapped by ``lent`` asks for it. Anywhere else nothing here does anything, and `spaces` is not
needed.
"""

import os
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from earshot.core.errors import InputError

if TYPE_CHECKING:
    import torch

T = TypeVar("T")

ZERO_GPU: Final = os.environ.get("SPACES_ZERO_GPU", "").lower() in ("1", "t", "true")
SECONDS: Final = 60  # that a call may need the GPU for

_work: dict[str, Callable[..., Any]] = {}  # the forked process has it too


def _run(name: str, *arguments: Any) -> Any:
    return _work[name](*arguments)


if ZERO_GPU:
    import spaces  # type: ignore[import-not-found]  # the Space brings it

    _run = spaces.GPU(duration=SECONDS)(_run)


def choose_device(name: str, large: bool = False) -> "torch.device":
    """Choose the device of a name: 'auto' is the GPU where there is one, but on ZeroGPU for large
    networks only, which call through ``lent``.

    Raises InputError for a GPU where there is none that torch can use.
    """
    import torch  # late, for it takes seconds

    if name.startswith("cuda") and not torch.cuda.is_available():
        raise InputError("There is no GPU here that torch can use: take auto, or cpu.")
    if name != "auto":
        return torch.device(name)
    gpu = torch.cuda.is_available() and (large or not ZERO_GPU)
    return torch.device("cuda" if gpu else "cpu")


def lent(name: str, work: Callable[..., T]) -> Callable[..., T]:
    """Wrap work so that it runs, on ZeroGPU, with a GPU for each call. Its arguments and what it
    returns are arrays or other values that can be pickled. name: none that other work has."""
    if not ZERO_GPU:
        return work
    _work[name] = work
    return partial(_run, name)
