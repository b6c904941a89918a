"""Which videos are accepted or refused, and how robust the result is to the camera."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import cv2
import numpy as np
import pytest
from scipy.ndimage import binary_erosion

from earshot.core.errors import InputError
from earshot.core.paths import ROOT
from earshot.media.audio.intelligibility import intelligibility
from earshot.media.constants import SAMPLE_RATE, VIDEO_RATE
from earshot.media.encode import encode_video
from earshot.media.video import Frame, frames
from earshot.pretrained.voice import Voice
from earshot.systems.lip_to_speech import LipToSpeech
from earshot.systems.lip_to_speech.system import FaceVoice, pauses
from synthetic.heads.__main__ import SENTENCES
from synthetic.heads.speaker import SPEAKERS
from synthetic.heads.video import render
from tests.support.videos import write_pictures

pytestmark = pytest.mark.slow

HEADS = ROOT / "assets" / "heads"
TRAINED = ROOT / "checkpoints" / "lip-to-speech"
SHORT = 20  # pictures


def pictures(name: str) -> list[np.ndarray]:
    return [frame.image for frame in frames(HEADS / f"{name}.mp4", 30)]


@pytest.fixture(scope="module")
def ada() -> list[np.ndarray]:
    return pictures("ada")


@pytest.fixture(scope="module")
def tiny(tiny_checkpoints: Path) -> LipToSpeech:
    return LipToSpeech.from_pretrained(tiny_checkpoints / "lip-to-speech", "cpu")


def test_speech_is_as_long_as_video(tiny: LipToSpeech, ada: list[np.ndarray]) -> None:
    result = tiny(HEADS / "ada.mp4")
    assert len(result.reading.mouth.crops) == len(ada)
    assert result.speech.waveform.shape == (len(ada) * SAMPLE_RATE // VIDEO_RATE,)
    assert result.speech.sample_rate == 16_000
    assert result.predicted_mel.shape == (4 * len(ada), 80)
    assert np.isfinite(result.speech.waveform).all()
    assert 0 <= result.reading.confidence <= 1
    assert not result.reading.mouth.quality.hints()


def test_speech_keeps_time_of_file(tiny: LipToSpeech, tmp_path: Path) -> None:
    """The pictures begin a second after the file: until then the mouth rests, and is silent."""
    late = tmp_path / "late.mp4"
    late.write_bytes(
        encode_video(Frame(time + 1, image) for time, image in frames(HEADS / "ada.mp4", 30))
    )
    plain, moved = tiny.encode(HEADS / "ada.mp4").mouth, tiny(late)
    mouth = moved.reading.mouth
    assert mouth.seconds == pytest.approx(plain.seconds + 1, abs=1 / VIDEO_RATE)
    assert (mouth.crops[:VIDEO_RATE] == mouth.crops[0]).all()
    assert len(moved.speech.waveform) == round(mouth.seconds * SAMPLE_RATE)


def test_further_reader_changes_what_is_read(tiny_checkpoints: Path, tiny: LipToSpeech) -> None:
    """Its posteriors count for half; the states are those of the first reader."""
    alone = LipToSpeech.from_pretrained(tiny_checkpoints / "lip-to-speech", "cpu")
    both = tiny.encode(HEADS / "ada.mp4")
    alone._word_readers = []
    first = alone.encode(HEADS / "ada.mp4")
    np.testing.assert_allclose(first.states, both.states, atol=1e-5)
    halves = np.exp(first.ctc_logits) / 2, np.exp(both.ctc_logits)
    assert (halves[1] >= halves[0] - 1e-5).all() and not np.allclose(*halves, atol=1e-3)


def test_each_picture_is_decoded_once(tiny: LipToSpeech) -> None:
    seen: list[Frame] = []
    mouth = tiny.encode(HEADS / "ada.mp4", seen.append).mouth
    assert len(seen) == len(mouth.crops)
    assert [frame.time for frame in seen] == sorted({frame.time for frame in seen})


def test_other_voice_differs_or_is_refused(tiny: LipToSpeech) -> None:
    reading = tiny.encode(HEADS / "ada.mp4")
    one, other = (tiny.speak(reading, FaceVoice(110, timbre)) for timbre in (0.0, 1.0))
    assert not np.allclose(one.predicted_mel, other.predicted_mel)
    assert one.reading is other.reading
    for voice in (FaceVoice(20, 0.5), FaceVoice(110, 1.5)):
        with pytest.raises(InputError, match="70 to 300 Hz"):
            tiny.speak(reading, voice)
    with pytest.raises(InputError, match="no vocoder"):
        tiny.speak(reading, FaceVoice(110, 0.5), "a choir")


def test_lips_speak_in_any_voice(tiny: LipToSpeech, ada: list[np.ndarray]) -> None:
    """A shipped one by its name, or one that was made of a recording."""
    reading = tiny.encode(HEADS / "ada.mp4")
    named = tiny.speak(reading, "TF2")
    assert isinstance(named.voice, Voice) and named.voice.name == "TF2" in tiny.voices
    assert len(named.speech.waveform) == len(ada) * SAMPLE_RATE // VIDEO_RATE
    own_voice = Voice("yours", -named.voice.vector, named.voice.pitch_mean + 0.5, 0.2)
    own = tiny.speak(reading, own_voice)
    assert own.voice is own_voice and own.pitch == pytest.approx(named.pitch * np.exp(0.5))
    assert not np.allclose(own.predicted_mel, named.predicted_mel)
    with pytest.raises(InputError, match="no voice Nobody. Choose one of SF1, TF2"):
        tiny.speak(reading, "Nobody")


def test_pauses_are_silent_in_another_voice(tiny: LipToSpeech) -> None:
    """The recogniser would hear words in them."""
    rng = np.random.default_rng(0)
    loudness = np.repeat([-60.0, -20, -60, -20, -50, -60], [4000, 8000, 1600, 8000, 8000, 2400])
    waveform = (10 ** (loudness / 20) * rng.standard_normal(32_000)).astype(np.float32)
    silent = pauses(waveform)
    expected = np.repeat([True, False, True], [12, 56, 32])
    assert (silent == expected).mean() > 0.97, "a stop consonant is shorter than a pause"
    reading = tiny.encode(HEADS / "ada.mp4")
    neutral = tiny.speak(reading, tiny.neutral).speech.waveform
    quiet = np.repeat(pauses(neutral), 320)
    quiet = np.asarray(binary_erosion(quiet, np.ones(400)), bool)
    spoken = tiny.speak(reading, "TF2")
    assert not spoken.speech.waveform[quiet].any()


def test_earlier_checkpoint_speaks_in_face_voice(tiny_checkpoints: Path, tmp_path: Path) -> None:
    """It names no any-voice."""
    shutil.copytree(tiny_checkpoints / "vocoder", tmp_path / "vocoder")
    folder = shutil.copytree(tiny_checkpoints / "lip-to-speech", tmp_path / "lips")
    config = json.loads((folder / "config.json").read_text())
    del config["any_voice"]
    (folder / "config.json").write_text(json.dumps(config))
    pipeline = LipToSpeech.from_pretrained(folder, "cpu")
    reading = pipeline.encode(HEADS / "ada.mp4")
    assert pipeline.speak(reading, reading.voice).speech.waveform.any()
    with pytest.raises(InputError, match="voice of a face only"):
        pipeline.speak(reading, "TF2")


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("black", lambda image: np.zeros_like(image), "No face.*light"),
        ("a wall", lambda image: np.full_like(image, 180), "No face"),
        ("two faces", lambda image: np.hstack([image, image]), "two faces"),
        ("the back of a head", lambda image: np.tile(image[:96], (4, 1, 1)), "No face"),
    ],
)
def test_video_needs_exactly_one_face(
    tiny: LipToSpeech,
    ada: list[np.ndarray],
    tmp_path: Path,
    name: str,
    change: Callable[[np.ndarray], np.ndarray],
    message: str,
) -> None:
    video = write_pictures(tmp_path / "video.mp4", map(change, ada[:SHORT]))
    with pytest.raises(InputError, match=message):
        tiny(video)


def test_too_short_video_is_refused(
    tiny: LipToSpeech, ada: list[np.ndarray], tmp_path: Path
) -> None:
    """It lasts a third of a second."""
    with pytest.raises(InputError, match="too short"):
        tiny(write_pictures(tmp_path / "video.webm", ada[:8]))


def test_small_or_dark_face_brings_notice(
    tiny: LipToSpeech, ada: list[np.ndarray], tmp_path: Path
) -> None:
    """The face is read all the same."""

    def far(image: np.ndarray) -> np.ndarray:
        small = cv2.resize(image, None, fx=0.4, fy=0.4, interpolation=cv2.INTER_AREA)
        return cv2.copyMakeBorder(small, 60, 60, 80, 80, cv2.BORDER_REPLICATE)

    distant = tiny.encode(write_pictures(tmp_path / "far.mp4", map(far, ada[:SHORT])))
    assert "come closer" in " ".join(distant.notices)
    dim = ((0.15 * image).astype(np.uint8) for image in ada[:SHORT])
    dark = tiny.encode(write_pictures(tmp_path / "dark.mp4", dim))
    assert "It is dark" in " ".join(dark.notices)


def test_4k_video_is_read(tiny: LipToSpeech, ada: list[np.ndarray], tmp_path: Path) -> None:
    large = (cv2.resize(image, (3840, 2160)) for image in ada[:SHORT])
    reading = tiny.encode(write_pictures(tmp_path / "large.mp4", large))
    assert len(reading.mouth.crops) == SHORT


class RenderedVideo(NamedTuple):
    """A rendered speaker: what is heard, the pictures, and how many of them a second."""

    waveform: np.ndarray
    images: list[np.ndarray]
    rate: int


@pytest.fixture(scope="module")
def rendered(ada: list[np.ndarray]) -> RenderedVideo:
    return RenderedVideo(render(SPEAKERS[0], SENTENCES["ada"]).waveform, ada, VIDEO_RATE)


@pytest.fixture(scope="module")
def fast() -> RenderedVideo:
    video = render(SPEAKERS[0], SENTENCES["ada"], rate=60)
    return RenderedVideo(video.waveform, [frame.image for frame in video.frames()], video.rate)


@pytest.fixture(scope="module")
def trained() -> LipToSpeech:
    return LipToSpeech.from_pretrained(TRAINED, "cpu")


@pytest.fixture(scope="module")
def original(
    trained: LipToSpeech, rendered: RenderedVideo, tmp_path_factory: pytest.TempPathFactory
) -> float:
    return stoi(trained, rendered, tmp_path_factory.mktemp("videos"))


def stoi(
    pipeline: LipToSpeech,
    rendering: RenderedVideo,
    folder: Path,
    change: Callable = lambda image: image,
) -> float:
    """STOI of what a pipeline reads from a rendered video, given the video's audio."""
    path = write_pictures(folder / "video.mp4", map(change, rendering.images), rendering.rate)
    speech = pipeline(path).speech
    length = min(len(speech.waveform), len(rendering.waveform))
    return intelligibility(speech.waveform[:length], rendering.waveform[:length])[0]


@pytest.mark.parametrize("rate", [15, 30, 60])
def test_stoi_stays_at_other_frame_rates(
    trained: LipToSpeech, fast: RenderedVideo, original: float, tmp_path: Path, rate: int
) -> None:
    other = RenderedVideo(fast.waveform, fast.images[:: fast.rate // rate], rate)
    assert stoi(trained, other, tmp_path) == pytest.approx(original, abs=0.05)


@pytest.mark.parametrize(
    "change",
    [
        lambda image: (0.7 * image).astype(np.uint8),
        lambda image: np.clip(1.3 * image, 0, 255).astype(np.uint8),
        lambda image: cv2.resize(image, (900, 720)),
        lambda image: cv2.resize(image, (300, 240), interpolation=cv2.INTER_AREA),
    ],
    ids=["darker", "lighter", "720p", "240p"],
)
def test_stoi_stays_in_other_light(
    trained: LipToSpeech,
    rendered: RenderedVideo,
    original: float,
    tmp_path: Path,
    change: Callable,
) -> None:
    """It stays in pictures of another size too."""
    assert stoi(trained, rendered, tmp_path, change) == pytest.approx(original, abs=0.05)
