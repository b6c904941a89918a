"""One visitor's conversion as a Timeline and a line of numbers.

Everything is immutable: an edit returns a new Result, and undo goes back to the old units.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from math import isinf
from typing import TYPE_CHECKING, Final

from earshot.pipelines.voice_conversion.units import Units
from earshot.tabs.components.timeline.lanes import UnitCells
from earshot.tabs.components.timeline.sound import Sound
from earshot.tabs.components.timeline.timeline import Action, File, TimelineSpec

if TYPE_CHECKING:
    from earshot.pipelines.speech import Speech
    from earshot.pipelines.voice_conversion import Conversion
    from earshot.pipelines.voice_conversion.converter import Converter

MAX_UNDO: Final = 50
HINT: Final = (
    "Click to select units, Shift-click to extend the selection, double-click to select a run."
)


@dataclass(frozen=True)
class Result:
    """A conversion and its edits. spoken: the units of `converted`; past: for undo."""

    units: Units
    spoken: Units
    colors: tuple[str, ...]
    source: Sound | None
    converted: Sound
    target: str
    vocoder: str
    numbers: str
    past: tuple[Units, ...] = ()

    @classmethod
    def of(
        cls, conversion: "Conversion", pipeline: "Converter", target: str, vocoder: str
    ) -> "Result":
        units = conversion.units
        return cls(
            units,
            units,
            tuple(pipeline.colors),
            Sound.of(conversion.source),
            Sound.of(conversion.converted),
            target,
            vocoder,
            numbers(conversion),
        )

    @classmethod
    def loaded(
        cls,
        units: Units,
        speech: "Speech",
        pipeline: "Converter",
        target: str,
        vocoder: str,
    ) -> "Result":
        """The result of units that were loaded without their recording."""
        line = spoken_numbers(units, speech)
        colors = tuple(pipeline.colors)
        return cls(units, units, colors, None, Sound.of(speech), target, vocoder, line)

    @property
    def stale(self) -> bool:
        """Whether the units were edited after they were synthesised."""
        return self.units is not self.spoken

    def edited(self, units: Units) -> "Result":
        """The result with other units, not synthesised yet."""
        return replace(self, units=units, past=(*self.past, self.units)[-MAX_UNDO:])

    def undone(self) -> "Result":
        """The result before its last edit, or unchanged where there was none."""
        return replace(self, units=self.past[-1], past=self.past[:-1]) if self.past else self

    def respoken(self, speech: "Speech", target: str, vocoder: str) -> "Result":
        """The result after its units were synthesised again."""
        return replace(
            self,
            spoken=self.units,
            converted=Sound.of(speech),
            target=target,
            vocoder=vocoder,
            numbers=spoken_numbers(self.units, speech),
        )

    def line(self) -> str:
        """The line of numbers as HTML, figures in bold."""
        parts = [part.split(" ", 1) for part in self.numbers.split(" · ")]
        return " · ".join(f"<b>{escape(figure)}</b> {escape(rest)}" for figure, rest in parts)

    def timeline(self) -> TimelineSpec:
        """Source, units and conversion on one time axis, with the edit buttons."""
        voice = f"{self.target}, {self.vocoder} vocoder"
        note = "edited, not spoken yet" if self.stale else voice
        units = UnitCells(
            f"Units · {len(self.units.codes)} by {self.units.model}",
            tuple(self.units.codes.tolist()),
            self.units.step,
            self.colors,
            selectable=True,
        )
        source = self.source.lanes("Source") if self.source else []
        converted = self.converted.lanes(f"Converted · {note}", self.stale)
        files = [self.source.file("Source", "source")] if self.source else []
        downloads = (
            self.converted.file(self.converted.suffix.upper(), "converted"),
            File("Units", "units.json", self.units.to_json().encode()),
        )
        return TimelineSpec(
            name="Source, units and conversion on one time axis",
            lanes=[*source, units, *reversed(converted)],
            tracks=[*files, self.converted.file("Converted", "converted")],
            downloads=downloads,
            actions=actions(len(self.colors) - 1, bool(self.past)),
            hint=HINT,
        )


def actions(highest: int, can_undo: bool) -> Sequence[Action]:
    """The edit buttons of the unit strip."""
    return (
        Action("mute", "Mute", key="m"),
        Action("delete", "Delete", key="Delete"),
        Action("repeat", "Repeat", key="r"),
        Action("replace", "Replace by", highest=highest),
        Action("undo", "Undo", needs_cells=False, key="u", enabled=can_undo),
        Action("speak", "Speak it again", event="submit", needs_cells=False),
    )


def numbers(conversion: "Conversion") -> str:
    """The line of numbers under a conversion."""
    return (
        f"{len(conversion.units.codes)} units · {rate(conversion)} · "
        f"{conversion.compute_seconds:.1f} s · {conversion.real_time_factor:.2f}× real time"
    )


def rate(conversion: "Conversion") -> str:
    """What passed from the source to the conversion, in bit/s."""
    if isinf(conversion.unit_bits):
        return "continuous content, not limited in bit/s"
    parts = f"{conversion.unit_bits:.0f} bit/s"
    if conversion.intonation_bits:
        parts += f" · {conversion.intonation_bits:.0f} bit/s of intonation"
    return f"{parts} · {conversion.compression:,.0f}× smaller than 16-bit PCM"


def spoken_numbers(units: Units, speech: "Speech") -> str:
    """The line of numbers under units that were synthesised without a recording."""
    length = len(speech.waveform) / speech.sample_rate
    return (
        f"{len(units.codes)} units · {length:.1f} s of speech · "
        f"{speech.compute_seconds:.1f} s to speak · "
        f"{speech.compute_seconds / length:.2f}× real time"
    )
