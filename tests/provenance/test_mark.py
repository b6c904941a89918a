"""The mark in the sound: what it survives, what it leaves alone, and that every door puts it in."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import soxr

from earshot.app.launch import prepare_signing
from earshot.app.options import options
from earshot.cli import convert
from earshot.core.paths import ASSETS
from earshot.media.audio.load import load, wav_bytes
from earshot.media.audio.speech import Speech
from earshot.media.constants import SAMPLE_RATE
from earshot.media.encode import encode_audio
from earshot.provenance import mark
from earshot.provenance.keys import installation_number
from earshot.provenance.mark import NO_MARK, MarkReport, find_mark, mark_speech
from earshot.systems.plug_in import PlugIn
from earshot.systems.plugged import PluggedConverter
from earshot.systems.voice_conversion import VoiceConversion
from earshot.systems.voice_conversion.live.networks import load_networks
from earshot.systems.voice_conversion.live.session import LiveConversion

NUMBER = 0xBEEF
EXAMPLES = [
    load(ASSETS / "examples" / f"{name}.ogg").waveform
    for name in ("man-place-blue", "child-train", "woman-lighthouse")
]
SPEECH = np.concatenate(EXAMPLES)[: 5 * SAMPLE_RATE]


def coded(ending: str, bit_rate: int) -> Callable[[np.ndarray], np.ndarray]:
    """Encode without metadata, and decode."""
    return lambda x: load(encode_audio(x, SAMPLE_RATE, ending, "", bit_rate)).waveform


def noisy(waveform: np.ndarray) -> np.ndarray:
    """Add white noise at 20 dB."""
    noise = np.random.default_rng(0).standard_normal(len(waveform))
    return (waveform + 0.1 * waveform.std() * noise).astype(np.float32)


@pytest.fixture(scope="module")
def carrier() -> np.ndarray:
    return mark_speech(SPEECH, SAMPLE_RATE, NUMBER)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda x: x, id="untouched"),
        pytest.param(coded(".mp3", 64_000), id="mp3"),
        pytest.param(coded(".m4a", 64_000), id="aac"),
        pytest.param(coded(".opus", 24_000), id="opus"),
        pytest.param(noisy, id="noise"),
        pytest.param(lambda x: x[SAMPLE_RATE + 77 :][: 3 * SAMPLE_RATE], id="3 s of it"),
        pytest.param(lambda x: soxr.resample(x, SAMPLE_RATE * 1.01, SAMPLE_RATE), id="faster"),
        pytest.param(lambda x: np.clip(4 * x, -1, 1) / 8, id="clipped"),
        pytest.param(lambda x: -x, id="inverted"),
        pytest.param(lambda x: np.concatenate([SPEECH, x, SPEECH]), id="amid other speech"),
    ],
)
def test_mark_is_found_again_with_its_number(
    carrier: np.ndarray, change: Callable[[np.ndarray], np.ndarray]
) -> None:
    report = find_mark(change(carrier), SAMPLE_RATE)
    assert (report.present, report.installation) == (True, NUMBER)
    assert report.false_alarm <= -4


@pytest.mark.parametrize("number", [0, 1, 0x00FF, 0xFF00, 0xFFFF])
def test_every_number_can_be_read(number: int) -> None:
    assert find_mark(mark_speech(SPEECH, SAMPLE_RATE, number), SAMPLE_RATE).installation == number


@pytest.mark.parametrize("rate", [8_000, 22_050, 44_100, 48_000])
def test_rate_of_the_sound_does_not_matter(rate: int) -> None:
    """As plug-ins have rates of their own."""
    speech = soxr.resample(SPEECH, SAMPLE_RATE, rate)
    report = find_mark(mark_speech(speech, rate, NUMBER), rate)
    assert report.installation == NUMBER


@pytest.mark.parametrize(
    "sound",
    [
        *EXAMPLES,
        SPEECH,
        np.zeros(SAMPLE_RATE, np.float32),
        np.zeros(0, np.float32),
        np.ones(7, np.float32),
        np.sin(np.arange(5 * SAMPLE_RATE) / 5).astype(np.float32),
        np.random.default_rng(0).normal(0, 0.1, 5 * SAMPLE_RATE).astype(np.float32),
    ],
    ids=["man", "child", "woman", "all", "silence", "nothing", "7 samples", "tone", "noise"],
)
def test_no_mark_is_found_where_none_is(sound: np.ndarray) -> None:
    report = find_mark(sound, SAMPLE_RATE)
    assert (report.present, report.installation) == (False, None)
    assert report.false_alarm > -4


def test_silence_level_and_length_stay(carrier: np.ndarray) -> None:
    pause = np.zeros(SAMPLE_RATE, np.float32)
    marked = mark_speech(np.concatenate([pause, SPEECH, pause]), SAMPLE_RATE, NUMBER)
    assert not marked[: SAMPLE_RATE - 320].any() and not marked[-SAMPLE_RATE + 320 :].any()
    assert carrier.shape == SPEECH.shape and carrier.dtype == np.float32
    assert 20 * np.log10(carrier.std() / SPEECH.std()) == pytest.approx(0, abs=0.2)
    loudest = mark_speech(SPEECH / np.abs(SPEECH).max(), SAMPLE_RATE, NUMBER)
    assert 0.8 < np.abs(loudest).max() <= 1
    assert not len(mark_speech(np.zeros(0, np.float32), SAMPLE_RATE, NUMBER))


def test_stream_is_marked_as_the_whole_is(carrier: np.ndarray) -> None:
    """Without a delay, and from states that stay as they were."""
    state, hops = mark.begin(SAMPLE_RATE), []
    for start in range(0, len(SPEECH) - 1279, 1280):
        hop, later = mark.mark_hop(state, SPEECH[start : start + 1280], NUMBER)
        again, _ = mark.mark_hop(state, SPEECH[start : start + 1280], NUMBER)
        np.testing.assert_array_equal(hop, again)
        state = later
        hops.append(hop)
    stream = np.concatenate(hops)
    np.testing.assert_allclose(stream, carrier[: len(stream)], atol=1e-5)


class Echo:
    """A plug-in that returns what it is given, at a rate of its own."""

    voices = ("A",)

    def __call__(self, waveform: np.ndarray, rate: int, target: str) -> tuple[np.ndarray, int]:
        return soxr.resample(waveform, rate, 24_000), 24_000


def test_output_of_a_plug_in_carries_the_mark(monkeypatch: pytest.MonkeyPatch) -> None:
    plugged = PluggedConverter("echo", PlugIn("Echo", Echo, Path(__file__)))
    monkeypatch.setenv(NO_MARK, "0")
    report = report_on(plugged((SAMPLE_RATE, SPEECH), "A").speech)
    assert report.installation == installation_number()
    monkeypatch.setenv(NO_MARK, "1")
    assert not report_on(plugged((SAMPLE_RATE, SPEECH), "A").speech).present


def report_on(speech: Speech) -> MarkReport:
    return find_mark(speech.waveform, speech.sample_rate)


@pytest.mark.parametrize(
    ("model", "vocoder"), [("any-voice", "neural"), ("vqvae-128", "griffin-lim")]
)
def test_what_is_decoded_carries_the_mark(
    model: str, vocoder: str, tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Units that were edited as well as conversions."""
    converter = VoiceConversion.from_pretrained(tiny_checkpoints / model, "cpu")
    _, units, _ = converter.encode((SAMPLE_RATE, SPEECH))
    plain = converter.decode(units, "SF1", vocoder).waveform
    monkeypatch.setenv(NO_MARK, "0")
    number = installation_number()
    speech = converter.decode(units, "SF1", vocoder)
    np.testing.assert_array_equal(speech.waveform, mark_speech(plain, SAMPLE_RATE, number))


def test_live_carries_the_mark(tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    networks = load_networks(tiny_checkpoints / "any-voice")
    samples = SPEECH[: 20 * 1280]
    plain = LiveConversion(networks).push(samples)
    monkeypatch.setenv(NO_MARK, "0")
    live = LiveConversion(networks).push(samples)
    marked, _ = mark.mark_hop(mark.begin(SAMPLE_RATE), plain, installation_number())
    np.testing.assert_allclose(live, marked, atol=1e-4)


def test_command_leaves_the_mark_out_when_told(
    tiny_checkpoints: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in.wav").write_bytes(wav_bytes(SPEECH, SAMPLE_RATE))
    results = []
    for option, environment in ([], "0"), (["--no-mark"], "0"), ([], "1"):
        monkeypatch.setenv(NO_MARK, environment)
        out = tmp_path / f"{len(results)}.wav"
        line = [str(tmp_path / "in.wav"), "--to", "SF1", "-o", str(out), *option]
        convert.main([*line, "--model", str(tiny_checkpoints / "any-voice")])
        results.append(load(out).waveform)
    np.testing.assert_array_equal(results[1], results[2])
    assert np.abs(results[0] - results[1]).max() > 0.01


def test_only_the_operator_can_leave_it_out(monkeypatch: pytest.MonkeyPatch) -> None:
    for line, environment, expected in (
        ([], {}, "0"),
        (["--no-mark"], {}, "1"),
        ([], {NO_MARK: "yes"}, "1"),
    ):
        processes: dict[str, str] = {}
        prepare_signing(options(line, environment), processes)
        assert processes[NO_MARK] == expected
