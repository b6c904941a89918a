"""The sounds of a test, those of videos too: read with every channel at its own rate, checked
before the test opens, and prepared as the copies that raters hear, MUSHRA's anchors among them
(ITU-R BS.1534-3).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from earshot.core.errors import InputError
from earshot.media.audio.load import decode, loudness
from earshot.media.samples import FULL_SCALE, SILENT_PEAK
from earshot.study.design import ANCHORS, REFERENCE, Test, Trial
from earshot.study.design.document import SpecError
from earshot.study.sounds.copies import Copies, Copy, Source
from earshot.study.sounds.pictures import Picture, read_picture, trial_pictures, trial_problems

LOUDNESS_TOLERANCE = 0.5  # LU
MAX_PEAK = -0.1  # dBFS, of copies
LENGTH_TOLERANCE = 0.01  # seconds, between sounds that are switched at the same position
MAX_TEST_SAMPLES = 300_000_000  # of all sounds of a test that a visitor brings: 100 min at 48 kHz
MAX_SECONDS = 600.0  # seconds
MAX_SOUND_SAMPLES = 30_000_000  # of all channels: 5 min of stereo at 48 kHz, about 1 GB of work
BLOCK = 2**20  # samples of a channel that are looked at together
TOO_MUCH = (
    "It holds too many samples: five minutes of stereo at 48 kHz are the most. Cut it, or use a "
    "lower rate."
)
# BS.1534-3, 5.1: pass band within 0.1 dB; 25 dB down at 4 kHz and 50 dB at 4.5 kHz for 3.5 kHz. Run
# forth and back, which keeps the time of everything, both add up twice.
RIPPLE, STOP_BAND = 0.05, 30.0  # dB
FILTER_ORDER = 10


@dataclass(frozen=True, eq=False)
class Stimulus:
    """A sound of a test. samples: float32 (T, channels), over 1 in a file of floats that is louder
    than full scale; sample_rate in Hz.
    """

    samples: np.ndarray
    sample_rate: int

    @property
    def seconds(self) -> float:
        return len(self.samples) / self.sample_rate

    @property
    def channels(self) -> int:
        return self.samples.shape[1]

    @property
    def peak(self) -> float:
        """Measure the largest sample, in dBFS."""
        return 20 * math.log10(_peak(self.samples))

    @property
    def level(self) -> float:
        """Measure the integrated loudness in LUFS (ITU-R BS.1770-4), of all channels together."""
        return loudness(self.samples, self.sample_rate)


class Format(NamedTuple):
    """The format that sounds of one trial must share, and the picture next to one."""

    sample_rate: int
    channels: int
    seconds: float
    picture: Picture | None


def check(test: Test, max_samples: int | None = None, copies: Copies | None = None) -> list[str]:
    """List what must be mended before the test can open, a sentence each; nothing when all is well.

    Every file must be there, be decodable and neither silent nor clipped, and reach the stated
    loudness within 0.5 LU; sounds to be compared must have one rate and one number of channels, in
    a strict mushra one length too; either all have a picture or none has. With max_samples, all
    sounds together may hold so many (channels × rate × seconds). copies: where every sound and
    picture is written as raters hear and see it.
    """
    held = 0

    @cache
    def picture(path: Path) -> Picture | None:
        if (read := read_picture(path)) and copies:
            copies.write_picture(*read)
        return read and read[0]

    @cache
    def form(source: Source) -> Format | str:
        nonlocal held
        try:
            image = picture(source.path)
            stimulus = _prepared(source, test.loudness)
            held += stimulus.samples.size
            if copies:
                copies.write(source, stimulus.samples, stimulus.sample_rate, image)
        except InputError as error:
            anchor = f", anchor at {source.cutoff:g} Hz" if source.cutoff else ""
            return f"{source.path.relative_to(test.folder)}{anchor}: {error}"
        return Format(stimulus.sample_rate, stimulus.channels, stimulus.seconds, image)

    problems: list[str] = []
    seen: dict[Path, Picture | None] = {}
    for trial in test.trials:
        outcomes = [form(source) for source in _sources(trial)]
        if max_samples is not None and held > max_samples:
            minutes = max_samples / 48_000 / 60
            return [f"The sounds last too long together: {minutes:.0f} min at 48 kHz are the most."]
        problems += [each for each in outcomes if isinstance(each, str)]
        forms = [each for each in outcomes if isinstance(each, Format)]
        problems += _differences(test, trial, forms)
        for source, each in zip(_sources(trial), outcomes, strict=True):
            if isinstance(each, Format):
                seen[source.path] = each.picture
    if any(seen.values()):
        problems += [
            f"{path.relative_to(test.folder)}: It has no picture, and others have one. Use videos "
            "throughout, or sounds."
            for path, image in seen.items()
            if image is None
        ]
    return list(dict.fromkeys(problems))


def prepare(test: Test, folder: Path, max_samples: int | None = None) -> dict[Path, Copy]:
    """Prepare what raters hear, by the path in the test's trials: copies in the folder, at the
    stated loudness; MUSHRA's anchors are made there too.

    Raises SpecError with all that check finds. A mark in the folder states that all was found good,
    so that no sound is decoded again until a file or the YAML's loudness changes.
    """
    sources = {
        path: source
        for trial in test.trials
        for path, source in zip(_paths(trial), _sources(trial), strict=True)
    }
    copies = Copies(folder, test, sources.values())
    if not copies.checked():
        if problems := check(test, max_samples, copies):
            raise SpecError("\n".join(problems))
        copies.mark()
    return {path: copies.of(source) for path, source in sources.items()}


def _paths(trial: Trial) -> Iterator[Path]:
    """Yield the paths of a trial's sounds, then that of the open reference where there is one."""
    yield from trial.sounds.values()
    if trial.reference:
        yield trial.reference


def _sources(trial: Trial) -> Iterator[Source]:
    """Yield the source of each of these paths."""
    reference = trial.reference or trial.sounds.get(REFERENCE)
    for name, path in trial.sounds.items():
        if name in ANCHORS and reference:
            yield Source(reference, ANCHORS[name])
        else:
            yield Source(path)
    if trial.reference:
        yield Source(trial.reference)


def _prepared(source: Source, lufs: float | None) -> Stimulus:
    """Make the sound as raters hear it. Raises InputError for one that must not be played."""
    read, cutoff = read_stimulus(source.path), source.cutoff
    samples, rate = read.samples, read.sample_rate
    if cutoff is not None:
        if cutoff >= rate / 2:
            raise InputError(f"There is nothing to cut off at {rate} Hz. Use a higher rate.")
        samples = low_pass(samples, rate, cutoff)
    elif lufs is None:
        if read.peak > 0:
            raise InputError(
                f"Its peaks are {read.peak:.1f} dB over full scale: state a loudness in the test, "
                "or make it less loud."
            )
        return read
    stimulus = Stimulus(samples, rate)
    full_gain = 0.0 if lufs is None else lufs - stimulus.level
    gain = min(full_gain, MAX_PEAK - stimulus.peak)
    if full_gain - gain > LOUDNESS_TOLERANCE:
        raise InputError(
            f"Its peaks allow {stimulus.level + gain:.1f} LUFS, but {lufs} is stated: "
            "state a lower loudness."
        )
    return Stimulus((samples * 10 ** (gain / 20)).astype(samples.dtype), rate)


def _differences(test: Test, trial: Trial, forms: list[Format]) -> list[str]:
    """List how the sounds of a trial differ where they must not, and what is too much of their
    pictures."""
    where = f"{trial.stimulus} ({', '.join(trial.sounds)})"
    pictures = trial_pictures([form.picture for form in forms])
    together = test.design.switched and test.strict
    problems = [f"{where}: {problem}" for problem in trial_problems(pictures, together)]
    if not test.design.alike or not forms:
        return problems
    rates, channels, seconds = ({*values} for values in list(zip(*forms, strict=True))[:3])
    lasting = max(seconds) - min(seconds)
    if len(rates) > 1:
        listing = ", ".join(f"{rate} Hz" for rate in sorted(rates))
        problems.append(f"{where}: sampling rates differ ({listing}). Resample them to one.")
    if len(channels) > 1:
        problems.append(f"{where}: some are mono and some are not. Make them alike.")
    if together and lasting > LENGTH_TOLERANCE:
        problems.append(
            f"{where}: lengths differ by {lasting:.3f} s. Cut them to one length, or write "
            "strict: false: then a switch begins the sound anew."
        )
    return problems


def read_stimulus(path: Path) -> Stimulus:
    """Read the file's sound. Raises InputError, with the reason, for one that must not be
    played: missing, not audio, cut off, silent, clipped, not finite, longer than ten minutes, or of
    more than MAX_SOUND_SAMPLES.
    """
    if not path.is_file():
        raise InputError("The file is missing.")
    blocks, rate, damaged, lossless = decode(path, MAX_SECONDS)
    if damaged or len({len(block) for block in blocks}) > 1:
        raise InputError("The file is damaged or cut off.")
    if sum(block.size for block in blocks) > MAX_SOUND_SAMPLES:
        raise InputError(TOO_MUCH)
    samples = np.concatenate(blocks, axis=1).T
    del blocks
    if not np.isfinite(samples).all():
        raise InputError("It holds values that are not numbers (NaN or infinity).")
    if not samples.size or _peak(samples) < SILENT_PEAK:
        raise InputError("It is silent.")
    if _clipped(samples, lossless):
        raise InputError("It is clipped: make it again, less loud.")
    return Stimulus(samples, rate)


def _peak(samples: np.ndarray) -> float:
    """Find the largest magnitude, without a copy of all samples."""
    return max(float(samples.max()), -float(samples.min()))


def _clipped(samples: np.ndarray, lossless: bool) -> bool:
    """Whether three samples on end stay at full scale, or, where the codec is not lossless,
    some pass it as clipped sound does after MP3; two may be a peak.
    """
    over = 0
    for start in range(0, len(samples), BLOCK):
        block = samples[start : start + BLOCK + 2]  # two more, for three on end may span blocks
        stays = (np.abs(block[1:]) >= FULL_SCALE) & (np.diff(block, axis=0) == 0)
        if np.any(stays[1:] & stays[:-1]):
            return True
        over += int(np.sum(np.abs(block[:BLOCK]) > 1))
    return over > 2 and not lossless


def low_pass(samples: np.ndarray, sample_rate: int, cutoff: float) -> np.ndarray:
    """Remove from samples (T,) or (T, channels) what is above cutoff (Hz); they stay as they are
    where they hold nothing there.
    """
    if cutoff >= sample_rate / 2:
        return samples
    from scipy.signal import ellip, sosfiltfilt  # late, for they take half a second of work

    sections = ellip(FILTER_ORDER, RIPPLE, STOP_BAND, cutoff, output="sos", fs=sample_rate)
    return sosfiltfilt(sections, samples, axis=0).astype(samples.dtype)
