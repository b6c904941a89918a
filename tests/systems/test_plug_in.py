"""Plug-ins: what a system of one's own does wrong is named, and stays its own."""

import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from earshot.core.cancellation import Job, running
from earshot.core.errors import InputError, PlugInError, StoppedError
from earshot.core.paths import PIPELINES
from earshot.media.video import Frame
from earshot.systems import plug_in
from earshot.systems.plug_in import PlugIn, limited
from earshot.systems.plugged import PluggedConverter, PluggedEmbedder, PluggedLipReader
from earshot.systems.registry import load_board

RATE = 16_000
SPEECH = (RATE, (0.1 * np.sin(2 * np.pi * 200 * np.arange(RATE) / RATE)).astype(np.float32))
FRAMES = np.zeros((25, 48, 48, 3), np.uint8)
HERE = Path(__file__)
BOTH = pytest.mark.parametrize("isolated", [False, pytest.param(True, marks=pytest.mark.slow)])


class Converter:
    """Returns whatever it is given a function for."""

    voices = ("low", "high")

    def __init__(self, result: Callable[[np.ndarray, int, Any], Any]) -> None:
        self.result = result

    def __call__(self, waveform: np.ndarray, sample_rate: int, target: Any) -> Any:
        return self.result(waveform, sample_rate, target)


def converter(result: Callable[[np.ndarray, int, Any], Any]) -> PluggedConverter:
    return PluggedConverter("mine", PlugIn("Mine", lambda: Converter(result), HERE))


@pytest.mark.parametrize(
    ("result", "sentence"),
    [
        (lambda w, r, t: (w * np.nan, r), "Mine returned samples that are no numbers (NaN"),
        (lambda w, r, t: None, "Mine returned NoneType, and no (waveform, sample_rate)."),
        (lambda w, r, t: w, r"Mine returned float32 (48000,), and no (waveform, sample_rate)."),
        (lambda w, r, t: (w[:0], r), "Mine returned a waveform of no samples."),
        (lambda w, r, t: (w.reshape(2, 2, -1), r), "and no waveform (T,)."),
        (lambda w, r, t: ("speech", r), "Mine returned str, and no waveform (T,)."),
        (lambda w, r, t: (w, 0), "Mine returned what cannot be played."),
        (lambda w, r, t: (w, -8000), "Mine returned what cannot be played."),
        (lambda w, r, t: (w, float("nan")), "Mine returned float for the sample rate."),
        (lambda w, r, t: (w, "16k"), "Mine returned str for the sample rate."),
        (lambda w, r, t: (np.resize(w, 200 * r), r), "Mine returned what cannot be played."),
        (lambda w, r, t: 1 / 0, f"Mine failed: ZeroDivisionError in {HERE.name}, line "),
    ],
)
def test_faults_of_results_are_named(result: Callable[..., Any], sentence: str) -> None:
    with pytest.raises(PlugInError) as caught:
        converter(result)(SPEECH, "low")
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("result", "notice"),
    [
        (lambda w, r, t: (0 * w, r), "Mine returned silence."),
        (lambda w, r, t: ((w * 32767).astype(np.int16), r), "Mine returned integers"),
        (lambda w, r, t: (np.stack([w, w]), r), "Mine returned 2 channels"),
        (lambda w, r, t: (w[: len(w) // 4], r), "Mine returned 0.2 s for 1.0 s of input."),
        (lambda w, r, t: (w * 40, r), "Mine returned samples up to 4.0"),
    ],
)
def test_what_can_be_used_is_used_with_a_notice(result: Callable[..., Any], notice: str) -> None:
    spoken = converter(result)(SPEECH, "low")
    assert notice in " ".join(spoken.notices)
    assert spoken.speech.waveform.ndim == 1
    assert np.abs(spoken.speech.waveform).max() <= 1


def test_another_rate_is_kept() -> None:
    spoken = converter(lambda w, r, t: (w[::2], r // 2))(SPEECH, "high")
    assert (spoken.speech.sample_rate, len(spoken.speech.waveform)) == (24_000, 24_000)
    assert spoken.notices == () and spoken.voice == "high"


def test_words_of_a_fault_stay_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    """They may name what visitors gave; an InputError is written to be read."""

    def fail(error: Exception, *_: Any) -> Any:
        raise error

    with pytest.raises(PlugInError) as caught:
        converter(partial(fail, RuntimeError("/home/secret")))(SPEECH, "low")
    assert "secret" not in str(caught.value) and "secret" in caplog.text
    with pytest.raises(PlugInError, match="Mine says: Speak up."):
        converter(partial(fail, InputError("Speak up.")))(SPEECH, "low")
    with pytest.raises(PlugInError, match="Mine failed: MuteError in test_plug_in.py"):
        converter(partial(fail, MuteError("")))(SPEECH, "low")


class MuteError(InputError):
    def __str__(self) -> str:
        raise RuntimeError


def endless(*_: Any) -> Any:
    while True:
        pass


def hungry(*_: Any) -> Any:
    hoard = []
    while True:
        hoard.append(np.ones(2**22))


def leaves(*_: Any) -> Any:
    raise SystemExit


@BOTH
@pytest.mark.parametrize(
    ("result", "sentence"),
    [
        (endless, "Mine gave no answer within 0.5 s."),
        (hungry, "Mine took more than 0.5 GB of memory."),
        (leaves, f"Mine failed: SystemExit in {HERE.name}"),
    ],
)
def test_calls_that_never_end_are_given_up(
    result: Callable[..., Any], sentence: str, isolated: bool
) -> None:
    """The next call is answered."""
    load = partial(Converter, result)
    mine = PlugIn("Mine", load, HERE, isolated, max_seconds=0.5, max_memory=2**29)
    if sentence.startswith("Mine took"):
        mine._max_seconds = 60
    assert mine.has("__call__")
    with pytest.raises(PlugInError) as caught:
        mine.call("__call__", *SPEECH[::-1], "low")
    assert sentence in str(caught.value)
    for _ in range(50):  # a thread ends at its next line
        try:
            assert mine.attribute("voices") == ("low", "high")
            break
        except PlugInError as error:
            assert "still busy" in str(error)
            plug_in.time.sleep(0.1)
    else:
        pytest.fail("it stays busy")


def test_calls_are_short_where_others_wait() -> None:
    """All that are made there have the seconds together, and so has who waits for another."""
    mine = PlugIn("Mine", partial(Converter, endless), HERE)
    with ThreadPoolExecutor() as pool, limited(0.3):
        began = time.monotonic()
        calls = [
            pool.submit(copy_context().run, mine.call, "__call__", *SPEECH[::-1], "low")
            for _ in range(2)
        ]
        sentences = [str(call.exception()) for call in calls]
    assert time.monotonic() - began < 3
    assert any("gave no answer within 0.3 s" in each for each in sentences), sentences
    assert all("answer" in each or "busy" in each for each in sentences), sentences


def test_stopped_job_stops_waiting() -> None:
    job = Job(60)
    job.stop()
    with running(job), pytest.raises(StoppedError):
        converter(endless)(SPEECH, "low")


@pytest.mark.slow
def test_process_that_dies_is_replaced() -> None:
    mine = PlugIn("Mine", partial(Converter, die), HERE, isolated=True)
    with pytest.raises(PlugInError, match="Mine ended without an answer."):
        mine.call("__call__", SPEECH[1], RATE, "low")
    assert mine.attribute("voices") == ("low", "high")


def die(*_: Any) -> Any:
    import os

    os._exit(1)


def test_voice_of_a_recording_is_the_target() -> None:
    class AnyVoice(Converter):
        voices = ()

        def voice_from(self, waveform: np.ndarray, sample_rate: int) -> float:
            return float(np.abs(waveform).max())

    mine = PluggedConverter(
        "mine", PlugIn("Mine", lambda: AnyVoice(lambda w, r, t: (w * t, r)), HERE)
    )
    spoken = mine(SPEECH, "TF2", SPEECH)
    assert spoken.voice == "TF2" and spoken.notices == ()
    assert np.abs(spoken.speech.waveform).max() == pytest.approx(0.01, rel=0.2)
    with pytest.raises(PlugInError, match="Mine speaks in the voices of recordings only"):
        mine(SPEECH, "own")


def test_unknown_voice_is_the_systems_first() -> None:
    spoken = converter(lambda w, r, t: (w, r))(SPEECH, "TF2")
    assert spoken.voice == "low"
    assert spoken.notices == ("Mine has no such voice, and speaks as low.",)


@pytest.mark.parametrize(
    "value", [None, "word", np.zeros(4), np.ones((2, 2)), np.array([np.nan, 1]), np.ones(10**6)]
)
def test_vectors_are_checked(value: Any) -> None:
    class Embedder:
        def embed_audio(self, waveform: np.ndarray, sample_rate: int) -> Any:
            return value

    mine = PluggedEmbedder("mine", PlugIn("Mine", Embedder, HERE))
    assert not mine.has_text
    with pytest.raises(PlugInError, match="^Mine returned"):
        mine.embed_audio(SPEECH[1], RATE)


def test_lip_reader_may_write_what_it_reads() -> None:
    class Lips:
        def __call__(self, frames: np.ndarray, fps: float) -> tuple[np.ndarray, int]:
            return np.resize(SPEECH[1], round(len(frames) / fps * RATE)), RATE

        def caption(self, frames: np.ndarray, fps: float) -> tuple[str, float]:
            return "place blue", 7.0

    spoken, text, confidence = PluggedLipReader("mine", PlugIn("Mine", Lips, HERE))(FRAMES, 25.0)
    assert (text, confidence, spoken.notices) == ("place blue", 1.0, ())
    frames = [Frame(0.0, FRAMES[0])] * 25  # which may have one time
    assert PluggedLipReader("mine", PlugIn("Mine", Lips, HERE)).of(frames)[1] == "place blue"


def test_file_that_fails_is_named(tmp_path: Path) -> None:
    """Others are loaded."""
    (tmp_path / "a.py").write_text("x = 1\nimport nowhere_at_all\n")
    (tmp_path / "b.py").write_text("def (:\n")
    (tmp_path / "c.py").write_text("raise SystemExit\n")
    (tmp_path / "d.py").write_text(
        "from earshot.systems.registry import system\nsystem('words', '../../etc')(dict)\n"
    )
    (tmp_path / "e.py").write_text(
        "from earshot.systems.registry import system\nsystem('words', 'mine', 'Mine')(dict)\n"
    )
    board = load_board(tmp_path)
    assert board.faults == [
        "a.py failed: ModuleNotFoundError in a.py, line 2.",
        "b.py failed: SyntaxError in b.py, line 1.",
        "c.py failed: SystemExit in c.py, line 1.",
        "d.py failed: ValueError in d.py, line 2.",
    ]
    assert board.offer("words").plugged == {"mine": "Mine"}


@pytest.mark.parametrize(
    ("result", "sentence"),
    [
        (lambda w, r, t: (np.broadcast_to(w[0], (10**12,)), r), "samples, which are too many"),
        (lambda w, r, t: (w[:1], r), "Mine returned what cannot be played."),
        (lambda w, r, t: (Odd(), r), "Mine returned Odd, and no waveform (T,)."),
    ],
)
def test_sounds_that_cannot_be_held_are_named(result: Callable[..., Any], sentence: str) -> None:
    with pytest.raises(PlugInError) as caught:
        converter(result)(SPEECH, "low")
    assert sentence in str(caught.value)


class Odd:
    """Cannot be made an array, as a sparse tensor cannot."""

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        raise RuntimeError

    def detach(self) -> Any:
        raise TypeError


@pytest.mark.parametrize("voices", ["lower", 5, [1, 2], [None]])
def test_voices_are_a_list_of_names(voices: Any) -> None:
    """One of text would be as many voices as it has letters."""
    mine = Converter(lambda w, r, t: (w, r))
    mine.voices = voices
    with pytest.raises(PlugInError, match="Mine has voices that are no list of names"):
        PluggedConverter("mine", PlugIn("Mine", lambda: mine, HERE))


@pytest.mark.parametrize("units", [[], [[1], [1, 2]], None, [0.5], np.zeros(10**6, int)])
@pytest.mark.parametrize("step", [0.02, None])
def test_units_that_cannot_be_shown_leave_the_sound(units: Any, step: Any) -> None:
    class Units(Converter):
        unit_seconds = step

        def encode(self, waveform: np.ndarray, sample_rate: int) -> Any:
            return units

    spoken = PluggedConverter("mine", PlugIn("Mine", lambda: Units(lambda w, r, t: (w, r)), HERE))(
        SPEECH, "low"
    )
    assert spoken.units is None and "Mine encodes no units" in spoken.notices[0]


def test_system_that_writes_over_its_input_encodes_the_recording() -> None:
    class Writes(Converter):
        unit_seconds = 0.02

        def encode(self, waveform: np.ndarray, sample_rate: int) -> list[int]:
            return [round(100 * np.abs(waveform).max())]

    def write(waveform: np.ndarray, sample_rate: int, target: Any) -> Any:
        waveform *= 0.5
        return waveform, sample_rate

    mine = PluggedConverter("mine", PlugIn("Mine", lambda: Writes(write), HERE))
    assert mine(SPEECH, "low").units == ([10], 0.02)


def test_caption_that_fails_leaves_the_sound() -> None:
    class Lips:
        def __call__(self, frames: np.ndarray, fps: float) -> tuple[np.ndarray, int]:
            return SPEECH[1], RATE

        def caption(self, frames: np.ndarray, fps: float) -> Any:
            return "place blue", float("nan")

    spoken, text, confidence = PluggedLipReader("mine", PlugIn("Mine", Lips, HERE))(FRAMES, 25.0)
    assert (text, confidence) == ("", 0.0) and "Mine writes no caption" in spoken.notices[0]


def test_vectors_of_several_sizes_and_missing_methods_are_named() -> None:
    class Grows:
        size = 4

        def embed_audio(self, waveform: np.ndarray, sample_rate: int) -> Any:
            self.size += 1
            return np.ones(self.size)

    mine = PluggedEmbedder("mine", PlugIn("Mine", Grows, HERE))
    assert len(mine.embed_audio(SPEECH[1])) == 5
    with pytest.raises(PlugInError, match="a vector of 6 numbers, and one of 5 before"):
        mine.embed_audio(SPEECH[1])
    with pytest.raises(PlugInError, match="Mine says: There is no embed_text in Grows"):
        mine.embed_text("rain")


def test_visitors_wait_for_each_other() -> None:
    """Who stops meanwhile does not wait on."""
    started = threading.Event()

    def slow(waveform: np.ndarray, sample_rate: int, target: Any) -> Any:
        started.set()
        plug_in.time.sleep(0.4)
        return waveform, sample_rate

    mine = converter(slow)
    with ThreadPoolExecutor() as pool:
        first = pool.submit(mine, SPEECH, "low")
        started.wait()
        job = Job(60)
        job.stop()
        with running(job), pytest.raises(StoppedError):
            mine(SPEECH, "low")
        second = pool.submit(mine, SPEECH, "high")
        assert [first.result().voice, second.result().voice] == ["low", "high"]


def starts_others(waveform: np.ndarray, sample_rate: int, target: Any) -> Any:
    import multiprocessing
    import os

    with multiprocessing.get_context("fork").Pool(1) as pool:
        waveform = pool.map(abs, [waveform])[0]
    os.fork()
    return waveform, sample_rate


class Unreadable:
    def __reduce__(self) -> Any:
        return eval, ("1 / 0",)


class Returns:
    voices = Unreadable()


@pytest.mark.slow
def test_process_of_its_own_may_start_others() -> None:
    """And answers each call once."""
    mine = PlugIn("Mine", partial(Converter, starts_others), HERE, isolated=True)
    for _ in range(2):
        assert len(mine.call("__call__", SPEECH[1], RATE, "low")[0]) == RATE
        assert mine.attribute("voices") == ("low", "high")


@pytest.mark.slow
def test_result_that_cannot_be_read_is_named() -> None:
    mine = PlugIn("Mine", Returns, HERE, isolated=True)
    with pytest.raises(PlugInError, match="returned what cannot be read outside of its process"):
        mine.attribute("voices")


REGISTER = """
from earshot.systems.registry import system
system("words", "{name}", "Mine", isolated={isolated})({factory})
"""


def test_file_finds_the_modules_beside_it_and_leaves_the_folder_of_the_app(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.path", sys.path.copy())
    (tmp_path / "helper_of_mine.py").write_text("import os\nos.chdir('/')\nclass Mine: pass\n")
    text = "from helper_of_mine import Mine" + REGISTER
    (tmp_path / "mine.py").write_text(text.format(name="mine", isolated=False, factory="Mine"))
    folder = Path.cwd()
    board = load_board(tmp_path)
    assert board.faults == [] and Path.cwd() == folder
    assert board.offer("words").any("mine").label == "Mine"


def test_plug_in_does_not_take_the_place_of_ours(tmp_path: Path, tiny_checkpoints: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(REGISTER.format(name="words", isolated=False, factory="dict"))
    board = load_board(PIPELINES, file)
    assert board.faults == ["mine.py calls its system words, as one of ours is."]
    assert "words" in board.offer("words", tiny_checkpoints).labels


def test_lines_are_named_of_files_by_relative_paths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "notes.txt").write_text("no Python")
    (tmp_path / "mine.py").write_text("x = 1\n1 / 0\n")
    monkeypatch.chdir(tmp_path)
    assert load_board(Path("."), Path("notes.txt")).faults == [
        "mine.py failed: ZeroDivisionError in mine.py, line 2.",
        "notes.txt says: It is no Python file: the name of one ends in .py.",
    ]


def test_system_that_loads_slowly_is_loaded_once_and_holds_up_no_other(tmp_path: Path) -> None:
    """Neither does it load a second time for a visitor who tries again meanwhile."""
    (tmp_path / "mine.py").write_text(
        "import time\nfrom pathlib import Path\ndef slow():\n"
        f"    open({str(tmp_path / 'loads')!r}, 'a').write('x')\n    time.sleep(0.5)\n"
        "    return object()\n"
        + REGISTER.format(name="slow", isolated=False, factory="slow")
        + REGISTER.format(name="fast", isolated=False, factory="dict").replace("dict", "lambda: 1")
    )
    offer = load_board(tmp_path).offer("words")
    job = Job(60)

    def load() -> Any:
        with running(job):
            return offer.any("slow")

    with ThreadPoolExecutor() as pool:
        first = pool.submit(load)
        while not (tmp_path / "loads").exists():
            plug_in.time.sleep(0.01)
        offer.any("fast")
        assert not first.done()
        job.stop()
        with pytest.raises(StoppedError):
            first.result()
        with pytest.raises(PlugInError, match="still busy with what it did not finish"):
            offer.any("slow")
    assert (tmp_path / "loads").read_text() == "x"


def test_what_a_system_cannot_be_made_of_is_named(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "class Mine:\n    def __init__(self, device, weights, *, size=1, **more): pass\n"
        + REGISTER.format(name="mine", isolated=False, factory="Mine")
    )
    with pytest.raises(PlugInError, match="made of device and checkpoints only, and needs weights"):
        load_board(tmp_path).offer("words").any("mine")
