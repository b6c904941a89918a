"""Checks the sounds of a test before it opens, and prepares the copies that raters hear."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import soundfile

from media.errors import InputError
from study.design import ANCHORS, Test, Trial
from study.design.trials import prepared_path
from study.sounds import sound
from study.sounds.anchors import low_pass
from study.sounds.sound import Sound

LOUDNESS_TOLERANCE = 0.5  # LU
HIGHEST_PEAK = -0.1  # dBFS, of copies
LENGTH_TOLERANCE = 0.01  # seconds, between sounds that are switched at the same position


class Format(NamedTuple):
    """What sounds of one trial must have in common."""

    sample_rate: int
    channels: int
    seconds: float


def check(test: Test) -> list[str]:
    """What must be mended before the test can open, a sentence each; empty when nothing.

    Every file must be there, be decodable and neither silent nor clipped, and reach the stated
    loudness within 0.5 LU; sounds to be compared must have one rate and one number of channels, in
    mushra one length too.
    """

    @cache
    def form(path: Path, cutoff: float | None) -> Format | str:
        try:
            heard = _heard(path, cutoff, test.loudness)
        except InputError as error:
            anchor = f", anchor at {cutoff:g} Hz" if cutoff else ""
            return f"{path.relative_to(test.folder)}{anchor}: {error}"
        return Format(heard.sample_rate, heard.channels, heard.seconds)

    problems: list[str] = []
    for trial in test.trials:
        sources = [_source(trial, name) for name in trial.sounds]
        if trial.reference:
            sources.append((trial.reference, None))
        found = [form(*source) for source in sources]
        problems += [each for each in found if isinstance(each, str)]
        forms = [each for each in found if isinstance(each, Format)]
        problems += _differences(test, trial, forms)
    return list(dict.fromkeys(problems))


def prepare(test: Test) -> Test:
    """The test with the files that raters hear: to be called after check, before serving.

    Where a loudness is stated, these are copies (WAV) at that loudness, in the folder `prepared`
    beside the test's file; MUSHRA's anchors are made there too. Other files stay as they are.
    """

    @cache
    def file(path: Path, cutoff: float | None) -> Path:
        if cutoff is None and test.loudness is None:
            return path
        copy = prepared_path(test.folder, f"{cutoff}, {test.loudness}", path)
        if not copy.exists() or copy.stat().st_mtime < path.stat().st_mtime:
            _write(copy, _heard(path, cutoff, test.loudness))
        return copy

    trials = [
        replace(
            trial,
            sounds={name: file(*_source(trial, name)) for name in trial.sounds},
            reference=trial.reference and file(trial.reference, None),
        )
        for trial in test.trials
    ]
    return replace(test, trials=tuple(trials))


def _source(trial: Trial, name: str) -> tuple[Path, float | None]:
    """The file that a sound is made of, and the frequency in Hz that it is cut at, for anchors."""
    if name in ANCHORS and trial.reference:
        return trial.reference, ANCHORS[name]
    return trial.sounds[name], None


def _heard(path: Path, cutoff: float | None, lufs: float | None) -> Sound:
    """The sound as raters hear it. Raises InputError for one that they should not hear."""
    read = sound.read(path)
    samples, rate = read.samples, read.sample_rate
    if cutoff is not None:
        if cutoff >= rate / 2:
            raise InputError(f"There is nothing to cut off at {rate} Hz. Use a higher rate.")
        samples = low_pass(samples, rate, cutoff)
    elif lufs is None:
        return read
    heard = Sound(samples, rate)
    wanted = 0.0 if lufs is None else lufs - heard.level
    gain = min(wanted, HIGHEST_PEAK - heard.peak)
    if wanted - gain > LOUDNESS_TOLERANCE:
        raise InputError(
            f"Its peaks allow {heard.level + gain:.1f} LUFS, but {lufs} is stated: "
            "state a lower loudness."
        )
    return Sound((samples * 10 ** (gain / 20)).astype(samples.dtype), rate)


def _differences(test: Test, trial: Trial, forms: list[Format]) -> list[str]:
    """How the sounds of a trial differ where they must not."""
    if test.design == "similarity" or not forms:
        return []
    rates, channels, seconds = ({*values} for values in zip(*forms, strict=True))
    lasting = max(seconds) - min(seconds)
    where = f"{trial.stimulus} ({', '.join(trial.sounds)})"
    problems = []
    if len(rates) > 1:
        shown = ", ".join(f"{rate} Hz" for rate in sorted(rates))
        problems.append(f"{where}: sampling rates differ ({shown}). Resample them to one.")
    if len(channels) > 1:
        problems.append(f"{where}: some are mono and some are not. Make them alike.")
    if test.design == "mushra" and lasting > LENGTH_TOLERANCE:
        problems.append(f"{where}: lengths differ by {lasting:.3f} s. Cut them to one length.")
    return problems


def _write(path: Path, heard: Sound) -> None:
    """A WAV file of 24 bits, there as a whole or not at all."""
    path.parent.mkdir(exist_ok=True)
    part = path.with_name(f"{uuid4().hex}.part")
    soundfile.write(part, heard.samples, heard.sample_rate, "PCM_24", format="WAV")
    part.replace(path)
