"""The registry of systems: files of ``pipelines/``, and of folders of one's own, register them, and
each tab offers those of its task.

The files are loaded by their paths; nobody imports them. A file registers a class, or a function
that loads something, with the decorator ``system``; it is called when somebody first asks for it.
Our own are functions that load a checkpoint. Whatever else is registered is a plug-in: see
``earshot.systems.protocols`` for what it may be, ``earshot.systems.plug_in`` for what becomes of
its faults.
"""

import inspect
import os
import re
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from earshot.core.errors import InputError, PlugInError
from earshot.core.loading import once
from earshot.core.paths import CHECKPOINTS, PIPELINES
from earshot.systems.plug_in import MAX_LOAD_SECONDS, PlugIn

TASKS: Final = ("voice_conversion", "words", "sound_search", "lip_to_speech")
NAME: Final = re.compile(r"[\w][\w .+()·-]{0,63}")  # also of folders of results
MAX_FILE_SECONDS: Final = 60.0  # that a file may take to register its systems
MAX_DOWNLOAD_SECONDS: Final = 3600.0
F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


@dataclass(frozen=True)
class System:
    """A system that a file registered.

    name: by which programs ask for it; label: what a menu calls it; factory: makes it, given those
    of ``checkpoints``, a folder of them, and ``device`` that it has parameters for; needs: names of
    checkpoints without which it is not offered; file: that registered it; card: what a card says of
    it, such as paper, licence and what it was trained on; is_plug_in: whether it is no system of
    this library; isolated: whether it runs in a process of its own; hub: whether it is downloaded
    from the Hugging Face hub when it is first asked for.
    """

    task: str
    name: str
    label: str
    factory: Callable[..., Any]
    needs: tuple[str, ...] = ()
    file: Path = PIPELINES
    card: Mapping[str, str] = field(default_factory=dict)
    is_plug_in: bool = False
    isolated: bool = False
    hub: bool = False

    def installed(self, checkpoints: Path) -> bool:
        """Whether the folder has all checkpoints that the system needs."""
        return all((checkpoints / name / "config.json").exists() for name in self.needs)

    @property
    def streams(self) -> bool:
        """Whether it is a plug-in that speaks live: a class that has ``stream``, which is known
        before it is loaded."""
        return self.is_plug_in and callable(getattr(self.factory, "stream", None))

    def load(self, checkpoints: Path, device: str, plug_in: PlugIn | None = None) -> Any:
        """Load the system from a folder of checkpoints, for a device: auto, cpu or cuda. A plug-in
        comes behind its guard, one of its own or what was made before, as earshot.systems.plugged
        has it.

        Raises PlugInError for a fault of a plug-in, and what ours raise for theirs.
        """
        if not self.is_plug_in:
            return _call(self.factory, checkpoints, device)
        from earshot.systems.plugged import ADAPTERS  # late, for it loads SciPy

        return ADAPTERS[self.task](self.name, plug_in or self.plug_in(checkpoints, device))

    def plug_in(self, checkpoints: Path, device: str) -> PlugIn:
        """Put a plug-in behind its guard, where it is loaded when it is first used."""
        make = partial(_call, self.factory, checkpoints, device)
        if self.isolated:
            make = partial(_registered_again, self.file, self.task, self.name, checkpoints, device)
        seconds = MAX_DOWNLOAD_SECONDS if self.hub else MAX_LOAD_SECONDS
        return PlugIn(self.label, make, self.file, self.isolated, max_load_seconds=seconds)


def _call(factory: Callable[..., Any], checkpoints: Path, device: str) -> Any:
    values = {"checkpoints": checkpoints, "device": device}
    parameters = inspect.signature(factory).parameters.values()
    other = [p.name for p in parameters if _is_required(p) and p.name not in values]
    if other:
        raise InputError(f"It is made of device and checkpoints only, and needs {other[0]}.")
    return factory(**{p.name: values[p.name] for p in parameters if p.name in values})


def _is_required(parameter: inspect.Parameter) -> bool:
    is_variable = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    return parameter.default is parameter.empty and not is_variable


def _registered_again(file: Path, task: str, name: str, checkpoints: Path, device: str) -> Any:
    """Make a system in a process of its own, in which its file is run again."""
    systems = [s for s in _systems_of(file) if (s.task, s.name) == (task, name)]
    return _call(systems[-1].factory, checkpoints, device)


_registered: ContextVar[list[System] | None] = ContextVar("registered", default=None)
_file: ContextVar[Path] = ContextVar("file", default=PIPELINES)


def system(
    task: str,
    name: str,
    label: str = "",
    needs: Sequence[str] = (),
    plug_in: bool | None = None,
    isolated: bool = False,
    hub: bool = False,
    **card: str,
) -> Callable[[F], F]:
    """Register what is decorated as a system of a task, one of TASKS: a class, or a function that
    loads one. It stays as it is, and is registered only while the app loads its file.

    needs, isolated, hub: as in System; plug_in: whether it is no system of this library, without
    it what needs no checkpoints; card: what its card says, such as ``paper="…"``,
    ``licence="…"``, ``trained_on="…"``. Raises ValueError for a task that does not exist, and for a
    name that cannot be that of a folder, too.
    """
    if task not in TASKS:
        raise ValueError(f"There is no task {task!r}: choose one of {', '.join(TASKS)}.")
    if not NAME.fullmatch(name):
        raise ValueError(f"A system cannot be called {name!r}: use letters, digits and hyphens.")

    def register(factory: F) -> F:
        systems = _registered.get()
        if systems is not None:
            labelled = task, name, label or name, factory, tuple(needs), _file.get(), card
            is_plug_in = not needs if plug_in is None else plug_in
            systems.append(System(*labelled, is_plug_in, isolated, hub))
        return factory

    return register


@dataclass(frozen=True)
class Board:
    """The systems that files registered, in the order of the files, and a sentence for each file
    that could not be run."""

    systems: Sequence[System]
    faults: Sequence[str] = ()

    def offer(
        self, task: str, checkpoints: Path = CHECKPOINTS, device: str = "auto", hub: bool = True
    ) -> "Offer[Any]":
        """Offer those of the systems that are of a task and have their checkpoints in the folder.

        A name that is registered twice is the later one's. hub: whether those that are downloaded
        are among them.
        """
        named = {
            system.name: system
            for system in self.systems
            if system.task == task and system.installed(checkpoints) and (hub or not system.hub)
        }
        labels = {name: each.label for name, each in named.items() if not each.is_plug_in}
        plugged = {name: each.label for name, each in named.items() if each.is_plug_in}
        downloads = {name for name, each in named.items() if each.hub}
        # One guard for all attempts to load a system, for what did not end may still be busy.
        guards = {name: named[name].plug_in(checkpoints, device) for name in plugged}

        def load(name: str) -> Any:
            return named[name].load(checkpoints, device, guards.get(name))

        cards = {name: named[name].card for name in plugged}
        streams = {name for name, each in named.items() if each.streams}
        return Offer(load, labels, plugged, downloads, cards, streams)


def load_board(*places: Path) -> Board:
    """Run files, or all of folders in the order of their names, without any those of
    ``pipelines/``, and list what they register. What is wrong with one leaves the others as they
    are.
    """
    systems: list[System] = []
    faults = [f"There is no {place}." for place in places if not place.exists()]
    files = [
        sorted(p.glob("*.py")) if p.is_dir() else [p]
        for p in (place.resolve() for place in places or [PIPELINES])
    ]
    for path in [path for group in files for path in group if path.exists()]:
        guard = PlugIn(
            path.name, partial(_systems_of, path), path, max_load_seconds=MAX_FILE_SECONDS
        )
        try:
            systems += guard.loaded()
        except PlugInError as error:
            faults.append(str(error))
    ours = {(system.task, system.name) for system in systems if not system.is_plug_in}
    for system in [s for s in systems if s.is_plug_in and (s.task, s.name) in ours]:
        systems.remove(system)
        faults.append(f"{system.file.name} calls its system {system.name}, as one of ours is.")
    return Board(systems, faults)


def _systems_of(path: Path) -> list[System]:
    """Run a file, and list what it registers. It finds the modules beside it, then and later."""
    # A module of a name that no other has, where pickle finds its classes.
    spec = spec_from_file_location(f"pipelines {path}", path)
    if not spec or not spec.loader:
        raise InputError("It is no Python file: the name of one ends in .py.")
    module = sys.modules[spec.name] = module_from_spec(spec)
    systems: list[System] = []
    tokens = _registered.set(systems), _file.set(path)
    folder = os.getcwd()
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))  # last, so that they hide nothing
    try:
        spec.loader.exec_module(module)
    finally:
        os.chdir(folder)  # for it is that of the app
        _registered.reset(tokens[0])
        _file.reset(tokens[1])
    return systems


class Offer(Generic[T]):
    """The systems of a task that are installed, the default first; each is loaded once, when it is
    first asked for, and shared by all visitors.

    labels: what a menu calls each of ours, by its name; plugged: the same of plug-ins; downloads:
    the names of those that are downloaded when they are asked for; cards: what cards say of
    plug-ins, by their names; streams: the names of those that speak live. An offer without any of
    ours is false.
    """

    def __init__(
        self,
        load: Callable[[str], Any],
        labels: Mapping[str, str],
        plugged: Mapping[str, str] | None = None,
        downloads: Collection[str] = (),
        cards: Mapping[str, Mapping[str, str]] | None = None,
        streams: Collection[str] = (),
    ) -> None:
        """Offer the systems of these labels. load: loads one by its name."""
        self.labels, self.plugged, self.downloads = labels, plugged or {}, downloads
        self.cards, self.streams = cards or {}, streams
        self._load = once(load)

    def __call__(self, name: str | None = None) -> T:
        """Load one of our systems by its name, without one the default. Raises InputError where it
        is not offered."""
        name = name or next(iter(self.labels), "")
        if name not in self.labels:
            raise InputError(f"There is no model {name!r} here, only {', '.join(self.labels)}.")
        return self._load(name)

    def any(self, name: str) -> Any:
        """Load a system by its name, one of ours or a plug-in, as earshot.systems.plugged has it.
        Raises InputError where it is not offered, PlugInError for a fault of a plug-in."""
        if name not in self.plugged:
            return self(name)
        return self._load(name)

    def stream(self, name: str) -> Any:
        """Begin a live conversion by a plug-in, a PluggedStream. Raises PlugInError for a fault of
        it."""
        from earshot.systems.plugged import PluggedStream  # late, for it loads SciPy

        return PluggedStream(self.any(name))

    @property
    def choices(self) -> list[tuple[str, str]]:
        """List label and name of each plug-in for a menu, those last that are downloaded."""
        names = sorted(self.plugged, key=lambda name: name in self.downloads)
        return [(self.plugged[name], name) for name in names]

    def __bool__(self) -> bool:
        return bool(self.labels)
