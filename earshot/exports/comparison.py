"""A comparison: systems that convert the same inputs to the same targets, into a folder that a
listening test reads.

OUT/SYSTEM/INPUT__TARGET.wav are the results, OUT/source and OUT/target the recordings that they are
made of, all equally loud and at one rate; measures.csv has a row for each measure of a result, or
for why there is none, and measures.md their means; test.yaml is a test to begin with. A result is a
whole file or none, and a comparison that was ended goes on where it stood. All its lines read or
write one folder, and so are in one module.
"""

import glob
import hashlib
import json
import math
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import soxr

from earshot.core import files
from earshot.core.errors import InputError
from earshot.exports import measures
from earshot.exports.measures import LOUDNESS, SECONDS, Measure
from earshot.media.audio.load import decode_mono, load, loudness, match_loudness, wav_bytes
from earshot.media.audio.speech import Origin
from earshot.media.constants import SAMPLE_RATE
from earshot.media.samples import SILENT_PEAK
from earshot.media.text.letters import composed
from earshot.pretrained.judges import WORDS, Judge
from earshot.provenance.manifest import sign
from earshot.study.design.designs import DESIGNS
from earshot.study.design.folder import NO_SYSTEMS, describe
from earshot.study.design.form import Form
from earshot.study.design.spec import FILE as TEST
from earshot.study.design.spec import NAME as TEST_NAME

STATE: Final = "compare.json"  # what the results are made of, and that the folder is ours
NOTES: Final = "measures.md"
SOURCE, TARGET = "source", "target"  # folders of the recordings
SEPARATOR: Final = "__"
RATE: Final = 48_000  # Hz, for raters compare sounds of one rate
VIDEO: Final = ".mp4"
LUFS: Final = -23.0  # or less, where the peaks of a result allow no more
MIN_LUFS: Final = -33.0  # that all results are brought down to for one of them
TOLERANCE: Final = 0.1  # LU
MAX_TRIALS: Final = 20  # that suit a rater
MAX_SECONDS: Final = 60.0
MAX_NAME_BYTES: Final = 90  # of an input or a target in the name of a file
MAX_ERROR: Final = 300  # characters
MAX_NOTICES: Final = 5  # of a system
SAVE_EVERY: Final = 1.0  # seconds; what a kill loses is converted again
UNFIT: Final = re.compile(r'[\x00-\x1f\x7f/\\*:?"<>|\ud800-\udfff]+')
LEFT_BEHIND: Final = re.compile(r"\.[0-9a-f]{16}\.tmp")  # by a kill: see core.files
COMMENT: Final = "Made by a system that converts speech"
BIASED: Final = (
    "Words kept are those that Moonshine tiny recognises in the source and in the result. Systems "
    "of Earshot were trained with it, which favours them."
)
EQUAL: Final = "All sounds are equally loud: {:g} LUFS (ITU-R BS.1770-4)."


@dataclass(frozen=True)
class Item:
    """An input or a target: its name in those of files, what a system is given, a file or the name
    of a voice, and the hash of the file."""

    name: str
    value: Path | str
    sha256: str = ""

    @classmethod
    def of(cls, value: Path | str, name: str = "") -> "Item":
        """Name a file after its stem, unless ``name`` is given, and a voice by its name."""
        if isinstance(value, str):
            return cls(file_name(name or value), value)
        return cls(file_name(name or value.stem), value, files.file_hash(value))


Pair = tuple[Item, Item | None]  # an input, and a target, if the task has any
# Converts the file of an input to a target → a waveform (T,), and its rate in Hz.
Convert = Callable[[Path, Path | str | None], tuple[np.ndarray, int]]


@dataclass
class Comparison:
    """The comparison of systems, which are loaded when they are needed, in the folder ``out``."""

    out: Path
    task: str
    systems: Mapping[str, Callable[[], Any]]  # each loads a Convert
    inputs: Sequence[Item]
    targets: Sequence[Item]
    judges: Sequence[Judge] = ()
    has_pictures: bool = False  # of the inputs, with which raters see the results
    rows: dict[tuple[str, str], list[Measure]] = field(default_factory=dict)
    _saved: float = 0.0
    _lufs: float = LUFS

    def run(self, progress: Callable[[int, int, str], object] = lambda *_: None) -> int:
        """Convert and measure what is still to be; return how many results there are none of.

        progress: is given how many results are done, how many there are, and the next one's name.
        Raises InputError, before anything is written, where names would be those of others.
        """
        self._check()
        self._resume()
        pairs = self._pairs()
        for source, target in pairs:
            self._write_recordings(source, target)
        try:
            for place, system in enumerate(self.systems):
                self._run_system(system, pairs, place * len(pairs), progress)
        finally:
            self._save(at_once=True)
        progress(len(pairs) * len(self.systems), len(pairs) * len(self.systems), "")
        self._conclude()
        keys = [(system, _name(*pair)) for system in self.systems for pair in pairs]
        return sum(not self._path(*key).exists() for key in keys)

    def _run_system(
        self,
        system: str,
        pairs: Sequence[Pair],
        done: int,
        progress: Callable[[int, int, str], object],
    ) -> None:
        convert = None
        for place, (source, target) in enumerate(pairs, done):
            name = _name(source, target)
            progress(place, len(pairs) * len(self.systems), f"{system}/{name}")
            if not self._is_done(system, name):
                try:
                    if convert is None:
                        convert = self.systems[system]()
                        self._convert(system, convert, source, target)  # which loads what is lazy
                    self._convert(system, convert, source, target)
                except Exception as error:  # noqa: BLE001  (whatever a system raises)
                    self._fail(system, source, target, error)
            self._measure(system, source, target)
            self._note(system, getattr(convert, "notices", ()))
            self._save()

    def _note(self, system: str, notices: Iterable[str]) -> None:
        """Keep what a system says of its results, for measures.md."""
        state = self._state()
        notes = state.setdefault("notices", {}).setdefault(system, [])
        if new := [notice for notice in notices if notice not in notes][: MAX_NOTICES - len(notes)]:
            notes += new
            self._write_state(state)

    def _pairs(self) -> list[Pair]:
        """List every input with every target."""
        return [(source, target) for source in self.inputs for target in self.targets or (None,)]

    def _check(self) -> None:
        """Check names before anything is written. Raises InputError."""
        if not self.inputs:
            raise InputError("There is nothing to convert in the inputs.")
        for items in (self.inputs, self.targets):
            names = [each.name.casefold() for each in items]
            if twice := [name for name in names if names.count(name) > 1]:
                raise InputError(f"Two files would be called {twice[0]}: rename one.")
        for system in self.systems:
            is_file = system.endswith((".csv", ".json", ".md", ".yaml"))  # as what is written
            if system in (SOURCE, TARGET, *NO_SYSTEMS) or is_file or file_name(system) != system:
                raise InputError(f"A system that is compared cannot be called “{system}”.")
        if not TEST_NAME.fullmatch(self.out.resolve().name):
            raise InputError(
                f"{self.out} is also the name of a listening test: call it by letters, digits, - "
                "and _ only."
            )
        if self.out.exists() and not self.out.is_dir():
            raise InputError(f"{self.out} is a file: name a folder.")
        if self.out.is_dir() and any(self.out.iterdir()) and not (self.out / STATE).exists():
            raise InputError(f"{self.out} holds other files: name a new folder.")

    def _resume(self) -> None:
        """Read what there is of the comparison, without what other files were converted for."""
        before = self._state()
        if before.get("task", self.task) != self.task:
            raise InputError(f"{self.out} holds a comparison of {before['task']}: name another.")
        items = {f"{SOURCE}/{each.name}": each.sha256 for each in self.inputs}
        items |= {f"{TARGET}/{each.name}": each.sha256 for each in self.targets}
        hashes = before.get("files", {})
        changed = {name for name in items if hashes.get(name, items[name]) != items[name]}
        for source, target in self._pairs():
            files_of = {f"{SOURCE}/{source.name}", f"{TARGET}/{target.name if target else ''}"}
            if files_of & changed:
                for path in self.out.glob(f"*/{glob.escape(_name(source, target))}.*"):
                    path.unlink()
        for path in self.out.glob("*/.*.tmp"):
            if LEFT_BEHIND.fullmatch(path.name):
                path.unlink()
        if (self.out / measures.FILE).exists():
            for row in measures.read(self.out / measures.FILE):
                self.rows.setdefault((row.system, row.name), []).append(row)
        self._lufs = float(before.get("lufs", LUFS))
        self._write_state(before | {"task": self.task, "lufs": self._lufs, "files": hashes | items})

    def _state(self) -> dict[str, Any]:
        try:
            state = json.loads((self.out / STATE).read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return state if isinstance(state, dict) else {}

    def _write_state(self, state: Mapping[str, Any]) -> None:
        files.write(self.out / STATE, (json.dumps(state, indent=1) + "\n").encode())

    def _write_recordings(self, source: Item, target: Item | None) -> None:
        """Write the source of a result, and its target where that is a recording."""
        for folder, item in ((SOURCE, source), (TARGET, target)):
            if item is None or not isinstance(item.value, Path):
                continue
            path = self.out / folder / f"{_name(source, target)}.wav"
            if not path.exists():
                try:
                    mono = decode_mono(item.value, MAX_SECONDS)
                    level = self._level(mono.waveform, mono.sample_rate)
                except InputError:
                    continue  # each system says so, too; a video may have no sound
                files.write(path, wav_bytes(level, RATE))

    def _is_done(self, system: str, name: str) -> bool:
        """Whether a result is there as a whole, with what was measured when it was made."""
        rows = self.rows.get((system, name), ())
        return any(each.measure == SECONDS for each in rows) and self._path(system, name).exists()

    def _path(self, system: str, name: str) -> Path:
        return self.out / system / f"{name}.wav"

    def _video(self, system: str, name: str) -> Path:
        return self._path(system, name).with_suffix(VIDEO)

    def _convert(self, system: str, convert: Convert, source: Item, target: Item | None) -> None:
        """Write one result, and how long it took. Raises InputError for one that is no sound."""
        assert isinstance(source.value, Path)
        name = _name(source, target)
        began = time.perf_counter()
        waveform, sample_rate = convert(source.value, target.value if target else None)
        seconds = time.perf_counter() - began
        level, row = self._level(_checked(waveform), sample_rate), self._row(system, source, target)
        files.write(self._path(system, name), _wav(level, system))
        self.rows[system, name] = [
            Measure(*row, SECONDS, round(seconds, 4), "wall clock"),
            Measure(*row, LOUDNESS, round(loudness(level, RATE), 2), "ITU-R BS.1770-4"),
        ]

    def _level(self, waveform: np.ndarray, sample_rate: int) -> np.ndarray:
        """Bring a waveform (T,) to the rate and the loudness of all."""
        resampled = soxr.resample(waveform.astype(np.float32), sample_rate, RATE)
        return match_loudness(resampled, RATE, self._lufs)

    def _row(self, system: str, source: Item, target: Item | None) -> tuple[str, str, str, str]:
        return system, source.name, target.name if target else "", _name(source, target)

    def _fail(self, system: str, source: Item, target: Item | None, error: Exception) -> None:
        """Note why there is no result; it is tried again the next time."""
        text = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
        row = Measure(*self._row(system, source, target), "", error=text[:MAX_ERROR])
        self.rows[system, row.name] = [row]
        for path in (self._path(system, row.name), self._video(system, row.name)):
            path.unlink(missing_ok=True)

    def _measure(self, system: str, source: Item, target: Item | None) -> None:
        """Let every judge that can measure a result that it has not measured yet."""
        name = _name(source, target)
        rows = self.rows[system, name]
        there = {each.measure for each in rows if not each.error}
        waiting = [each for each in self.judges if not each.missing and each.measure not in there]
        result = self._sound(system, name) if waiting else None
        if result is None:
            return
        original, voice = self._sound(SOURCE, name), self._sound(TARGET, name)
        rows[:] = [each for each in rows if each.measure in there]
        for judge in waiting:
            value, problem = None, ""
            try:
                value = judge.score(result, original, voice)
            except Exception as error:  # noqa: BLE001  (a failure is a row)
                problem = f"{type(error).__name__}: {error}"[:MAX_ERROR]
            row = self._row(system, source, target)
            rows.append(Measure(*row, judge.measure, value, judge.name, judge.version, problem))

    def _sound(self, folder: str, name: str) -> np.ndarray | None:
        """Read a sound of the comparison at 16 kHz, where it is there."""
        path = self._path(folder, name)
        return load(path, SAMPLE_RATE, MAX_SECONDS).waveform if path.exists() else None

    def _save(self, at_once: bool = False) -> None:
        if at_once or time.monotonic() - self._saved > SAVE_EVERY:
            rows = [each for key in self.rows for each in self.rows[key]]
            files.write(self.out / measures.FILE, measures.as_csv(rows))
            self._saved = time.monotonic()

    def _conclude(self) -> None:
        """Write the means, and a listening test, unless somebody has changed the one before."""
        self._equalise()
        rows = [each for key in self.rows for each in self.rows[key]]
        summary = measures.summarise(rows, [*self.systems])
        notes = [*self._notes(rows)]
        files.write(self.out / NOTES, measures.as_markdown(summary, notes).encode())
        names = [name for name in self.systems if any((self.out / name).glob("*.wav"))]
        if not names:
            return
        if self.has_pictures:
            self._write_videos(names)
        design = DESIGNS["ab" if len(names) > 1 else "acr"]
        stimuli = {path.stem for name in names for path in (self.out / name).glob("*.wav")}
        trials = min(MAX_TRIALS, len(stimuli) * design.count(len(names), reference=False))
        form = Form(design.name, f"Comparison of {', '.join(names)}", trials=trials)
        text = describe(self.out, form, names)
        text = text.replace(f"loudness: {LUFS:g}", f"loudness: {self._lufs:.1f}")
        content = (text.replace('/*.wav"', f'/*{VIDEO}"') if self.has_pictures else text).encode()
        test, state = self.out / TEST, self._state()
        if not test.exists() or hashlib.sha256(test.read_bytes()).hexdigest() == state.get("test"):
            files.write(test, content)
            self._write_state({**state, "test": hashlib.sha256(content).hexdigest()})

    def _write_videos(self, systems: Sequence[str]) -> None:
        """Write every result with the picture of its input, in which nothing else is changed."""
        from earshot.media.encode import add_audio, encode_video  # late, for it loads FFmpeg
        from earshot.media.video import frames

        for source, target in self._pairs():
            name, picture = _name(source, target), b""
            for system in systems:
                sound, video = self._path(system, name), self._video(system, name)
                if not sound.exists() or _is_newer(video, sound):
                    continue
                assert isinstance(source.value, Path)
                picture = picture or encode_video(frames(source.value, MAX_SECONDS))
                waveform = decode_mono(sound, MAX_SECONDS).waveform
                content = add_audio(picture, waveform, RATE, COMMENT)
                files.write(video, sign(content, VIDEO, Origin(system, voice="")))

    def _equalise(self) -> None:
        """Bring all sounds down to the quietest, where its peaks allowed no more."""
        rows = [each for own in self.rows.values() for each in own if each.measure == LOUDNESS]
        levels = [each.value for each in rows if each.value is not None]
        least = min((level for level in levels if level >= MIN_LUFS), default=self._lufs)
        if least > self._lufs - TOLERANCE:
            return
        self._lufs = math.floor(10 * least) / 10
        for path in self.out.glob("*/*.wav"):
            level = self._level(decode_mono(path, MAX_SECONDS).waveform, RATE)
            files.write(path, _wav(level, path.parent.name))
        for own in self.rows.values():
            own[:] = [
                replace(each, value=min(each.value or 0.0, self._lufs))
                if each.measure == LOUDNESS
                else each
                for each in own
            ]
        self._write_state({**self._state(), "lufs": self._lufs})
        self._save(at_once=True)

    def _notes(self, rows: Sequence[Measure]) -> Iterable[str]:
        """Explain what a reader of the means must know."""
        yield EQUAL.format(self._lufs)
        levels = [each.value or 0.0 for each in rows if each.measure == LOUDNESS]
        if quieter := sum(level < self._lufs - TOLERANCE for level in levels):
            yield f"{quieter} of {len(levels)} results are quieter, for their peaks allow no more."
        for system, notices in self._state().get("notices", {}).items():
            yield from (f"{system}: {notice}" for notice in notices if system in self.systems)
        if any(each.measure == WORDS for each in rows):
            yield BIASED
        for judge in self.judges:
            if judge.missing:
                yield f"{measures.KINDS[judge.measure].label}: not measured, for {judge.missing}."


def _wav(waveform: np.ndarray, system: str) -> bytes:
    """Write a sound as a WAV file, signed if a system made it."""
    if system in (SOURCE, TARGET):
        return wav_bytes(waveform, RATE)
    return sign(wav_bytes(waveform, RATE, COMMENT), ".wav", Origin(system, voice=""))


def _is_newer(file: Path, other: Path) -> bool:
    return file.exists() and file.stat().st_mtime_ns >= other.stat().st_mtime_ns


def _name(source: Item, target: Item | None) -> str:
    return f"{source.name}{SEPARATOR}{target.name}" if target else source.name


def _checked(waveform: np.ndarray) -> np.ndarray:
    """Return a result. Raises InputError where it is no sound."""
    waveform = np.asarray(waveform)
    if waveform.ndim != 1 or not len(waveform):
        raise InputError(f"The result has the shape {waveform.shape}, and not that of a waveform.")
    if not np.isfinite(waveform).all():
        raise InputError("The result holds values that are not numbers (NaN or infinity).")
    if np.abs(waveform).max() < SILENT_PEAK:
        raise InputError("The result is silent.")
    return waveform


def file_name(text: str) -> str:
    """Return the text as it may stand in the name of a file, on any disk and in a test."""
    name = UNFIT.sub("-", composed(text)).replace(SEPARATOR, "_").strip(". ")
    if len(name.encode()) > MAX_NAME_BYTES:
        digest = hashlib.sha256(name.encode()).hexdigest()[:8]
        name = f"{name.encode()[:MAX_NAME_BYTES].decode('utf-8', 'ignore')}-{digest}"
    return name or "-"
