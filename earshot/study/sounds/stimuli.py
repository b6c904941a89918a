"""Check the sounds of a test before it opens, and prepare the copies that raters hear."""

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from earshot.core.errors import InputError
from earshot.study.design import ANCHORS, REFERENCE, Test, Trial
from earshot.study.design.yaml_lines import SpecError
from earshot.study.sounds import sound
from earshot.study.sounds.anchors import low_pass
from earshot.study.sounds.copies import Copies, Copy, Source
from earshot.study.sounds.sound import Stimulus

LOUDNESS_TOLERANCE = 0.5  # LU
MAX_PEAK = -0.1  # dBFS, of copies
LENGTH_TOLERANCE = 0.01  # seconds, between sounds that are switched at the same position
MAX_SAMPLES = 300_000_000  # of all sounds of a test that a visitor brings: 100 min at 48 kHz


class Format(NamedTuple):
    """The format that sounds of one trial must share."""

    sample_rate: int
    channels: int
    seconds: float


def check(
    test: Test,
    max_samples: int | None = None,
    keep: Callable[[Source, Stimulus], None] | None = None,
) -> list[str]:
    """List what must be mended before the test can open, a sentence each; nothing when all is well.

    Every file must be there, be decodable and neither silent nor clipped, and reach the stated
    loudness within 0.5 LU; sounds to be compared must have one rate and one number of channels, in
    a strict mushra one length too. With max_samples, all sounds together may hold so many
    (channels × rate × seconds). keep gets every sound as raters hear it.
    """
    held = 0

    @cache
    def form(source: Source) -> Format | str:
        nonlocal held
        try:
            heard = _heard(source, test.loudness)
            held += heard.samples.size
            if keep:
                keep(source, heard)
        except InputError as error:
            anchor = f", anchor at {source.cutoff:g} Hz" if source.cutoff else ""
            return f"{source.path.relative_to(test.folder)}{anchor}: {error}"
        return Format(heard.sample_rate, heard.channels, heard.seconds)

    problems: list[str] = []
    for trial in test.trials:
        found = [form(source) for source in _sources(trial)]
        if max_samples is not None and held > max_samples:
            minutes = max_samples / 48_000 / 60
            return [f"The sounds last too long together: {minutes:.0f} min at 48 kHz are the most."]
        problems += [each for each in found if isinstance(each, str)]
        forms = [each for each in found if isinstance(each, Format)]
        problems += _differences(test, trial, forms)
    return list(dict.fromkeys(problems))


def prepare(test: Test, folder: Path, max_samples: int | None = None) -> dict[Path, Copy]:
    """Prepare what raters hear, by the path in the test's trials: copies in the folder, at the
    stated loudness; MUSHRA's anchors are made there too.

    Raises SpecError with all that check finds. A mark in the folder says that all was found good,
    so that no sound is decoded again until a file or the YAML's loudness changes.
    """
    sources = {
        path: source
        for trial in test.trials
        for path, source in zip(_paths(trial), _sources(trial), strict=True)
    }
    copies = Copies(folder, test, sources.values())
    if not copies.checked():
        if problems := check(test, max_samples, copies.write):
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


def _heard(source: Source, lufs: float | None) -> Stimulus:
    """Make the sound as raters hear it. Raises InputError for one that they should not hear."""
    read, cutoff = sound.read(source.path), source.cutoff
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
    heard = Stimulus(samples, rate)
    wanted = 0.0 if lufs is None else lufs - heard.level
    gain = min(wanted, MAX_PEAK - heard.peak)
    if wanted - gain > LOUDNESS_TOLERANCE:
        raise InputError(
            f"Its peaks allow {heard.level + gain:.1f} LUFS, but {lufs} is stated: "
            "state a lower loudness."
        )
    return Stimulus((samples * 10 ** (gain / 20)).astype(samples.dtype), rate)


def _differences(test: Test, trial: Trial, forms: list[Format]) -> list[str]:
    """Say how the sounds of a trial differ where they must not."""
    if not test.design.alike or not forms:
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
    if test.design.together and test.strict and lasting > LENGTH_TOLERANCE:
        problems.append(
            f"{where}: lengths differ by {lasting:.3f} s. Cut them to one length, or write "
            "strict: false: then a switch begins the sound anew."
        )
    return problems
