"""One visitor's conversion as a Timeline and a line of numbers, the edits of its units, and the
finished one that is shown before a visitor's first, kept in assets/examples.

Everything is immutable: an edit returns a new result, and undo goes back to the old units. Cells
are indices of selected units. They come from a browser: InputError unless all lie in the sequence.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from math import isinf
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from markupsafe import Markup

from earshot.core.errors import InputError
from earshot.core.paths import ASSETS
from earshot.media.audio.speech import LABEL
from earshot.provenance.notice import with_notice
from earshot.study.design.draft import DraftItem
from earshot.systems.voice_conversion.settings import CONTINUOUS, MAX_SECONDS, MUTED, NO_SPEECH
from earshot.systems.voice_conversion.units import Units
from earshot.tabs.components.lanes import Lane, UnitCells
from earshot.tabs.components.timeline import Action, File, SoundLanes, TimelineSpec, wav
from earshot.tabs.shared.html import figures_in_bold, render
from earshot.tabs.voice_conversion.speaking import Speaking

if TYPE_CHECKING:
    from earshot.media.audio.speech import Speech
    from earshot.systems.voice_conversion import Conversion
    from earshot.systems.voice_conversion.converter import Converter

MAX_UNDO: Final = 50
HINT: Final = (
    "Click to select units, Shift-click to extend the selection, double-click to select a run. "
    "Space plays; 1 and 2 switch between source and conversion."
)
TOUCH_HINT: Final = "Hold a finger on the units to select some, and slide to extend the selection."
FINISHED: Final = ASSETS / "examples" / "finished.json"


def apply_edit(
    action: object, units: Units, cells: Sequence[int], *, unit: object, codebook_size: int
) -> Units:
    """Apply the edit named `action` to units.

    unit: what "replace" puts in. Raises InputError for an action that does not exist and for
    arguments that it cannot take.
    """
    match action:
        case "mute":
            return mute_units(units, cells)
        case "delete":
            return delete_units(units, cells)
        case "repeat":
            return repeat_units(units, cells)
        case "replace":
            if not isinstance(unit, int) or not 0 <= unit < codebook_size:
                raise InputError(f"Units are numbered from 0 to {codebook_size - 1}.")
            return replace_units(units, cells, unit)
    raise InputError("There is no such edit. Use Mute, Delete, Repeat, Replace by or Undo.")


def mute_units(units: Units, cells: Sequence[int]) -> Units:
    """Replace the chosen units by silence of the same duration."""
    return replace_units(units, cells, MUTED)


def delete_units(units: Units, cells: Sequence[int]) -> Units:
    """Remove the chosen units; later ones move up. Raises InputError if none would remain."""
    remaining = np.delete(np.arange(len(units.codes)), _indices(units, cells))
    if not len(remaining):
        raise InputError("At least one unit must stay.")
    return units.at(remaining)


def repeat_units(units: Units, cells: Sequence[int]) -> Units:
    """Insert a copy of each contiguous run of chosen units after it.

    Raises InputError if the result were longer than MAX_SECONDS.
    """
    indices = _indices(units, cells)
    if (len(units.codes) + len(indices)) * units.step > MAX_SECONDS:
        raise InputError(f"That would last longer than {MAX_SECONDS:g} s. Delete something first.")
    order = np.arange(len(units.codes))
    for run in reversed(np.split(indices, np.flatnonzero(np.diff(indices) > 1) + 1)):
        order = np.insert(order, run[-1] + 1, run)
    return units.at(order)


def replace_units(units: Units, cells: Sequence[int], unit: int) -> Units:
    """Set the chosen units to `unit`."""
    return units.put(_indices(units, cells), unit)


def _indices(units: Units, cells: Sequence[int]) -> np.ndarray:
    """Sort the chosen indices, without repetitions."""
    whole = isinstance(cells, Sequence) and all(type(index) is int for index in cells)
    if not whole or not cells or min(cells) < 0 or max(cells) >= len(units.codes):
        raise InputError("Choose one or more units first.")
    return np.unique(cells)


@dataclass(frozen=True)
class ConversionResult:
    """A conversion and its edits.

    spoken: the units of `converted`; target, voice: who says it, as programs and as people call
    them; recording: the path of the file that it was made of, where it was one; past: for undo;
    announced: the file to download, where a notice is spoken before it; ingredient: the signed
    metadata of the recording, if it has any, which what is made of it later carries too;
    has_speech: whether speech was found in the source.
    """

    units: Units
    spoken: Units
    colors: tuple[str, ...]
    source: SoundLanes | None
    converted: SoundLanes
    target: str
    voice: str
    vocoder: str
    numbers: str
    recording: str | None = None
    has_speech: bool = True
    past: tuple[Units, ...] = ()
    announced: bytes = b""
    ingredient: bytes = b""

    @classmethod
    def of(
        cls,
        conversion: "Conversion",
        pipeline: "Converter",
        spoken: Speaking,
        recording: str | None = None,
    ) -> "ConversionResult":
        """Take what a tab shows from a conversion; recording: the path of its file."""
        units = conversion.units
        return cls(
            units,
            units,
            tuple(pipeline.colors),
            SoundLanes.of(conversion.source),
            SoundLanes.of(conversion.converted),
            spoken.target,
            spoken.label,
            spoken.vocoder,
            numbers(conversion),
            recording,
            NO_SPEECH not in conversion.notices,
            announced=announced(conversion.converted, spoken),
            ingredient=origin.ingredient if (origin := conversion.converted.origin) else b"",
        )

    @classmethod
    def loaded(
        cls, units: Units, speech: "Speech", pipeline: "Converter", spoken: Speaking
    ) -> "ConversionResult":
        """Make the result of units that were loaded without their recording."""
        line, sound = spoken_numbers(units, speech), SoundLanes.of(speech)
        voice, notice = (spoken.target, spoken.label, spoken.vocoder), announced(speech, spoken)
        colors = tuple(pipeline.colors)
        return cls(units, units, colors, None, sound, *voice, line, announced=notice)

    @property
    def stale(self) -> bool:
        """Whether the units were edited after they were synthesised."""
        return self.units is not self.spoken

    def is_of(self, recording: str | None, pipeline: "Converter") -> bool:
        """Whether its units are those of a recording, None: of what is shown, by a pipeline."""
        own = self.units.model, self.units.fingerprint
        same = recording in (None, self.recording)
        return same and own == (pipeline.name, pipeline.fingerprint)

    def edited(self, units: Units) -> "ConversionResult":
        """Replace the units by others, not synthesised yet."""
        return replace(self, units=units, past=(*self.past, self.units)[-MAX_UNDO:])

    def undone(self) -> "ConversionResult":
        """Go back to the result before its last edit, or keep it where there was none."""
        return replace(self, units=self.past[-1], past=self.past[:-1]) if self.past else self

    def speak(self, pipeline: "Converter", spoken: Speaking) -> "Speech":
        """Speak the units that are shown. Raises InputError where the model cannot."""
        sound = self.source.content if self.source else None
        speech = pipeline.decode(self.units, *spoken.arguments(pipeline, sound))
        return replace(
            speech, origin=speech.origin and replace(speech.origin, ingredient=self.ingredient)
        )

    def respoken(self, speech: "Speech", spoken: Speaking) -> "ConversionResult":
        """Replace the conversion after its units were synthesised again."""
        return replace(
            self,
            spoken=self.units,
            converted=SoundLanes.of(speech),
            target=spoken.target,
            voice=spoken.label,
            vocoder=spoken.vocoder,
            numbers=spoken_numbers(self.units, speech),
            announced=announced(speech, spoken),
        )

    def line(self) -> Markup:
        """Write the line of numbers as HTML, figures in bold."""
        return figures_in_bold(self.numbers)

    def source_lanes(self) -> list[Lane]:
        """List the lanes of its source, where it has one, and its units, to look at."""
        source = self.source.lanes("Source") if self.source else []
        return [*source, self.unit_cells(selectable=False)]

    @property
    def _kinds(self) -> str:
        """Say what each step is; continuous content is drawn as units, and spoken as it is."""
        if self.units.model == CONTINUOUS:
            return f"coloured by the nearest of {len(self.colors)}"
        return f"each one of {len(self.colors)}"

    def unit_cells(self, selectable: bool) -> UnitCells:
        """Draw the units as a lane."""
        steps = f"{len(self.units.codes)} steps of {1000 * self.units.step:.0f} ms"
        return UnitCells(
            f"Units · {steps}, {self._kinds}",
            tuple(self.units.codes.tolist()),
            self.units.step,
            self.colors,
            selectable=selectable,
            edited=set()
            if self.units.edited is None
            else set(np.flatnonzero(self.units.edited).tolist()),
        )

    def timeline(self, answer: bool) -> TimelineSpec:
        """Lay out source, units and conversion on one time axis, with the edit buttons.

        answer: whether the conversion plays once it is shown.
        """
        voice = f"{self.voice}, {self.vocoder} vocoder"
        note = "edited, not spoken yet" if self.stale else voice
        source = self.source.lanes("Source") if self.source else []
        converted = self.converted.lanes(f"Converted · {note}", self.stale)
        files = [self.source.file("Source", "source")] if self.source else []
        sound = replace(self.converted, content=self.announced or self.converted.content)
        downloads = (
            sound.file(sound.suffix.upper(), "converted"),
            File("Units", "units.json", self.units.to_json().encode()),
        )
        return TimelineSpec(
            name="Source, units and conversion on one time axis",
            lanes=[*source, self.unit_cells(selectable=True), *reversed(converted)],
            tracks=[*files, self.converted.file("Converted", "converted")],
            downloads=downloads,
            actions=unit_actions(len(self.colors) - 1, bool(self.past), self.colors),
            hint=HINT,
            touch_hint=TOUCH_HINT,
            answer=[len(files)] if answer else [],
        )


def announced(speech: "Speech", spoken: Speaking) -> bytes:
    """Write speech with the notice that its download has; nothing where it has none."""
    longer = with_notice(speech, spoken.notice)
    return b"" if longer is speech else wav(longer)


def unit_actions(highest: int, can_undo: bool, colors: Sequence[str] = ()) -> Sequence[Action]:
    """List the edit buttons of a unit strip. highest: number of a unit; colors: of all units, where
    they can be chosen from a palette."""
    return (
        Action("mute", "Mute", key="m"),
        Action("delete", "Delete", key="Delete"),
        Action("repeat", "Repeat", key="r"),
        Action("replace", "Replace by", highest=highest, colors=colors),
        Action("undo", "Undo", needs_cells=False, key="u", enabled=can_undo),
        Action("speak", "Speak it again", event="submit", needs_cells=False),
    )


def numbers(conversion: "Conversion") -> str:
    """Write the line of numbers under a conversion."""
    return (
        f"{len(conversion.units.codes)} units · {rate(conversion)} · "
        f"{conversion.compute_seconds:.1f} s · {conversion.real_time_factor:.2f}× real time"
    )


def rate(conversion: "Conversion") -> str:
    """Write what passed from the source to the conversion, in bit/s."""
    if isinf(conversion.unit_bits):
        return "continuous content, not limited in bit/s"
    parts = f"{conversion.unit_bits:.0f} bit/s"
    if conversion.intonation_bits:
        parts += f" · {conversion.intonation_bits:.0f} bit/s of intonation"
    return f"{parts} · {conversion.compression:,.0f}× smaller than 16-bit PCM"


def spoken_numbers(units: Units, speech: "Speech") -> str:
    """Write the line of numbers under units that were synthesised without a recording."""
    length = len(speech.waveform) / speech.sample_rate
    return (
        f"{len(units.codes)} units · {length:.1f} s of speech · "
        f"{speech.compute_seconds:.1f} s to speak · "
        f"{speech.compute_seconds / length:.2f}× real time"
    )


def draft_item(result: ConversionResult | None) -> DraftItem | None:
    """Make an item of a listening test of the conversion and its source; None where there is no
    source.
    """
    if result is None or result.source is None:
        return None
    units = result.spoken
    chosen = {"model": units.model, "target": result.target, "vocoder": result.vocoder}
    return DraftItem(
        system=" ".join(chosen.values()),
        sound=result.converted.content,
        source=result.source.content,
        settings=chosen | {"units": units.codes.tolist(), "numbers": result.numbers},
    )


def write_finished(result: ConversionResult) -> None:
    """Write the example that the tab shows before its first run, next to its sounds."""
    sounds = {"source": result.source, "converted": result.converted}
    data: dict[str, Any] = {
        "units": json.loads(result.units.to_json()),
        "colors": result.colors,
        "target": result.target,
        "voice": result.voice,
        "vocoder": result.vocoder,
        "numbers": result.numbers,
    }
    for name, sound in sounds.items():
        if sound is None:
            raise ValueError("the finished example needs a source")
        data[name] = asdict(sound) | {"content": f"finished-{name}.{sound.suffix}"}
        (FINISHED.parent / data[name]["content"]).write_bytes(sound.content)
    FINISHED.write_text(json.dumps(data) + "\n")


def first_card(header: str, sounds: str) -> Markup:
    """Write the finished example as HTML that needs no script of Gradio's, nothing where there is
    none. header: above it; sounds: the address where its files are."""
    result = read_finished()
    if result is None:
        return Markup()
    codes, count = result.units.codes.tolist(), len(result.units.codes)
    edges = [0, *(i for i in range(1, count) if codes[i] != codes[i - 1]), count]
    colors = {MUTED: "transparent", **dict(enumerate(result.colors))}
    stops = (
        f"{colors[codes[start]]} {start / count:.2%} {end / count:.2%}"
        for start, end in pairwise(edges)
    )
    units = f"linear-gradient(90deg, {', '.join(stops)})"
    voice, page = result.voice, Markup(header)
    values = {"header": page, "sounds": sounds, "voice": voice, "label": LABEL, "units": units}
    return render("voice_conversion/first_card.html", **values)


def read_finished() -> ConversionResult | None:
    """Read the example that the tab shows before its first run; None where none was made."""
    if not FINISHED.exists():
        return None
    data = json.loads(FINISHED.read_text())
    units = Units.from_json(json.dumps(data["units"]))
    source, converted = (
        SoundLanes(
            **data[name]
            | {
                "content": (FINISHED.parent / data[name]["content"]).read_bytes(),
                "synthetic": name == "converted",
            }
        )
        for name in ("source", "converted")
    )
    return ConversionResult(
        units,
        units,
        tuple(data["colors"]),
        source,
        converted,
        data["target"],
        data["voice"],
        data["vocoder"],
        data["numbers"],
    )
