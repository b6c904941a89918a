"""Systems of voice conversion side by side, ours and those of the operator, whose units are edited
and spoken again where they can be.

Everything a visitor has is immutable, as in view.py: an edit returns a new comparison.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import gradio as gr
import numpy as np

from earshot.core.errors import InputError
from earshot.media.audio.speech import Origin
from earshot.media.constants import SAMPLE_RATE
from earshot.media.pictures import viridis_colors
from earshot.systems.registry import Offer
from earshot.systems.voice_conversion import settings
from earshot.systems.voice_conversion.units import Units
from earshot.tabs.components.comparison import Comparison, Source, Take, at_one_loudness
from earshot.tabs.components.lanes import UnitCells
from earshot.tabs.components.side_by_side import SideBySide
from earshot.tabs.components.timeline import Action, SoundLanes, TimelineSpec
from earshot.tabs.shared.events import HIDDEN, SYSTEMS_QUEUE, Update, Values
from earshot.tabs.shared.gradio_internals import event_data
from earshot.tabs.shared.services import Services
from earshot.tabs.voice_conversion.speaking import SpeakingInputs
from earshot.tabs.voice_conversion.view import (
    MAX_UNDO,
    TOUCH_HINT,
    ConversionResult,
    apply_edit,
    rate,
    unit_actions,
)

if TYPE_CHECKING:
    from earshot.systems.plugged import PluggedConverter, PluggedSpeech
    from earshot.systems.voice_conversion.converter import Converter

NO_SOURCE: Final = "There is nothing to convert yet. Record or upload speech, or try an example."
NO_TAKES: Final = "Your speech by each system appears here, on one time axis."
NO_UNITS: Final = "There are no units to edit. Run a system that speaks its units first."
EDIT_HINT: Final = (
    "Click to select units, Shift-click to extend the selection, double-click to select a run."
)
GOLDEN_RATIO: Final = 0.618
MAX_NUMBERS: Final = 4096  # units of a system up to which they have the numbers that it gives them


@dataclass(frozen=True, eq=False, kw_only=True)
class EditableTake(Take):
    """A take of a plug-in that speaks units. system: its name; units: as they are shown, each an
    index of numbers; numbers: those of the plug-in; origin: of its speech."""

    system: str
    units: Units
    numbers: np.ndarray
    origin: Origin

    def edited(self, units: Units) -> "EditableTake":
        """Replace the units by others, not spoken yet."""
        cells = _unit_cells(self.label, units, self.numbers, selectable=True)
        return replace(self, units=units, lanes=[cells], stale=True)

    def respoken(self, speech: "PluggedSpeech") -> "EditableTake":
        """Replace the sound after the units were spoken again."""
        made_by = self.settings | {"target": speech.voice, "units": "edited"}
        notices = speech.notices
        return replace(
            self, speech=speech.speech, settings=made_by, notices=notices, measures={}, stale=False
        )


@dataclass(frozen=True)
class EditableComparison(Comparison):
    """A comparison of which some takes can be edited. past: what it was before each edit."""

    past: tuple["EditableComparison", ...] = ()

    def timeline(self) -> TimelineSpec:
        """Lay out the source and each take on one time axis, with the edit buttons."""
        spec, takes = super().timeline(), self._editable()
        if not takes:
            return spec
        highest = max(len(take.numbers) for take in takes) - 1
        actions: list[Action] = [
            action for action in unit_actions(highest, bool(self.past)) if action.name != "mute"
        ]
        return replace(spec, actions=actions, hint=EDIT_HINT, touch_hint=TOUCH_HINT)

    def edited(self, action: object, cells: object, unit: object) -> "EditableComparison":
        """Apply an edit to the units with these indices, which count through the lanes of all takes
        that can be edited. Raises InputError where there are none.
        """
        if action == "mute" or not isinstance(cells, list):
            raise InputError(NO_UNITS)
        takes, first = list(self.takes), 0
        for place, take in enumerate(takes):
            if not isinstance(take, EditableTake):
                continue
            after = first + len(take.units.codes)
            own = [i - first for i in cells if type(i) is int and first <= i < after]
            if own:
                size = len(take.numbers)
                units = apply_edit(action, take.units, own, unit=unit, codebook_size=size)
                takes[place] = take.edited(units)
            first = after
        if takes == list(self.takes):
            raise InputError("Choose one or more units first.")
        return replace(self, takes=takes, past=(*self.past, replace(self, past=()))[-MAX_UNDO:])

    def undone(self) -> "EditableComparison":
        """Go back to the comparison before its last edit, or keep it where there was none."""
        return replace(self.past[-1], past=self.past[:-1]) if self.past else self

    def _editable(self) -> list[EditableTake]:
        return [take for take in self.takes if isinstance(take, EditableTake)]


class ConversionSideBySide(SideBySide):
    """The systems of voice conversion side by side, in the voice that was chosen for the tab.

    speaking: the components in which it is chosen; audio, result: those of the source.
    """

    comparison = EditableComparison

    def __init__(
        self,
        offer: "Offer[Converter]",
        services: Services,
        audio: gr.Audio,
        result: gr.State,
    ) -> None:
        """Lay the panel out."""
        self.audio, self.conversion, self.judges = audio, result, services.judges
        super().__init__("conversion", offer, services, NO_TAKES)

    def follow(self, speaking: SpeakingInputs) -> None:
        """Connect the panel, which speaks as is chosen in these components."""
        self.speaking = speaking
        inputs = [self.audio, self.conversion, *speaking.components]
        self.wire(inputs)
        self.on(self.lanes.edit, self.edit, self.result, self.outputs, **HIDDEN)
        self.on_model(
            self.lanes.submit,
            self.speak,
            {self.result, *inputs},
            self.outputs,
            progress_on=self.lanes,
            start=self.start,
            stop=self.stop,
            queue=SYSTEMS_QUEUE,
        )

    def source(self, values: Values) -> Source:
        """Return the recording, or else what is shown. Raises InputError where there is neither."""
        from earshot.media.audio.features import log_mel  # late, for they load SciPy
        from earshot.media.audio.load import load
        from earshot.media.audio.speech import Speech

        waveform = load(self._sound(values), SAMPLE_RATE, settings.MAX_SECONDS).waveform
        sound = SoundLanes.of(Speech(waveform, SAMPLE_RATE, log_mel(waveform), 0.0))
        return Source(sound.content, sound.lanes("Source"), sound.file("Source", "source"))

    def take(self, name: str, values: Values) -> Take:
        """Convert the source by a system to the chosen voice, and let judges measure it."""
        return self._measured(self._take(name, values), values)

    def edit(self, comparison: EditableComparison | None, event: gr.EventData) -> Update:
        """Apply an edit button to the selected units, without speaking them."""
        if comparison is None:
            raise InputError(NO_UNITS)
        data = event_data(event)
        if data.get("action") == "undo":
            return self.show(comparison.undone())
        edit = data.get("action"), data.get("cells"), data.get("number")
        return self.show(comparison.edited(*edit))

    def speak(
        self,
        values: Values,
        progress: gr.Progress = gr.Progress(),  # noqa: B008  (how Gradio asks for it)
    ) -> Update:
        """Let each system speak its units again where they were edited, in the chosen voice."""
        comparison: EditableComparison | None = values[self.result]
        stale = [take for take in comparison.takes if take.stale] if comparison else []
        if not comparison or not stale:
            raise InputError("Edit units first: nothing waits to be spoken.")
        spoken, takes = self.speaking.read(values), list(comparison.takes)
        for place, take in enumerate(takes):
            if not isinstance(take, EditableTake) or not take.stale:
                continue
            progress(0.3, desc=f"{take.label} is speaking {len(take.units.codes)} units")
            system: Any = self.offer.any(take.system)
            numbers = take.numbers[take.units.codes].tolist()
            voice = spoken.voice, spoken.sample
            speech = system.decode(numbers, take.units.step, take.origin, *voice)
            takes[place] = self._measured(take.respoken(speech), values)
        return self.show(replace(comparison, takes=at_one_loudness(takes)))

    def _measured(self, take: Take, values: Values) -> Take:
        if not self.judges:
            return take
        from earshot.pretrained.judges import measured  # late, for they load SciPy

        sample = self.speaking.read(values).sample
        sounds = (take.speech.sample_rate, take.speech.waveform), self._sound(values), sample
        return replace(take, measures=measured(self.judges, *sounds))

    def _take(self, name: str, values: Values) -> Take:
        spoken, sound = self.speaking.read(values), self._sound(values)
        system: Any = self.offer.any(name)
        if name not in self.offer.plugged:
            conversion = system(sound, *spoken.arguments(system))
            units = conversion.units
            cells = UnitCells(
                f"{system.name} · {rate(conversion)}",
                tuple(units.codes.tolist()),
                units.step,
                system.colors,
            )
            label = self.offer.labels[name]
            return Take(
                label, conversion.converted, {"target": spoken.target}, [cells], conversion.notices
            )
        file = Path(sound).stem if isinstance(sound, str) else ""
        return _plugged_take(name, system, system(sound, spoken.voice, spoken.sample, file))

    def _sound(self, values: Values) -> str | bytes:
        past: ConversionResult | None = values[self.conversion]
        if recording := values[self.audio]:
            return recording
        if not past or not past.source:
            raise InputError(NO_SOURCE)
        return past.source.content


def _plugged_take(name: str, system: "PluggedConverter", speech: "PluggedSpeech") -> Take:
    """Make the take of a plug-in, which can be edited where it speaks units."""
    take = system.label, speech.speech, {"target": speech.voice}
    if not speech.units:
        return Take(*take, notices=speech.notices)
    codes, step = speech.units
    if min(codes) >= 0 and max(codes) < MAX_NUMBERS:
        numbers, indices = np.arange(max(codes) + 1), np.array(codes)
    else:
        numbers, indices = np.unique(codes, return_inverse=True)
    units = Units(indices, step, name, fingerprint="")
    lanes = [_unit_cells(system.label, units, numbers, system.speaks_units)]
    if not system.speaks_units or speech.speech.origin is None:
        return Take(*take, lanes, speech.notices)
    return EditableTake(
        *take,
        lanes,
        speech.notices,
        system=name,
        units=units,
        numbers=numbers,
        origin=speech.speech.origin,
    )


def _unit_cells(label: str, units: Units, numbers: np.ndarray, selectable: bool) -> UnitCells:
    """Draw the units of a plug-in, neighbours in colours far apart."""
    colors = viridis_colors(np.arange(len(numbers)) * GOLDEN_RATIO % 1)
    edited = () if units.edited is None else set(np.flatnonzero(units.edited).tolist())
    kinds = len(np.unique(units.codes))
    codes = tuple(units.codes.tolist())
    return UnitCells(
        f"{label} · {kinds} units", codes, units.step, colors, selectable, False, edited
    )
