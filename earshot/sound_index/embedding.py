"""Files and waveforms → what an index holds of them, by a model that embeds sounds."""

import hashlib
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

import numpy as np

from earshot.core import cancellation
from earshot.core.errors import InputError, PlugInError, StoppedError
from earshot.core.files import file_hash
from earshot.media.audio.load import load
from earshot.media.samples import SILENT_PEAK
from earshot.sound_index.address import UnreachableError
from earshot.sound_index.files import Hashes, fetched
from earshot.sound_index.library import Library
from earshot.sound_index.sound import Description, Entry, Sound

MAX_SECONDS: Final = 3600.0  # of one file
Progress = Callable[[int, int, str], None]  # files done, files in all, name of the next one
Captions = Mapping[Path, Description]


@dataclass(frozen=True, eq=False)
class AudioEmbedding:
    """Unit vectors of N segments: ``vectors`` (N, D), and of each second of each: (N, S, D)."""

    vectors: np.ndarray
    per_second: np.ndarray


class SoundEncoder(Protocol):
    """The interface that an index and its search need of a model. Vectors have
    D = ``dimension`` numbers and unit length.

    fingerprint: a hash of everything that the vectors depend on. threshold: where the best score
    is lower, no sound matches, of a library of everyday sounds; own_threshold: of a folder of
    anything, speech, noise and tones for example.
    """

    @property
    def name(self) -> str: ...
    @property
    def sample_rate(self) -> int: ...
    @property
    def dimension(self) -> int: ...
    @property
    def fingerprint(self) -> str: ...
    @property
    def threshold(self) -> float: ...
    @property
    def own_threshold(self) -> float: ...
    def segments(self, waveform: np.ndarray) -> np.ndarray:
        """Cut equal segments of at most 10 s that cover a whole waveform: (T,) → (N, T')."""
        ...

    def embed_audio(self, segments: np.ndarray) -> AudioEmbedding:
        """Embed segments (N, T'), at sample_rate."""
        ...

    def embed_text(self, texts: Sequence[str]) -> np.ndarray:
        """Embed n texts: (n, D)."""
        ...


class Embedded(NamedTuple):
    """A file with its entry, if it has one, why it could not be used, and notices about it."""

    path: Path
    entry: Entry | None
    reason: str = ""
    notices: tuple[str, ...] = ()


def entries_of(
    library: Library,
    encoder: SoundEncoder,
    paths: Iterable[str | Path],
    captions: Captions | None = None,
    progress: Progress | None = None,
    cache: Path | None = None,
    hashes: Hashes | None = None,
) -> Iterator[Embedded]:
    """Embed files: yield the entry of each, or None and why it cannot be used. Arguments as of
    ``SoundIndex.add``.

    A file that the library holds keeps its id, and without captions its description. One that
    cannot be opened, for a while perhaps, keeps its entry, which comes with the reason.
    """
    files = list(dict.fromkeys(Path(os.path.abspath(path)) for path in paths))
    embedded: dict[str, Entry] = {}  # by the hash of the content; with a cache, that holds them
    hashes = {} if hashes is None else hashes
    taken: set[str] = set()
    for number, path in enumerate(files):
        cancellation.check()
        if progress:
            progress(number, len(files), path.name)
        notices: tuple[str, ...] = ()
        try:
            digest = hashes.get(path)
            entry = _held(library, digest, embedded, cache) if digest else None
            if not (digest and entry):
                with fetched(path) as file:
                    digest = file_hash(file)
                    entry = _held(library, digest, embedded, cache)
                    if entry is None:
                        entry, notices = _embed_and_keep(encoder, file, digest, cache)
                hashes[path] = digest
        except (UnreachableError, StoppedError, PlugInError):  # of no file alone
            raise
        except InputError as error:
            yield Embedded(path, None, error.message)
            continue
        except OSError as error:
            held = None if isinstance(error, FileNotFoundError) else library.at(path)
            entry = library.entry(held.id) if held else None
            yield Embedded(path, entry, error.strerror or str(error))
            continue
        if cache is None:
            embedded[digest] = entry
        old = library.at(path)
        if old and old.content_hash == digest:
            sound_id, description = old.id, old.description
        else:
            sound_id, description = _new_id(library, digest, path.name, taken), Description()
            taken.add(sound_id)
        if captions is not None:  # what they do not name any more, nobody describes
            description = captions.get(path, Description())
        fields: dict[str, Any] = description._asdict()
        fields |= {"seconds": entry.sound.seconds, "content_hash": digest}
        sound = Sound(sound_id, path, path.name, **fields)
        yield Embedded(path, replace(entry, sound=sound), notices=notices)
    if progress:
        progress(len(files), len(files), "")


def _held(
    library: Library, digest: str, embedded: Mapping[str, Entry], cache: Path | None
) -> Entry | None:
    """Find the entry of a file with this content, if one was embedded."""
    if entry := embedded.get(digest) or library.with_content(digest):
        return entry
    file = cache / f"{digest}.npz" if cache else None
    return Entry.read(file, digest) if file and file.exists() else None


def _embed_and_keep(
    encoder: SoundEncoder, path: Path, digest: str, cache: Path | None
) -> tuple[Entry, tuple[str, ...]]:
    """Embed a file, and keep its entry. Raises InputError for one that is not audio, or silent."""
    entry, notices = embed_file(encoder, path, digest)
    if cache:
        entry.write(cache / f"{digest}.npz")
    return entry, notices


def _new_id(library: Library, digest: str, name: str, taken: Collection[str]) -> str:
    """Make an id: the same for the same content and name, unless it is taken already."""
    number = 0
    while True:
        sound_id = hashlib.sha256(f"{digest}/{name}/{number}".encode()).hexdigest()[:16]
        if sound_id not in taken and sound_id not in library.numbers:
            return sound_id
        number += 1


def embed_file(encoder: SoundEncoder, path: Path, digest: str) -> tuple[Entry, tuple[str, ...]]:
    """Embed a file, given with the hash of its content: its entry, and notices about it.

    Raises InputError if it is not audio, or silent.
    """
    recording = load(path, encoder.sample_rate, MAX_SECONDS, min_seconds=0.0)
    waveform = recording.waveform
    if np.abs(waveform).max() < SILENT_PEAK:
        raise InputError("This file is silent from beginning to end.")
    vectors, per_second = embed(encoder_for(encoder, path), waveform)
    length = len(waveform) / encoder.sample_rate
    sound = Sound("", path, path.name, "", "", length, digest)
    return Entry(sound, vectors, per_second), recording.notices


def encoder_for(encoder: SoundEncoder, path: str | Path) -> SoundEncoder:
    """Return the encoder for the recording in a file: some know recordings by their names."""
    return getattr(encoder, "for_recording", lambda _: encoder)(Path(path).stem)


def embed(encoder: SoundEncoder, waveform: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Embed a waveform (T,): vectors of N segments, float32 (N, D), S seconds, float16 (S, D)."""
    segments = encoder.segments(waveform)
    embedding = encoder.embed_audio(segments)
    # Each second takes the vector of the segment's second that contains its midpoint.
    total, length = len(waveform) / encoder.sample_rate, segments.shape[1] / encoder.sample_rate
    begin = np.arange(np.ceil(total))
    middle = (begin + np.minimum(begin + 1, total)) / 2
    segment = np.minimum(middle // length, len(segments) - 1).astype(int)
    within = np.minimum(middle - segment * length, embedding.per_second.shape[1] - 1).astype(int)
    return embedding.vectors, embedding.per_second[segment, within].astype(np.float16)
