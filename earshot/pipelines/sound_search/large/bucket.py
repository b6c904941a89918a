"""Sounds in a bucket of S3, or of a store that speaks its protocol, listed and fetched by pyarrow.

A bucket has a path here as a folder has one: s3://BUCKET/KEY?OPTIONS is /s3:/BUCKET?OPTIONS/KEY. So
an index names, sorts and compares its sounds as it does any others, and only who opens one asks for
it here. Only the command line makes such paths. pyarrow looks for keys in the environment and in
~/.aws, and asks the machine for its role.
"""

import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

from earshot.core.errors import InputError

ROOT: Final = Path("/s3:")
SCHEME: Final = "s3://"
OPTIONS: Final = ("endpoint_override", "region", "scheme")
FORM: Final = f"s3://BUCKET/PREFIX, and behind a “?” perhaps {', '.join(OPTIONS)}"
MISSING: Final = "Buckets need pyarrow. Install it with: pip install -r requirements-scale.txt"
KEYS: Final = (
    "Keys do not belong into an address, which is stored and shown. Give them as "
    "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment, or in ~/.aws/credentials."
)
LOST: Final = (
    "{name} cannot be read: {reason}. Check the name, and the keys in AWS_ACCESS_KEY_ID and "
    "AWS_SECRET_ACCESS_KEY or ~/.aws. Another store than Amazon's needs its address: "
    "?endpoint_override=HOST:PORT. What was done is kept: run the command again."
)
MAX_BYTES: Final = 4 * 2**30  # of one file
BLOCK: Final = 8 * 2**20  # bytes fetched at once


class UnreachableError(InputError):
    """The bucket, and not one of its files, cannot be read."""


def folder_of(name: str) -> Path:
    """The path of a folder, or of a part of a bucket.

    Raises InputError for an address of a bucket that cannot be used, and where pyarrow is missing.
    """
    if not name.startswith(SCHEME) and not holds(Path(name)):
        return Path(name)
    place, _, query = name.removeprefix(SCHEME).partition("?")
    bucket, _, prefix = place.rstrip("/").partition("/")
    options = sorted(parse_qsl(query, keep_blank_values=True))
    if "@" in bucket or {"access_key", "secret_key"} & dict(options).keys():
        raise InputError(KEYS)
    named = all(part.strip(".") for part in prefix.split("/")) or not prefix
    if not re.fullmatch(r"[\w.-]+", bucket) or not named or not dict(options).keys() <= {*OPTIONS}:
        raise InputError(f"This is not the address of a bucket. It is {FORM}.")
    _pyarrow()
    return ROOT / (f"{bucket}?{urlencode(options)}" if options else bucket) / prefix


def holds(path: Path) -> bool:
    """Whether it lies in a bucket."""
    return path.parts[:2] == ROOT.parts


def name_of(path: Path) -> str:
    """As whoever typed a command knows it."""
    return SCHEME + _key(path) if holds(path) else str(path)


def is_below(path: Path, folder: Path) -> bool:
    """Whether the folder holds the file. A bucket may have been given with other options."""
    if holds(path) and holds(folder):
        path, folder = Path(_key(path)), Path(_key(folder))
    return path.is_relative_to(folder)


def listed(folder: Path) -> dict[Path, str]:
    """The files in a part of a bucket → their versions: size and time of change.

    What is hidden is left out, as are keys with empty parts, which no folder could hold. Raises
    UnreachableError.
    """
    filesystem = _filesystem(folder.parts[2])
    selector = _pyarrow().FileSelector(_key(folder), recursive=True)
    try:
        found = filesystem.get_file_info(selector)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise UnreachableError(LOST.format(name=name_of(folder), reason=error)) from error
    bucket, versions = Path(*folder.parts[:3]), {}
    for file in found:
        path = Path(f"{bucket}/{file.path.partition('/')[2]}")
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if file.is_file and not hidden and _key(path) == file.path:
            versions[path] = f"{file.size} {file.mtime_ns}"
    return versions


@contextmanager
def fetched(path: Path, most: int = MAX_BYTES) -> Iterator[Path]:
    """The file on this machine: a copy of one in a bucket, which is deleted at the end.

    Raises UnreachableError where the bucket cannot be read, InputError where the file cannot, or
    has more than ``most`` bytes, and FileNotFoundError.
    """
    if not holds(path):
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "sound" + suffix_of(path))
        try:
            with _filesystem(path.parts[2]).open_input_file(_key(path)) as source:
                if source.size() > most:
                    raise InputError(f"It is larger than {most / 2**20:,.0f} MB.")
                with copy.open("wb") as file:
                    shutil.copyfileobj(source, file, BLOCK)
        except FileNotFoundError:
            raise
        except OSError as error:
            _check(path)
            raise InputError(f"It cannot be fetched: {error}") from error
        yield copy


@cache
def _filesystem(bucket: str) -> Any:
    """bucket: its name and options. Raises UnreachableError."""
    try:
        return _pyarrow().FileSystem.from_uri(SCHEME + bucket)[0]
    except (OSError, ValueError) as error:
        raise UnreachableError(LOST.format(name=SCHEME + bucket, reason=error)) from error


def _check(path: Path) -> None:
    """Raises UnreachableError unless the bucket can be read."""
    bucket = Path(*path.parts[:3])
    try:
        _filesystem(path.parts[2]).get_file_info(_key(bucket))
    except OSError as error:
        raise UnreachableError(LOST.format(name=name_of(bucket), reason=error)) from error


def _key(path: Path) -> str:
    """BUCKET/KEY, as pyarrow names it."""
    return "/".join((path.parts[2].partition("?")[0], *path.parts[3:]))


def suffix_of(path: Path) -> str:
    """The ending of the name, where it is one."""
    return path.suffix if re.fullmatch(r"\.\w{1,8}", path.suffix, re.ASCII) else ""


def _pyarrow() -> Any:
    """Its file systems. Raises InputError where it is not installed."""
    try:
        return import_module("pyarrow.fs")
    except ModuleNotFoundError as error:
        raise InputError(MISSING) from error
