"""The registry of systems: files of ``pipelines/`` register them, and each tab offers those of its
task.

The files are loaded by their paths; nobody imports them. A file registers a class, or a function
that loads something, with the decorator ``system``; it is called when somebody first asks for it.
"""

import inspect
import runpy
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from earshot.core.errors import InputError
from earshot.core.loading import once
from earshot.core.paths import CHECKPOINTS, PIPELINES

TASKS: Final = ("voice_conversion", "words", "sound_search", "lip_to_speech")
F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


@dataclass(frozen=True)
class System:
    """A system that a file registered.

    name: by which programs ask for it; label: what a menu calls it; factory: makes it, given those
    of ``checkpoints``, a folder of them, and ``device`` that it has parameters for; needs: names of
    checkpoints without which it is not offered.
    """

    task: str
    name: str
    label: str
    factory: Callable[..., Any]
    needs: tuple[str, ...] = ()

    def installed(self, checkpoints: Path) -> bool:
        """Whether the folder has all checkpoints that the system needs."""
        return all((checkpoints / name / "config.json").exists() for name in self.needs)

    def load(self, checkpoints: Path, device: str) -> Any:
        """Load the system from a folder of checkpoints, for a device: auto, cpu or cuda."""
        values = {"checkpoints": checkpoints, "device": device}
        parameters = inspect.signature(self.factory).parameters
        return self.factory(**{name: values[name] for name in values if name in parameters})


_registered: ContextVar[list[System] | None] = ContextVar("registered", default=None)


def system(task: str, name: str, label: str = "", needs: Sequence[str] = ()) -> Callable[[F], F]:
    """Register what is decorated as a system of a task, one of TASKS: a class, or a function that
    loads one. It stays as it is, and is registered only while the app loads its file.

    Raises ValueError for a task that does not exist.
    """
    if task not in TASKS:
        raise ValueError(f"There is no task {task!r}: choose one of {', '.join(TASKS)}.")

    def register(factory: F) -> F:
        systems = _registered.get()
        if systems is not None:
            systems.append(System(task, name, label or name, factory, tuple(needs)))
        return factory

    return register


def registered_systems(folder: Path = PIPELINES) -> list[System]:
    """Run the files of a folder, in the order of their names, and list what they register."""
    with _collecting() as systems:
        for path in sorted(folder.glob("*.py")):
            runpy.run_path(str(path), run_name=path.stem)
    return systems


@contextmanager
def _collecting() -> Iterator[list[System]]:
    systems: list[System] = []
    token = _registered.set(systems)
    try:
        yield systems
    finally:
        _registered.reset(token)


class Offer(Generic[T]):
    """The systems of a task that are installed, the default first; each is loaded once, when it is
    first asked for, and shared by all visitors.

    labels: what a menu calls each, by its name. An offer of none is false.
    """

    def __init__(self, load: Callable[[str], T], labels: Mapping[str, str]) -> None:
        """Offer the systems of these labels. load: loads one by its name."""
        self.labels = labels
        self._load = once(load)

    @classmethod
    def of(
        cls,
        task: str,
        systems: Sequence[System],
        checkpoints: Path = CHECKPOINTS,
        device: str = "auto",
    ) -> "Offer[Any]":
        """Offer those of the systems that are of a task and have their checkpoints in the folder.

        A name that is registered twice is the later one's.
        """
        named = {s.name: s for s in systems if s.task == task and s.installed(checkpoints)}
        labels = {name: each.label for name, each in named.items()}
        return cls(lambda name: named[name].load(checkpoints, device), labels)

    def __call__(self, name: str | None = None) -> T:
        """Load a system by its name, without one the default. Raises InputError where it is not
        offered."""
        name = name or next(iter(self.labels), "")
        if name not in self.labels:
            raise InputError(f"There is no model {name!r} here, only {', '.join(self.labels)}.")
        return self._load(name)

    def __bool__(self) -> bool:
        return bool(self.labels)
