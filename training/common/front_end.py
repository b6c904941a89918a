"""The front end that the arrays of a run were prepared with: later stages need its name."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from earshot.pretrained.speech_encoder import SpeechEncoder

FILE: Final = "front-end.txt"


def prepared_with(name: str, run: Path) -> "SpeechEncoder":
    """Load the front end "ID:LAYER", and note it in the run, whose arrays it is to make.

    Raises SystemExit where it cannot be loaded, or where the run has arrays of another.
    """
    from earshot.core.errors import InputError
    from earshot.pretrained.speech_encoder import (
        SpeechEncoder,  # late: not where only torch and numpy are installed
    )

    try:
        front_end = SpeechEncoder.from_pretrained(name)
    except (InputError, FileNotFoundError) as error:
        raise SystemExit(str(error)) from error
    if front_end_of(run) not in (None, front_end.name) or (
        front_end_of(run) is None and any(run.glob("*.npz"))
    ):
        raise SystemExit(f"{run} has arrays of another front end: name another --out.")
    run.mkdir(parents=True, exist_ok=True)
    (run / FILE).write_text(f"{front_end.name}\n", encoding="utf-8")
    return front_end


def front_end_of(run: Path) -> str | None:
    """Read "ID:LAYER" of a run; None where the arrays are of MFCC or log-mel bands, as the app's
    are.
    """
    path = run / FILE
    return path.read_text(encoding="utf-8").strip() if path.exists() else None
