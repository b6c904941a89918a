"""Signed metadata (C2PA): written into every file of synthetic speech, and read from any file.

It says what made the speech and when, and names neither people nor files. Where c2pa-python is not
installed (``pip install earshot[provenance]``), in Ogg and Opus, which C2PA does not know, and
without a usable key, files hold the comment MADE_BY alone.
"""

import io
import logging
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from earshot.core.errors import InputError
from earshot.core.files import write
from earshot.core.paths import release
from earshot.media.audio.speech import MADE_BY, NOBODY, Origin, Speech
from earshot.media.workers import stream
from earshot.provenance.keys import Installation, installation

if TYPE_CHECKING:
    import c2pa

TYPES: Final = {  # what can be signed, by the ending of its name
    ".wav": "audio/wav",
    ".mp3": "audio/mpeg",
    ".flac": "audio/flac",
    ".m4a": "audio/mp4",
    ".mp4": "video/mp4",
}
GENERATOR: Final = "Earshot"
CONVERTED: Final = (
    "http://cv.iptc.org/newscodes/digitalsourcetype/compositeWithTrainedAlgorithmicMedia"
)
OURS: Final = "earshot."  # how our parameters of an action begin
# Installed and importable, without importing it: an app start has no time for that.
INSTALLED: Final = find_spec("c2pa") is not None
NOTICES: Final = {
    "own": "This recording is itself a conversion that was made here. Its signed metadata goes on "
    "into the result's.",
    "other": "This recording is itself a conversion, signed by another installation of Earshot. "
    "That goes on into the result's metadata.",
    "stranger": "This recording has metadata signed by {}, which goes on into the result's.",
    "invalid": "The signed metadata of this recording does not fit it: it was changed after it was "
    "signed. The result does not repeat it.",
    "unreadable": "The signed metadata of this recording is damaged. The result does not repeat "
    "it.",
}
TAGGED: Final = "This recording says that Earshot converted it."
logger = logging.getLogger("earshot")

NONE, UNREADABLE, UNKNOWN, INVALID, STRANGER, OTHER, OWN = (
    *("none", "unreadable", "unknown", "invalid", "stranger", "other", "own"),
)


@dataclass(frozen=True)
class ManifestReport:
    """A reading of a file's signed metadata.

    state: OWN, signed by this installation; OTHER, by a key that calls itself Earshot's, which
    anybody's can; STRANGER, by another program; INVALID, changed after it was signed, or forged;
    UNREADABLE; NONE; UNKNOWN, where c2pa is not installed and the file may have some. generator,
    signer: as they call themselves; when: as it is stated; facts: of the conversion, by our own
    names; comment: of the file, which is not signed; archive: the ingredient of the next file.
    """

    state: str
    generator: str = ""
    signer: str = ""
    when: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    comment: str = ""
    archive: bytes = b""


def read(source: str | Path | bytes, ingredient: bool = False) -> ManifestReport:
    """Read and verify the signed metadata of a file, in a worker process.

    ingredient: whether its archive is needed. Never raises for what is in a file: a hostile one is
    UNREADABLE.
    """
    own = _usable()
    anchors = own.chain.decode() if own else ""
    try:
        ((header, archive),) = stream("manifest", source, anchors=anchors, ingredient=ingredient)
        actions = [dict(action) for action in header.get("actions", [])]
        state, generator = str(header["state"]), str(header.get("generator", ""))
        serial, comment = str(header.get("serial", "")), str(header["comment"])
    except (InputError, ValueError, TypeError, KeyError):  # the worker may have been taken over
        return ManifestReport(UNREADABLE)
    last = actions[-1] if actions else {}
    facts = {k.removeprefix(OURS): str(v) for k, v in last.items() if k.startswith(OURS)}
    return ManifestReport(
        _state(state, generator, bool(own) and serial == own.serial),
        generator,
        str(header.get("signer", "")),
        str(header.get("signed") or last.get("when", "")),
        tuple(facts.items()),
        comment,
        archive.tobytes() if archive is not None else b"",
    )


def of_input(audio: Any) -> tuple[bytes, tuple[str, ...]]:
    """Read the signed metadata of what is to be converted: the ingredient of the result, and what
    its visitor is told. Samples have none."""
    if not isinstance(audio, str | Path | bytes):
        return b"", ()
    report = read(audio, ingredient=True)
    notice = NOTICES.get(report.state, "")
    if not notice and report.comment == MADE_BY:
        notice = TAGGED
    return report.archive, (notice.format(report.generator or "another program"),) * bool(notice)


def _state(state: str, generator: str, own: bool) -> str:
    match state:
        case "Trusted" if own:
            return OWN
        case "Trusted" | "Valid":
            return OTHER if generator == GENERATOR else STRANGER
        case "none":
            return NONE
        case "unknown":
            return UNKNOWN
        case "unreadable":
            return UNREADABLE
    return INVALID


def encode_speech(speech: Speech, ending: str) -> bytes:
    """Encode speech as the audio file that its name says, signed where it is synthetic; a recording
    without a comment."""
    from earshot.media.encode import encode_audio  # late, for it loads SciPy and FFmpeg

    comment = MADE_BY if speech.origin else ""
    content = encode_audio(speech.waveform, speech.sample_rate, ending, comment)
    return sign(content, ending, speech.origin) if speech.origin else content


def encode_video(silent: bytes, speech: Speech) -> bytes:
    """Add speech to a silent MP4, signed where it is synthetic."""
    from earshot.media.encode import add_audio  # late, as above

    comment = MADE_BY if speech.origin else ""
    content = add_audio(silent, speech.waveform, speech.sample_rate, comment)
    return sign(content, ".mp4", speech.origin) if speech.origin else content


def write_speech(path: Path, speech: Speech) -> None:
    """Write speech as the file that its name says, as encode_speech does."""
    write(path, encode_speech(speech, path.suffix))


def sign(content: bytes, ending: str, origin: Origin) -> bytes:
    """Sign a file of synthetic speech; what cannot be signed stays as it is.

    ending: of its name, which says what it is.
    """
    kind, own = TYPES.get(ending.lower()), _usable()
    if not kind or not own or not INSTALLED:
        return content
    import c2pa  # late, for it is 50 MB

    source = b"" if origin.voice == NOBODY else origin.ingredient  # it would say who spoke
    for ingredient in dict.fromkeys([source, b""]):
        file = io.BytesIO()
        try:
            with c2pa.Builder(_manifest(origin, bool(ingredient)), _context()) as builder:
                if ingredient:
                    builder.add_ingredient_from_archive(io.BytesIO(ingredient))
                builder.sign(_signer(own), kind, io.BytesIO(content), file)
            return file.getvalue()
        except c2pa.C2paError as error:  # without an ingredient that was meant to do harm
            logger.warning("a file could not be signed: %s", error)
    return content


def _usable() -> Installation | None:
    """Return the identity of this installation; None, with a word in the log, where it has none."""
    try:
        return installation()
    except (InputError, OSError) as error:
        _warn(f"Files are not signed. {error}")
        return None


@lru_cache(maxsize=16)
def _warn(message: str) -> None:
    """Log a warning, once."""
    logger.warning(message)


@lru_cache(maxsize=4)
def _signer(own: Installation) -> "c2pa.Signer":
    import c2pa  # late, as above

    return c2pa.Signer.from_info(c2pa.C2paSignerInfo(b"es256", own.chain, own.key, None))


@lru_cache(maxsize=1)
def _context() -> "c2pa.Context":
    """Make settings by which signing asks nobody for anything."""
    import c2pa  # late, as above

    offline = {"remote_manifest_fetch": False, "ocsp_fetch": False, "verify_after_sign": False}
    return c2pa.Context.from_dict({"verify": offline})


def _manifest(origin: Origin, has_ingredient: bool) -> dict[str, Any]:
    """Write what is signed. The time is that of this machine's clock."""
    facts = {
        "model": origin.model,
        "weights_sha256": origin.weights,
        "voice": origin.voice,
        "preserved": ", ".join(origin.preserved),
    }
    converted = {
        "action": "c2pa.edited" if has_ingredient else "c2pa.created",
        "when": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "softwareAgent": {"name": GENERATOR, "version": release()},
        "digitalSourceType": CONVERTED,
        "description": "converted",
        "parameters": {f"{OURS}{name}": value for name, value in facts.items() if value},
    }
    opened = {"action": "c2pa.opened", "parameters": {"ingredientIds": ["source"]}}
    actions = [*([opened] if has_ingredient else []), converted]
    return {
        "claim_generator_info": [{"name": GENERATOR, "version": release()}],
        "title": "AI-modified voice",
        "assertions": [{"label": "c2pa.actions", "data": {"actions": actions}}],
    }
