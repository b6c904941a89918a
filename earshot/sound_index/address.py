"""The addresses of sounds: paths of this machine, and of buckets.

A bucket has a path here as a folder has one: s3://BUCKET/KEY?OPTIONS is /s3:/BUCKET?OPTIONS/KEY. So
an index names, sorts and compares its sounds as it does any others, and they are fetched only when
files.py opens them. Only the command line makes such paths.
"""

import re
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, urlencode

from earshot.core.errors import InputError

ROOT: Final = Path("/s3:")
SCHEME: Final = "s3://"
OPTIONS: Final = ("endpoint_override", "region", "scheme")
FORM: Final = f"s3://BUCKET/PREFIX, and behind a “?” perhaps {', '.join(OPTIONS)}"
KEYS_IN_ADDRESS: Final = (
    "Keys do not belong into an address, which is stored and shown. Give them as "
    "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment, or in ~/.aws/credentials."
)


class UnreachableError(InputError):
    """An error that the bucket, and not one of its files, cannot be read."""


def parse_address(name: str) -> Path:
    """Read the path of a folder, or of a part of a bucket.

    Raises InputError for an address of a bucket that cannot be used.
    """
    if not name.startswith(SCHEME) and not in_bucket(Path(name)):
        return Path(name)
    place, _, query = name.removeprefix(SCHEME).partition("?")
    bucket, _, prefix = place.rstrip("/").partition("/")
    options = dict(sorted(parse_qsl(query, keep_blank_values=True)))
    if "@" in bucket or {"access_key", "secret_key"} & options.keys():
        raise InputError(KEYS_IN_ADDRESS)
    named = all(part.strip(".") for part in prefix.split("/")) or not prefix
    if not re.fullmatch(r"[\w.-]+", bucket) or not named or not options.keys() <= {*OPTIONS}:
        raise InputError(f"This is not the address of a bucket. It is {FORM}.")
    return ROOT / (f"{bucket}?{urlencode(options)}" if options else bucket) / prefix


def index_of(folder: Path) -> Path:
    """Name the index of a folder of sounds, by default: FOLDER.index next to it;
    that of a bucket, s3://BUCKET/PREFIX, is s3-BUCKET-PREFIX.index in the current folder."""
    if in_bucket(folder):
        name = name_of(folder).removeprefix(SCHEME).replace("/", "-")
        folder = Path(f"s3-{name}")
    folder = folder.absolute()
    return folder.with_name(f"{folder.name}.index")


def in_bucket(path: Path) -> bool:
    """Whether the path lies in a bucket."""
    return path.parts[:2] == ROOT.parts


def name_of(path: Path) -> str:
    """Name the path as it was typed in a command."""
    return SCHEME + key_of(path) if in_bucket(path) else str(path)


def is_below(path: Path, folder: Path) -> bool:
    """Whether the folder holds the file. Options of a bucket make no difference."""
    if in_bucket(path) and in_bucket(folder):
        path, folder = Path(key_of(path)), Path(key_of(folder))
    return path.is_relative_to(folder)


def key_of(path: Path) -> str:
    """Name a path of a bucket as pyarrow does: BUCKET/KEY."""
    return "/".join((path.parts[2].partition("?")[0], *path.parts[3:]))


def suffix_of(path: Path) -> str:
    """Take the ending of the name, where it is one."""
    return path.suffix if re.fullmatch(r"\.\w{1,8}", path.suffix, re.ASCII) else ""
