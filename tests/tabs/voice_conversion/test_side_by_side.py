"""Systems side by side on one source: what is heard, what fails, what can be tested."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
import numpy as np
import pytest

from earshot.core.errors import InputError
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
from earshot.tabs.voice_conversion.panels import ConversionSideBySide
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
    monkeypatch.setattr(events, "DEADLINE", 0.2)
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
