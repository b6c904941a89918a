"""An index of hours of recordings, on the disk, in which a word is found in a second.

Of each recording it keeps phoneme posteriors by each phoneme-bottleneck model, relative to the
likeliest, in a byte each and a row a phoneme, so that a query reads its own rows only; and the
sound. A query is searched in all of them by CTC, which gives candidates; their cosines are
estimated from the stored posteriors alone; and the best, and those that may or may not count as
found, are scored with care, from their sound, as *Find a word* does (word_search).

A recording is added in one step, so that a builder that was killed resumes. (Building and
searching are one module of over 400 lines, for both know the form of the files.)

Shapes: S steps of the acoustic encoder, P phonemes with 0 the blank.
"""

import hashlib
import heapq
import json
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple
from zipfile import BadZipFile

import numpy as np
import soundfile

from earshot.core import cancellation
from earshot.core.errors import InputError
from earshot.core.files import replacing, walk_files, write
from earshot.media.audio.load import Audio, load
from earshot.media.constants import SAMPLE_RATE
from earshot.media.encode import encode_audio
from earshot.media.samples import SILENT_PEAK
from earshot.sound_index.index import Report
from earshot.sound_index.scan import files_to_index, locked
from earshot.systems.words.spoken_word import MAX_SECONDS, MIN_SECONDS
from earshot.systems.words.system import Spoken, Words, Written
from earshot.systems.words.word_search import (
    MARGIN,
    MIN_CANDIDATES,
    MIN_PATHS,
    PATH_WEIGHT,
    Place,
    apart,
    kind_of_query,
    phonemes_of,
    relative_paths,
    threshold_of,
    with_margins,
)

MANIFEST: Final = "index.json"
FORMAT: Final = 1
MAX_RECORDING: Final = 4 * 3600.0  # seconds
PIECE: Final = 300 * SAMPLE_RATE  # samples that are encoded at once: whole steps of every encoder
CONTEXT: Final = 30_720  # samples before and after them, whole steps as well
LEVELS: Final = 16  # of a stored posterior, in a unit of its logarithm; 255 of them at most
BIT_RATE: Final = 24_000  # of the stored sound, Opus
MAX_ENDS: Final = 4000  # steps of a recording at which paths are looked at
MAX_PLACES: Final = 1000  # places of a query
MAX_COARSE: Final = 60  # of these, whose cosines are computed from stored posteriors
CORES: Final = min(os.cpu_count() or 1, 4)
MAX_NEAREST: Final = 5  # places that are shown where none counts as found
MAX_CAREFUL: Final = 10  # places that are scored from their sound
# The line by which the score of a place follows from that of its path, where there are more; fitted
# on an hour of espeak-ng's speech. Nearly all places whose paths are that good count as found.
PATH_LINE: Final = (0.24, 0.55)
AGAIN: Final = " it again with: python -m earshot words index FOLDER -o INDEX"
NO_INDEX: Final = (
    "There is no index of recordings in {folder}. Make one with: "
    "python -m earshot words index FOLDER -o INDEX"
)
OTHER_MODEL: Final = "{folder} was made by another model. Delete it and make" + AGAIN
DAMAGED: Final = "{folder} is damaged, or something else. Delete it and make" + AGAIN

Progress = Callable[[int, int, str], object]  # files done, files in all, the name of the next


@dataclass(frozen=True)
class Indexed:
    """A recording of an index. key: the name of its files; name: its path below the folder of the
    recordings; size and modified: of its file, in bytes and ns; notices: about it."""

    key: str
    name: str
    size: int
    modified: int
    seconds: float
    notices: tuple[str, ...] = ()


class Candidate(NamedTuple):
    """A place that a path proposes: the score of the path; start and end in s, with margins; and
    the number of the recording."""

    path: float
    start: float
    end: float
    recording: int


@dataclass(frozen=True)
class Hit:
    """A place in a recording. careful: whether its score is of its sound, or an estimate of that
    from stored posteriors."""

    recording: Indexed
    place: Place
    careful: bool


@dataclass(frozen=True)
class FoundHits:
    """The places where a word was found in an index, the best first. threshold: from which a score
    counts as found."""

    hits: tuple[Hit, ...]
    threshold: float

    @property
    def matches(self) -> tuple[Hit, ...]:
        """List the places that count as found, the best first."""
        return tuple(hit for hit in self.hits if hit.place.score >= self.threshold)

    @property
    def chosen(self) -> tuple[Hit, ...]:
        """List the places that count as found; where there is none, the nearest few."""
        return self.matches or self.hits[:MAX_NEAREST]


def query_of(words: Words, text: str, recording: Audio = None) -> tuple[str, Spoken | Written]:
    """Make the query of a word that is typed, or said, or both: and its name.

    Of both, the spelling says how the word is pronounced, and the vector is between both. Raises
    InputError.
    """
    if not text.strip() and recording is None:
        raise InputError("Type the word to look for, or say it.")
    spoken = words.embed_audio(recording) if recording is not None else None
    if not text.strip():
        assert spoken is not None
        return "the word you said", spoken
    query = words.embed_text(text)
    if spoken is not None:
        vector = query.vector + spoken.vector
        query = replace(query, vector=vector / np.linalg.norm(vector))
    return text.strip(), query


def update(folder: Path, out: Path, words: Words, progress: Progress | None = None) -> Report:
    """Update the index ``out`` to the recordings in ``folder`` and its subfolders: videos too.

    Hidden files are ignored. What cannot be used is skipped, and reported with the reason. Each
    recording is stored at once, so that an update that was killed resumes.

    Raises InputError if there is no such folder, if it is empty, or if ``out`` is damaged or was
    made by another model; BusyError if another update runs.
    """
    folder, out = folder.absolute(), out.absolute()
    if not folder.is_dir():
        raise InputError(f"There is no folder {folder}.")
    with locked(out):
        away: dict[Path, str] = {}
        files = files_to_index(walk_files(folder, away.__setitem__), folder, out)
        if not files:
            raise InputError(f"There are no files in {folder}. Choose a folder with recordings.")
        if (out / MANIFEST).exists():
            WordIndex.open(out, words)
        elif any(name for name in os.listdir(out) if not name.endswith(".tmp")):
            raise InputError(f"{out} is no index, and not empty. Choose another folder for it.")
        begin(out, folder, words)
        before = {indexed.name: indexed for indexed in _entries(out)}
        added, unchanged, names = 0, 0, set()
        skipped, noticed = [*away.items()], []
        for number, file in enumerate(files):
            cancellation.check()
            name = file.relative_to(folder).as_posix()
            if progress:
                progress(number, len(files), name)
            try:
                status = file.stat()
                old = before.get(name)
                if old and (old.size, old.modified) == (status.st_size, status.st_mtime_ns):
                    names.add(name)
                    unchanged += 1
                    continue
                new = add(out, file, name, words)
            except (InputError, OSError) as error:
                skipped.append((file, str(error)))
                continue
            names.add(name)
            added += 1
            noticed += ((file, notice) for notice in new.notices)
        gone = [old for name, old in before.items() if name not in names]
        for old in gone:
            if not any((folder / old.name).is_relative_to(place) for place in away):
                _remove(out, old.key)
        if progress:
            progress(len(files), len(files), "")
        return Report(added, unchanged, len(gone), tuple(skipped), tuple(noticed))


def begin(out: Path, folder: Path, words: Words) -> None:
    """Make an index without recordings, or note that its recordings are in another folder now."""
    manifest = {"format": FORMAT, "fingerprint": words.fingerprint, "folder": str(folder)}
    write(out / MANIFEST, json.dumps(manifest).encode())


def add(
    out: Path, file: Path, name: str, words: Words, max_seconds: float = MAX_RECORDING
) -> Indexed:
    """Add a recording under a name to an index, or replace it; its description last, by which it
    counts as there.

    Raises InputError for one that cannot be used, or is longer, and OSError.
    """
    status = file.stat()
    recording = load(file, SAMPLE_RATE, max_seconds)
    waveform = recording.waveform
    if np.abs(waveform).max() < SILENT_PEAK:
        raise InputError("The recording is silent.")
    key = hashlib.blake2b(name.encode(errors="surrogateescape"), digest_size=12).hexdigest()
    _remove(out, key)
    for number, posteriors in enumerate(_stored_posteriors(words, waveform)):
        with replacing(out / f"{key}-{number}.npy") as array:
            np.save(array, posteriors)
    write(out / f"{key}.opus", encode_audio(waveform, SAMPLE_RATE, ".opus", "", BIT_RATE))
    indexed = Indexed(
        key, name, status.st_size, status.st_mtime_ns, recording.seconds, recording.notices
    )
    write(out / f"{key}.json", json.dumps(asdict(indexed)).encode())
    return indexed


def _stored_posteriors(words: Words, waveform: np.ndarray) -> list[np.ndarray]:
    """Encode speech (T,), a piece at a time → how much less likely each phoneme is than the
    likeliest, uint8 (P, S), by each model."""
    parts: list[list[np.ndarray]] = []
    for first in range(0, len(waveform), PIECE):
        start, end = max(0, first - CONTEXT), first + PIECE
        piece = waveform[start : end + CONTEXT]
        inner = (first - start) / len(piece), min(1.0, (end - start) / len(piece))
        each = []
        for log_posteriors in words.log_posteriors(piece):
            a, b = (round(share * len(log_posteriors)) for share in inner)
            some = log_posteriors[a:b]
            behind = LEVELS * (some.max(axis=1, keepdims=True) - some)
            each.append(np.minimum(np.round(behind), 255).astype(np.uint8).T)
        parts.append(each)
    return [np.concatenate(some, axis=1) for some in zip(*parts, strict=True)]


def _remove(out: Path, key: str) -> None:
    """Delete a recording, its description first."""
    for path in [out / f"{key}.json", *out.glob(f"{key}*")]:
        path.unlink(missing_ok=True)


def _load(path: Path) -> np.ndarray:
    array = np.load(path, mmap_mode="r")
    return array if isinstance(array, np.ndarray) else array["posteriors"]


def _entries(folder: Path) -> list[Indexed]:
    """Read the descriptions of an index's recordings, in the order of their names."""
    entries = []
    for path in folder.glob("*.json"):
        if path.name != MANIFEST:
            entry = json.loads(path.read_bytes())
            entries.append(Indexed(**entry | {"notices": tuple(entry["notices"])}))
    return sorted(entries, key=lambda indexed: indexed.name)


class WordIndex:
    """An index that is open for searches, which visitors share."""

    def __init__(self, out: Path, folder: Path, entries: Sequence[Indexed], words: Words) -> None:
        """Keep what the index holds. folder: of the recordings."""
        self.out, self.folder, self.recordings, self._words = out, folder, tuple(entries), words

    @classmethod
    def open(cls, out: Path, words: Words) -> "WordIndex":
        """Open an index. Raises InputError where there is none, where it is damaged, and where it
        was made by another model."""
        try:
            manifest = json.loads((out / MANIFEST).read_bytes())
            same = (manifest["format"], manifest["fingerprint"]) == (FORMAT, words.fingerprint)
            folder, entries = Path(manifest["folder"]), _entries(out)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise InputError(NO_INDEX.format(folder=out)) from error
        except (ValueError, KeyError, TypeError, OSError) as error:
            raise InputError(DAMAGED.format(folder=out)) from error
        if not same:
            raise InputError(OTHER_MODEL.format(folder=out))
        return cls(out, folder, entries, words)

    @property
    def seconds(self) -> float:
        return sum(indexed.seconds for indexed in self.recordings)

    @cached_property
    def _posteriors(self) -> list[list[np.ndarray]]:
        """Read the stored posteriors (P, S) of each recording, by each model: when they are used,
        or, where they are compressed, at once."""
        try:
            return [
                [_load(path) for path in sorted(self.out.glob(f"{recording.key}-*.np[yz]"))]
                for recording in self.recordings
            ]
        except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
            raise InputError(DAMAGED.format(folder=self.out)) from error

    def sound(self, recording: Indexed, start: float, end: float) -> np.ndarray:
        """Read the sound (T,) at 16 kHz of a recording between two times (s)."""
        try:
            with soundfile.SoundFile(self.out / f"{recording.key}.opus") as file:
                file.seek(min(max(0, round(start * SAMPLE_RATE)), file.frames))
                return file.read(round((end - start) * SAMPLE_RATE), "float32")
        except (OSError, soundfile.LibsndfileError) as error:
            raise InputError(DAMAGED.format(folder=self.out)) from error

    def find(self, query: Spoken | Written, limit: int | None = 50) -> FoundHits:
        """Find the places where the word may have been spoken, the best ``limit``.

        Raises InputError for a spoken query in which no phoneme was recognised, and for a damaged
        index.
        """
        phonemes = phonemes_of(self._words, query)
        threshold, min_path = threshold_of(query, phonemes), MIN_PATHS[kind_of_query(query)]
        with ThreadPoolExecutor(CORES) as threads:
            search = partial(self._candidates, phonemes=phonemes)
            every = chain.from_iterable(threads.map(search, range(len(self.recordings))))
            best = heapq.nlargest(MAX_PLACES, every)
            best = best[: max(MIN_CANDIDATES, sum(place.path >= min_path for place in best))]
            cancellation.check()
            paths = np.array([place.path for place in best])
            scores = PATH_LINE[0] * paths + PATH_LINE[1]

            def score(numbers: np.ndarray, cosines_of: Callable[..., np.ndarray]) -> None:
                """Score the candidates with these numbers by their cosines, a share on each
                core."""
                shares = [some for some in np.array_split(numbers, CORES) if len(some)]
                cosines = threads.map(lambda some: cosines_of([best[i] for i in some]), shares)
                for some, values in zip(shares, cosines, strict=True):
                    scores[some] = values + PATH_WEIGHT * paths[some]

            score(np.arange(min(MAX_COARSE, len(best))), partial(self._stored_cosines, query))
            careful = _worth_care(scores[:MAX_COARSE], threshold)
            score(careful, partial(self._cosines, query))
        hits = [
            Hit(
                self.recordings[place.recording], Place(place.start, place.end, value), i in careful
            )
            for i, (place, value) in enumerate(zip(best, scores.tolist(), strict=True))
        ]
        hits.sort(key=lambda hit: -hit.place.score)
        return FoundHits(tuple(hits[:limit]), threshold)

    def _stored_cosines(self, query: Spoken | Written, places: Sequence[Candidate]) -> np.ndarray:
        """Estimate the cosine of each place from the posteriors that are stored of it."""
        parts: list[list[np.ndarray]] = []
        for place in places:
            seconds = self.recordings[place.recording].seconds
            each = []
            for stored in self._posteriors[place.recording]:
                a, b = (round(t / seconds * stored.shape[1]) for t in (place.start, place.end))
                each.append(stored[:, a : max(b, a + 1)].T.astype(np.float32) / -LEVELS)
            parts.append(each)
        return self._words.posterior_cosines(parts, query.vector)

    def _cosines(self, query: Spoken | Written, places: Sequence[Candidate]) -> np.ndarray:
        """Compute the cosine of each place from its sound."""
        sounds = [self.sound(self.recordings[p.recording], p.start, p.end) for p in places]
        return self._words.embed_waveforms(sounds, once=True) @ query.vector

    def _candidates(self, number: int, phonemes: Sequence[int]) -> list[Candidate]:
        """Find the best places in a recording, at most one within a word."""
        seconds = self.recordings[number].seconds
        rows, symbols = np.unique([0, *phonemes], return_inverse=True)
        ends = []
        for stored in self._posteriors[number]:
            relative = np.ascontiguousarray(stored[rows].T, np.float32) / -LEVELS
            scores, starts = relative_paths(relative, symbols[1:].tolist())
            step = seconds / len(scores)
            some = np.argpartition(-scores, min(MAX_ENDS, len(scores) - 1))[:MAX_ENDS]
            ends.append(np.stack([scores[some], starts[some] * step, (some + 1) * step], axis=1))
        paths = np.concatenate(ends)
        lengths = paths[:, 2] - paths[:, 1] + sum(MARGIN)
        paths = paths[
            np.isfinite(paths[:, 0]) & (lengths >= MIN_SECONDS) & (lengths <= MAX_SECONDS)
        ]
        paths = paths[np.argsort(-paths[:, 0], kind="stable")]
        best = paths[apart(paths, MAX_PLACES)].tolist()
        return [
            Candidate(path, *with_margins((start, end), seconds), number)
            for path, start, end in best
        ]


def _worth_care(estimates: np.ndarray, threshold: float) -> np.ndarray:
    """Choose the places that are scored from their sound: half of them the best, which are looked
    at first, and half those of which the estimate leaves open whether they count as found."""
    best = np.argsort(-estimates, kind="stable")
    open_ones = np.argsort(np.abs(estimates - threshold), kind="stable")
    first = best[: MAX_CAREFUL // 2]
    rest = open_ones[~np.isin(open_ones, first)]
    return np.concatenate([first, rest[: MAX_CAREFUL - len(first)]])
