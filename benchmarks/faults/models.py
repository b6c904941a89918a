"""Weights that are damaged or gone, and an index that is replaced during searches: the tab says so,
and the others work.
"""

import itertools
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

from benchmarks.faults.outcome import Outcome
from benchmarks.load.visitor import Visitor
from benchmarks.support.served import Served
from earshot.core.paths import ASSETS, CHECKPOINTS
from earshot.systems.voice_conversion.settings import ANY_VOICE
from earshot.tabs import lip_to_speech, sound_search, words

PROGRAM: Final = Path(__file__).with_name("other_files.py")
SEARCHES: Final = 40
# Task → the checkpoint that it needs.
NEEDED: Final = {
    "convert": ANY_VOICE,
    "embed_text": words.MODEL,
    "search_sounds": sound_search.MODELS[0],
    "lip_to_speech": lip_to_speech.MODEL,
}


def truncated(weights: Path) -> None:
    weights.write_bytes(weights.read_bytes()[:-1000])


def missing(weights: Path) -> None:
    weights.unlink()


def of_another_hash(weights: Path) -> None:
    data = bytearray(weights.read_bytes())
    data[-1000] ^= 1
    weights.write_bytes(data)


def without_config(weights: Path) -> None:
    weights.with_name("config.json").write_text("{")


DAMAGE: Final[dict[str, Callable[[Path], None]]] = {
    "convert": truncated,
    "embed_text": missing,
    "search_sounds": of_another_hash,
    "lip_to_speech": without_config,
}
KINDS: Final = {
    "convert": "truncated weights",
    "embed_text": "missing weights",
    "search_sounds": "weights of another hash",
    "lip_to_speech": "an unreadable config.json",
}


def damaged(place: Path, task: str) -> Outcome:
    """Damage one model, so that it cannot be loaded."""
    folder = place / "checkpoints"
    shutil.copytree(CHECKPOINTS, folder)
    DAMAGE[task](folder / NEEDED[task] / "model.safetensors")
    served = Served(str(PROGRAM), str(folder), str(ASSETS / "sounds.index"))
    try:
        visitor = Visitor(served.address)
        errors = {each: _error_of(visitor, each) for each in NEEDED}
    finally:
        served.kill()
    working = [each for each in NEEDED if errors[each] is None]
    message = errors[task] or "nothing"
    holds = (
        len(working) == len(NEEDED) - 1 and NEEDED[task] in message and "Traceback" not in message
    )
    after = f"{', '.join(working)} work"
    after += "".join(
        f"; {each}: “{text}”" for each, text in errors.items() if text and each != task
    )
    return Outcome(f"{KINDS[task]} of {NEEDED[task]}", f"“{message}”", after, holds)


def index_swapped(place: Path) -> Outcome:
    """Exchange the folder of the index for another one, again and again."""
    folders = [place / name for name in ("sounds.index", "other.index", "old.index")]
    for folder in folders[:2]:
        shutil.copytree(ASSETS / "sounds.index", folder)
    (place / "sounds").symlink_to(ASSETS / "sounds")
    served = Served(str(PROGRAM), str(CHECKPOINTS), str(folders[0]))
    ended = threading.Event()
    swaps = itertools.count()

    def swap() -> None:
        current, other, old = folders
        while not ended.wait(0.02):
            current.rename(old)
            other.rename(current)
            old.rename(other)
            next(swaps)

    swapping = threading.Thread(target=swap, daemon=True)
    swapping.start()
    try:
        visitor = Visitor(served.address)
        errors = [_error_of(visitor, "search_sounds") for _ in range(SEARCHES)]
    finally:
        ended.set()
        swapping.join()
        served.kill()
    messages = {each for each in errors if each}
    answered = sum(each is None for each in errors)
    seen = "; ".join(f"“{each}”" for each in sorted(messages)) or "nothing"
    holds = errors[-1] is None and all("no index" in each for each in messages)
    after = f"{answered} of {SEARCHES} searches found sounds, {next(swaps)} exchanges"
    return Outcome("the folder of the index is exchanged under searches", seen, after, holds)


def _error_of(visitor: Visitor, task: str) -> str | None:
    """Read what the visitor is told where the task fails; None where it works."""
    try:
        visitor.call(task)
    except RuntimeError as error:
        return str(error)
    return None
