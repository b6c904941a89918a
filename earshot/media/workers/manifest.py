"""The signed metadata of a file (C2PA), read and verified. Runs in a worker, for files may be
hostile; nothing is fetched for them."""

import io
import json
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, Final

import numpy as np

from earshot.core.errors import InputError
from earshot.media.workers.audio import FORMATS
from earshot.media.workers.container import DAMAGES, open_container

MAX_TEXT: Final = 200  # characters of a value
MAX_VALUES: Final = 20  # of a list, or of an action's parameters
MAX_ARCHIVE: Final = 2 * 2**20  # bytes of a manifest that goes on into the next file
BLOCK: Final = 2**20  # bytes
LABEL: Final = b"c2pa"  # in every manifest, whatever holds it
COMMENTS: Final = ("comment", "COMMENT", "©cmt")
# How a file begins → its type; the tables of MP4 begin after four bytes.
TYPES: Final = {
    b"RIFF": "audio/wav",
    b"fLaC": "audio/flac",
    b"ID3": "audio/mpeg",
    b"\xff\xfb": "audio/mpeg",
    b"\xff\xf3": "audio/mpeg",
    b"\xff\xf2": "audio/mpeg",
}
SETTINGS: Final[dict[str, Any]] = {
    "verify": {"remote_manifest_fetch": False, "ocsp_fetch": False, "verify_trust": True},
}
NONE, UNREADABLE, UNKNOWN, VALID, TRUSTED, INVALID = (
    *("none", "unreadable", "unknown", "Valid", "Trusted", "Invalid"),
)
Message = tuple[dict[str, Any], np.ndarray]


def read_manifest(file: BinaryIO, anchors: str, ingredient: bool) -> Iterator[Message]:
    """Read what a file says of where it comes from.

    The header has the state: NONE, UNREADABLE, UNKNOWN where c2pa is not installed, or what C2PA
    says, TRUSTED for signatures by the certificates of ``anchors`` (PEM); the comment of its
    container; and of what is signed the generator, signer, serial, time, and actions. The array
    is the manifest as an ingredient of the next file, uint8, empty unless ``ingredient``.
    """
    header: dict[str, Any] = {"state": NONE, "comment": _comment(file)}
    archive = b""
    kind = _type(file)
    if kind and _mentions(file, LABEL):
        try:
            summary, archive = _verified(file, kind, anchors, ingredient)
            header |= summary
        except ImportError:
            header["state"] = UNKNOWN
    yield header, np.frombuffer(archive, np.uint8)


def _verified(
    file: BinaryIO, kind: str, anchors: str, ingredient: bool
) -> tuple[dict[str, Any], bytes]:
    """Verify the manifest of a file of a type: a summary of it, and its archive."""
    import c2pa  # late, for few files have one

    trust = {"trust": {"trust_anchors": anchors}} if anchors else {}
    context = c2pa.Context.from_dict(SETTINGS | trust)
    file.seek(0)
    try:
        with c2pa.Reader(kind, file, None, context) as reader:
            summary = _summary(json.loads(reader.json()))
    except c2pa.C2paError as error:
        missing = "ManifestNotFound" in type(error).__name__
        return {"state": NONE if missing else UNREADABLE}, b""
    except (ValueError, KeyError, TypeError, AttributeError):
        return {"state": UNREADABLE}, b""
    archive = b""
    if ingredient and summary["state"] != INVALID:
        archive = _archive(file, kind, context)
    return summary, archive


def _archive(file: BinaryIO, kind: str, context: Any) -> bytes:
    """Write the manifest of a file as an ingredient; nothing where it is too large."""
    import c2pa  # late, as above

    out = io.BytesIO()
    file.seek(0)
    try:
        with c2pa.Builder("{}", context) as builder:
            builder.add_ingredient({"relationship": "parentOf", "label": "source"}, kind, file)
            builder.write_ingredient_archive("source", out)
    except c2pa.C2paError:
        return b""
    return out.getvalue() if out.tell() <= MAX_ARCHIVE else b""


def _summary(document: dict[str, Any]) -> dict[str, Any]:
    """Write the active manifest in short; whatever stands in it is cut to a size."""
    active = document["manifests"][document["active_manifest"]]
    signature = active.get("signature_info") or {}
    generators = active.get("claim_generator_info") or [{}]
    actions = [
        action
        for assertion in active.get("assertions", [])[:MAX_VALUES]
        if str(assertion.get("label")).startswith("c2pa.actions")
        for action in assertion["data"]["actions"][:MAX_VALUES]
    ]
    return {
        "state": str(document.get("validation_state"))[:MAX_TEXT],
        "generator": _text(generators[0].get("name")),
        "signer": _text(signature.get("common_name") or signature.get("issuer")),
        "serial": _text(signature.get("cert_serial_number")),
        "signed": _text(signature.get("time")),
        "actions": [_short(action) for action in actions[:MAX_VALUES]],
    }


def _short(action: Mapping[str, Any]) -> dict[str, str]:
    """Write an action as texts: its name, when it was done, its source type and parameters."""
    values = {key: action.get(key) for key in ("action", "when", "digitalSourceType")}
    parameters = action.get("parameters")
    rest = parameters if isinstance(parameters, Mapping) else {}
    values |= dict(list(rest.items())[:MAX_VALUES])
    return {key[:MAX_TEXT]: _text(value) for key, value in values.items() if value is not None}


def _text(value: object) -> str:
    return str(value or "")[:MAX_TEXT]


def _type(file: BinaryIO) -> str:
    """Return the type of a file, of those that C2PA knows and that hold sound, or ""."""
    file.seek(0)
    head = file.read(12)
    if head[4:8] == b"ftyp":
        return "audio/mp4" if head[8:11] in (b"M4A", b"M4B") else "video/mp4"
    return next((kind for start, kind in TYPES.items() if head.startswith(start)), "")


def _mentions(file: BinaryIO, label: bytes) -> bool:
    """Whether a label stands anywhere in a file."""
    file.seek(0)
    end = b""
    while block := file.read(BLOCK):
        if label in end + block:
            return True
        end = block[-len(label) :]
    return False


def _comment(file: BinaryIO) -> str:
    """Return the comment of a file's container, or of its sound's stream, or ""."""
    file.seek(0)
    try:
        with open_container(file, FORMATS, "") as container:
            tags = dict(container.metadata)
            for stream in container.streams.audio[:1]:
                tags |= stream.metadata
    except (InputError, *DAMAGES):
        return ""
    return next((_text(tags[key]) for key in COMMENTS if key in tags), "")
