"""The app: options, health, the models that are loaded, the page, and how it is served."""

import ctypes
import inspect
import os
from contextlib import suppress
from typing import Any, Final

from earshot.core.console import open_streams

MAX_HEAPS: Final = 2
M_ARENA_MAX: Final = -8  # of glibc's mallopt


def main() -> None:
    """Serve the page with the options of the command line and the environment."""
    open_streams()
    share_heaps()
    # Bars of transformers and of the hub go to the log. On a full disk that fails in tqdm, which
    # keeps its lock then, and SIGTERM would wait for it.
    os.environ |= {"TQDM_DISABLE": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
    # torch's threads would wait for each other by spinning, also for one that has no core just now.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    # Half of the cores for each of the jobs that run at a time: more threads take more memory, and
    # on two cores they make nothing quicker.
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, cores() // 2)))
    import_gradio()
    from earshot.app import launch

    launch.main()


def cores() -> int:
    """Count the cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def share_heaps() -> None:
    """Let the threads of this process, and of those that it starts, share a few heaps: glibc gives
    each of forty threads one of its own, of which each holds what was once freed in it."""
    if os.environ.setdefault("MALLOC_ARENA_MAX", str(MAX_HEAPS)) == str(MAX_HEAPS):
        with suppress(AttributeError, OSError):  # another C library
            ctypes.CDLL(None).mallopt(M_ARENA_MAX, MAX_HEAPS)


def import_gradio() -> None:
    """Import Gradio without the stubs for editors, for which each class of components, ours as
    well, parses the file that it is in at every import: a third of the time, for nothing."""
    getfile = inspect.getfile

    def file_of(object: Any) -> str:
        if str(getattr(object, "__module__", "")).startswith("gradio."):
            raise OSError("A component that is in no file gets no stub.")
        return getfile(object)

    inspect.getfile = file_of
    try:
        from gradio import blocks_events, component_meta
    finally:
        inspect.getfile = getfile
    for module in (component_meta, blocks_events):
        vars(module)["create_or_modify_pyi"] = lambda *_: None
