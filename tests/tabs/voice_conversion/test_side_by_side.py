"""Systems side by side on one source: what is heard, what fails, what can be tested."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
import numpy as np
import pytest
from gradio.components import Component

from earshot.core.errors import InputError, PlugInError
from earshot.core.paths import ASSETS
from earshot.media.audio import features
from earshot.media.audio.load import loudness, wav_bytes
from earshot.media.audio.speech import Speech
from earshot.media.constants import SAMPLE_RATE
from earshot.pretrained.judges import SIMILARITY, WORDS, Judge
from earshot.systems.adapters import Precomputed
from earshot.systems.plug_in import PlugIn
from earshot.systems.plugged import PluggedConverter
from earshot.systems.registry import Offer
from earshot.systems.voice_conversion.units import Units
from earshot.tabs.components.blind_vote import Ballot, Votes
from earshot.tabs.components.side_by_side import about_systems
from earshot.tabs.shared import events
from earshot.tabs.shared.gradio_internals import example_for_input
from earshot.tabs.shared.services import Services
from earshot.tabs.voice_conversion.side_by_side import ConversionSideBySide, EditableTake
from earshot.tabs.voice_conversion.speaking import Speaking

TONE = np.sin(np.arange(SAMPLE_RATE) / 9).astype(np.float32) / 4


class Ours:
    """Converts to the source itself, in one unit."""

    name, colors = "ours", ("#000000",)
    intonations, voices = ("keep",), ("TF2",)

    def __call__(self, audio: bytes, target: str, vocoder: str, intonation: str) -> object:
        speech = Speech(TONE, SAMPLE_RATE, features.log_mel(TONE), 0.1)
        units = Units(np.zeros(50, int), 0.02, "units-64", "f")
        kinds = {"units": units, "converted": speech, "notices": (), "unit_bits": float("inf")}
        return type("Made", (), kinds | {"compute_seconds": 0.1})


class Theirs:
    """Is twice as loud, and shows units."""

    voices = ("low",)
    unit_seconds = 0.1

    def __call__(self, waveform: np.ndarray, sample_rate: int, target: str) -> Any:
        return waveform * 2, sample_rate

    def encode(self, waveform: np.ndarray, sample_rate: int) -> list[int]:
        return [7, 7, 3000, 7, 1, 1, 1, 1, 1, 1]


def fails() -> object:
    raise RuntimeError


class Page:
    """The panel with its values."""

    def __init__(self, services: Services) -> None:
        self.plug_ins: dict[str, Any] = {
            "ours": Ours(),
            "theirs": PluggedConverter("theirs", PlugIn("Theirs", Theirs, Path("t.py"))),
        }
        labels, plugged = {"ours": "Ours"}, {"theirs": "Theirs", "broken": "Broken"}
        with gr.Blocks() as self.blocks:
            offer = Offer(lambda name: self.plug_ins.get(name) or fails(), labels, plugged)
            self.panel = ConversionSideBySide(offer, services, gr.Audio(), gr.State())
        self.panel.speaking = self  # type: ignore[assignment]
        recording = wav_bytes(TONE, SAMPLE_RATE)
        self.values = {self.panel.audio: recording, self.panel.conversion: None}

    def read(self, values: object) -> Speaking:
        return Speaking("TF2")

    def run(self, *names: Any) -> list[Any]:
        return list(self.panel.run({**self.values, self.panel.systems: list(names)}, gr.Progress()))


def test_each_system_is_on_the_timeline_as_loud_as_the_others() -> None:
    page = Page(Services())
    first, last = page.run("ours", "theirs")
    assert len(first[page.panel.result].takes) == 1
    comparison = last[page.panel.result]
    levels = [loudness(t.speech.waveform, t.speech.sample_rate) for t in comparison.takes]
    assert levels[0] == pytest.approx(levels[1], abs=0.1)
    timeline = comparison.timeline()
    assert [track.name for track in timeline.tracks] == ["Ours", "Theirs", "Source"]
    labels = [lane.label for lane in timeline.lanes]
    assert "Theirs · 3 units" in labels and "2 · Theirs" in labels
    table = last[page.panel.table]
    assert "Theirs has no such voice, and speaks as low." in table and ">1.0 s<" in table
    items = comparison.draft_items()
    assert [item.system for item in items] == ["Ours TF2", "Theirs low"]
    assert len({item.stimulus for item in items}) == 1


def test_system_that_fails_leaves_the_others() -> None:
    page = Page(Services(plug_in_faults=["bad.py failed: SyntaxError in bad.py, line 1."]))
    last = page.run("broken", "theirs", "nowhere")[-1]
    assert [take.label for take in last[page.panel.result].takes] == ["Theirs"]
    table = last[page.panel.table]
    assert "Broken failed." in table and "There is no model" in table
    assert "bad.py, line 1" in str(page.blocks.get_config_file())


def test_judges_measure_each_system() -> None:
    """One that is not installed is left out."""

    def score(result: np.ndarray, source: Any, target: Any) -> float:
        assert len(result) == len(source) == SAMPLE_RATE and len(target) > SAMPLE_RATE
        return 0.5

    there = Judge(WORDS, "any", "1", "", score)
    missing = Judge(SIMILARITY, "none", "", "it is not installed", score)
    page = Page(Services(judges=[there, missing]))
    last = page.run("ours", "theirs")[-1]
    assert [take.measures for take in last[page.panel.result].takes] == 2 * [{"Words kept": "50%"}]
    assert "Words kept" in last[page.panel.table] and ">50%<" in last[page.panel.table]


class SpeaksUnits(Theirs):
    """Says a unit as a tone of its number times 100 Hz."""

    def encode(self, waveform: np.ndarray, sample_rate: int) -> list[int]:
        return [2, 2, 5]

    def decode(self, units: np.ndarray, target: str) -> Any:
        assert target == "low" and units.dtype == np.int64
        times = np.arange(1600) / SAMPLE_RATE
        tones = [np.sin(2 * np.pi * 100 * unit * times) / 2 for unit in units]
        return np.concatenate(tones).astype(np.float32), SAMPLE_RATE


def edited(page: Page, comparison: Any, **data: Any) -> Any:
    event: Any = SimpleNamespace(_data=data)
    return page.panel.edit(comparison, event)[page.panel.result]


def units_of(comparison: Any) -> list[list[int]]:
    takes = [take for take in comparison.takes if isinstance(take, EditableTake)]
    return [take.numbers[take.units.codes].tolist() for take in takes]


def test_units_of_plug_ins_are_edited_and_spoken_again() -> None:
    """Cells count through the lanes of all systems that speak units, and only through those."""
    page = Page(Services())
    for name in ("broken", "ours"):
        plug_in = PlugIn(name.title(), SpeaksUnits, Path("t.py"))
        page.plug_ins[name] = PluggedConverter(name, plug_in)
    page.panel.offer.plugged["ours"] = "Ours"  # type: ignore[index]
    first = page.run("broken", "theirs", "ours")[-1][page.panel.result]
    selectable = [lane.selectable for lane in first.timeline().lanes if hasattr(lane, "selectable")]
    assert selectable == [True, False, True]
    second = edited(page, first, action="replace", cells=[1, 3], number=4)
    assert units_of(second) == [[2, 4, 5], [4, 2, 5]]
    assert [take.stale for take in second.takes] == [True, False, True]
    assert units_of(edited(page, second, action="delete", cells=[3, 4])) == [[2, 4, 5], [5]]
    assert units_of(edited(page, second, action="repeat", cells=[0, 1]))[0] == [2, 4, 2, 4, 5]
    values: dict[Component, Any] = {**page.values, page.panel.result: second}
    spoken = page.panel.speak(values, gr.Progress())[page.panel.result]
    take = spoken.takes[0]
    spectrum = np.abs(np.fft.rfft(take.speech.waveform[1600:3200]))
    assert np.argmax(spectrum) * SAMPLE_RATE / 1600 == 400
    assert not take.stale and take.settings == {"target": "low", "units": "edited"}
    assert take.speech.origin is not None and take.speech.origin.model == "Broken"
    assert [item.system for item in spoken.draft_items()][0] == "Broken low edited"
    assert units_of(edited(page, spoken, action="undo")) == [[2, 2, 5], [2, 2, 5]]
    assert units_of(edited(page, first, action="undo")) == units_of(first)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"action": "replace", "cells": [0], "number": 6}, "numbered from 0 to 5"),
        ({"action": "replace", "cells": [0], "number": None}, "numbered from 0 to 5"),
        ({"action": "delete", "cells": [0, 1, 2]}, "At least one unit must stay"),
        ({"action": "delete", "cells": [3]}, "Choose one or more units"),
        ({"action": "delete", "cells": ["0", None, -1, True]}, "Choose one or more units"),
        ({"action": "delete", "cells": None}, "no units to edit"),
        ({"action": "mute", "cells": [0]}, "no units to edit"),
        ({"action": "sing", "cells": [0]}, "no such edit"),
    ],
)
def test_edit_that_cannot_be_is_refused(data: dict[str, Any], message: str) -> None:
    page = Page(Services())
    plug_in = PlugIn("Theirs", SpeaksUnits, Path("t.py"))
    page.plug_ins["theirs"] = PluggedConverter("theirs", plug_in)
    comparison = page.run("theirs")[-1][page.panel.result]
    with pytest.raises(InputError, match=message):
        edited(page, comparison, **data)
    with pytest.raises(InputError, match="nothing waits to be spoken"):
        page.panel.speak({**page.values, page.panel.result: comparison}, gr.Progress())


def test_fault_of_speaking_units_is_the_systems_own() -> None:
    class Fails(SpeaksUnits):
        def decode(self, units: np.ndarray, target: str) -> Any:
            return np.full(100, np.nan, np.float32), SAMPLE_RATE

    page = Page(Services())
    plug_in = PlugIn("Theirs", Fails, Path("t.py"))
    page.plug_ins["theirs"] = PluggedConverter("theirs", plug_in)
    comparison = edited(page, page.run("theirs")[-1][page.panel.result], action="repeat", cells=[0])
    with pytest.raises(PlugInError, match="Theirs returned samples that are no numbers"):
        page.panel.speak({**page.values, page.panel.result: comparison}, gr.Progress())


def visitor(name: str) -> Any:
    return SimpleNamespace(session_hash=name)


def test_blind_vote_is_between_the_systems_that_were_run() -> None:
    """Its score is per pair, with an interval from the second voter on."""
    page = Page(Services())
    comparison = page.run("ours", "theirs")[-1][page.panel.result]
    blind = page.panel.blind
    lines = []
    for name in ("one", "two", "three"):
        drawn = blind.draw(comparison)
        ballot = drawn[blind.ballot]
        assert set(ballot.pair) == {"Ours", "Theirs"}
        lanes = str(drawn[blind.lanes].value)
        assert "Ours" not in lanes and "Theirs" not in lanes
        answer = "A is clearer" if ballot.pair[0] == "Theirs" else "B is clearer"
        update = blind.vote(answer, ballot, visitor(name))
        assert update[blind.ballot] is None
        lines.append(update[blind.score])
    assert "an interval takes a second voter" in lines[0]
    assert "<b>Theirs</b> is preferred in <b>100%</b> of <b>3</b> votes" in lines[2]
    assert "95 % interval" in lines[2]


def test_votes_begin_anew_with_another_set_of_systems() -> None:
    votes = Votes()
    for systems in ({"a", "b"}, {"a", "b", "c"}):
        ballot = Ballot(("a", "b"), frozenset(systems), "s")
        votes.add(ballot, 1.0, "one")
        assert len(votes.of(ballot)) == 1
    turned = Ballot(("b", "a"), frozenset({"a", "b"}), "s")
    votes.add(turned, 1.0, "two")
    assert votes.of(turned)["answer"].tolist() in ([0.0, 1.0], [1.0, 0.0])


def test_vote_needs_two_systems_and_a_ballot() -> None:
    page = Page(Services())
    blind = page.panel.blind
    for comparison in (None, page.run("ours")[-1][page.panel.result]):
        with pytest.raises(InputError, match="Run two systems or more first"):
            blind.draw(comparison)
    with pytest.raises(InputError, match="Press “Vote blind” first"):
        blind.vote("A is clearer", None, visitor("one"))
    with pytest.raises(InputError, match="There is no answer"):
        blind.vote("<b>", Ballot(("a", "b"), frozenset("ab"), "s"), visitor("one"))


def test_cards_of_plug_ins_are_shown() -> None:
    """What is empty is left out, and text stays text."""
    cards = {"mine": {"paper": "<b>Ours</b> 2026", "trained_on": "CMU", "licence": ""}, "x": {}}
    offer: Any = Offer(lambda _: None, {}, {"mine": "Mine", "x": "X"}, (), cards)
    html = about_systems("Hint.", offer, ["a.py failed."])
    assert "<b>Mine</b> · paper: &lt;b&gt;Ours&lt;/b&gt; 2026 · trained on: CMU</li>" in html
    assert "licence" not in html and "<b>X</b>" not in html and "a.py failed." in html


def test_what_is_missing_is_said() -> None:
    page = Page(Services())
    for names in ([], ["ours"] * 5, [["ours"]], [{}], [None]):
        with pytest.raises(InputError, match="Choose one to 4 systems first"):
            page.run(*names)
    page.values[page.panel.audio] = None
    with pytest.raises(InputError, match="nothing to convert yet"):
        page.run("ours")


def test_system_that_is_chosen_twice_runs_once() -> None:
    page = Page(Services())
    last = page.run("theirs", "theirs", "ours", "theirs")[-1]
    assert [take.label for take in last[page.panel.result].takes] == ["Theirs", "Ours"]


def test_examples_are_known_by_name(tmp_path: Path) -> None:
    """To a system whose results were made before."""
    example = ASSETS / "examples" / "child-train.ogg"
    (tmp_path / "child-train.wav").write_bytes(wav_bytes(TONE, SAMPLE_RATE))
    page = Page(Services())
    mine = PluggedConverter("mine", PlugIn("Mine", lambda: Precomputed(tmp_path), Path("t.py")))
    page.plug_ins["theirs"] = mine
    value: Any = gr.Audio().postprocess(example_for_input(example))
    page.values[page.panel.audio] = value.path
    last = page.run("theirs")[-1]
    assert [take.label for take in last[page.panel.result].takes] == ["Mine"]


class Hangs(Theirs):
    def __call__(self, waveform: np.ndarray, sample_rate: int, target: str) -> Any:
        while True:
            pass


def test_system_that_hangs_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own limit ends it, and not that of a job, which would end the others too."""
    monkeypatch.setattr(events, "MAX_JOB_SECONDS", 0.2)
    page = Page(Services())
    hangs = PlugIn("Hangs", Hangs, Path("t.py"), max_seconds=0.4)
    page.plug_ins["broken"] = PluggedConverter("h", hangs)
    with page.blocks:
        page.panel.wire([page.panel.audio, page.panel.conversion])
    (run,) = [fn.fn for fn in page.blocks.fns.values() if fn.name == "run" and fn.fn]
    values = {**page.values, page.panel.systems: ["broken", "theirs"]}
    last = [*run(values, gr.Progress())][-1]  # type: ignore[operator]
    assert "Hangs gave no answer within 0.4 s." in last[page.panel.table]
    assert [take.label for take in last[page.panel.result].takes] == ["Theirs"]
