"""The index: what it holds and finds, and that it embeds nothing twice."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import soundfile

from benchmarks.support.fake_sound_encoder import RATE, WORDS, FakeEncoder, tone, write_tone
from earshot.core.errors import InputError
from earshot.sound_index.index import SoundIndex
from earshot.sound_index.sound import Description
from tests.sound_index.indexes import names

pytestmark = pytest.mark.slow


def test_index_search_ranks_described_sound_first(index: SoundIndex) -> None:
    for word in WORDS:
        assert names(index, word, limit=1) == [f"{word}.wav"]
    assert len(names(index, "low")) == len(WORDS)
    assert len(names(index, "low", limit=3)) == 3


def test_index_add_describes_each_sound(index: SoundIndex) -> None:
    low = next(sound for sound in index.sounds if sound.name == "low.wav")
    assert low.seconds == pytest.approx(2.0)
    assert low.path.name == "low.wav" and low.path.is_absolute()
    assert len(low.content_hash) == 64
    assert index[low.id] == low and low.id in index
    assert (low.kind, low.caption) == ("", "")


def test_per_second_scores_cover_every_second(tmp_path: Path, encoder: FakeEncoder) -> None:
    """25 s are three segments of 8.3 s: the last seconds count like all others."""
    path = write_tone(tmp_path / "a.wav", *(5 * ["low"]), "high", "deep", seconds=3.6)
    index = SoundIndex.empty(encoder)
    index.add([path])
    (sound,) = index.sounds
    assert sound.seconds == pytest.approx(25.2)
    for word, begin, end in (("low", 0, 18), ("high", 19, 21), ("deep", 22, 26)):
        scores = index.per_second_scores(sound.id, encoder.embed_text([word])[0])
        assert scores.shape == (26,) and scores.dtype == np.float32
        assert scores[begin:end].min() > 0.9
        outside = [*scores[: max(begin - 1, 0)], *scores[end + 1 :]]
        assert max(outside) < 0.1
    _, score, segment = index.search(encoder.embed_text(["deep"])[0])[0]
    assert segment == 2 and 0.5 < score < 1


def test_index_finds_hour_and_moment(tmp_path: Path, encoder: FakeEncoder) -> None:
    """A sound may last an hour, or the twentieth of a second."""
    path = tmp_path / "hour.flac"
    hour = np.tile(tone("low", seconds=1), 3600)
    hour[1800 * RATE : 1801 * RATE] = tone("shrill", seconds=1)
    soundfile.write(path, hour, RATE)
    index = SoundIndex.empty(encoder)
    report = index.add([path, write_tone(tmp_path / "moment.wav", "high", seconds=0.05)])
    assert report.skipped == ()
    query = encoder.embed_text(["shrill"])[0]
    sound, _, segment = index.search(query)[0]
    assert (sound.name, segment) == ("hour.flac", 180)
    scores = index.per_second_scores(sound.id, query)
    assert scores.shape == (3600,) and scores.argmax() == 1800
    assert names(index, "high", 1) == ["moment.wav"]


def test_index_add_names_unusable_files(tmp_path: Path, encoder: FakeEncoder) -> None:
    good = write_tone(tmp_path / "good.wav", "low")
    silent = write_tone(tmp_path / "silent.wav", "low", level=0.0)
    broken = tmp_path / "broken.mp3"
    broken.write_text("not a sound\n" * 100)
    missing = tmp_path / "missing.wav"
    index = SoundIndex.empty(encoder)
    report = index.add([broken, good, missing, silent])
    assert report.added == 1 and [sound.name for sound in index.sounds] == ["good.wav"]
    reasons = {path.name: reason for path, reason in report.skipped}
    assert "cannot be read as audio" in reasons["broken.mp3"]
    assert "silent" in reasons["silent.wav"]
    assert "No such file" in reasons["missing.wav"]


def test_index_keeps_files_of_same_name(tmp_path: Path, encoder: FakeEncoder) -> None:
    """Two visitors' recordings, and even the same recording in two places: all stay."""
    paths = [
        write_tone(tmp_path / "a" / "recording.wav", "low"),
        write_tone(tmp_path / "b" / "recording.wav", "high"),
        write_tone(tmp_path / "c" / "recording.wav", "low"),
    ]
    index = SoundIndex.empty(encoder)
    assert index.add(paths).added == 3
    assert len({sound.id for sound in index.sounds}) == 3
    assert [sound.path for sound in index.sounds] == paths
    assert encoder.calls == 2


def test_index_embeds_only_changed_files_again(
    index: SoundIndex, folder: Path, encoder: FakeEncoder
) -> None:
    before = {sound.name: sound.id for sound in index.sounds}
    calls = encoder.calls
    assert index.add(folder.iterdir()).unchanged == len(WORDS)
    assert encoder.calls == calls
    write_tone(folder / "low.wav", "high", seconds=3)
    shutil.copy(folder / "deep.wav", folder / "copy.wav")
    report = index.add(folder.iterdir())
    assert (report.added, report.unchanged) == (2, len(WORDS) - 1)
    assert encoder.calls == calls + 1
    after = {sound.name: sound.id for sound in index.sounds}
    assert after["low.wav"] != before["low.wav"] and after["deep.wav"] == before["deep.wav"]
    assert set(names(index, "high", 2)) == {"high.wav", "low.wav"}


def test_index_add_of_captions_embeds_nothing(
    index: SoundIndex, folder: Path, encoder: FakeEncoder
) -> None:
    calls, places = encoder.calls, index.layout()
    index.add([folder / "low.wav"], {folder / "low.wav": Description("hum", "A low hum")})
    index.add([folder / "low.wav"])
    low = next(sound for sound in index.sounds if sound.name == "low.wav")
    assert (low.kind, low.caption) == ("hum", "A low hum")
    assert encoder.calls == calls and index.layout() is places


def test_index_remove_keeps_layout_of_rest(index: SoundIndex) -> None:
    low = next(sound for sound in index.sounds if sound.name == "low.wav")
    place = {s.name: tuple(p) for s, p in zip(index.sounds, index.layout(), strict=True)}
    index.remove([low.id, "no such id"])
    assert "low.wav" not in names(index, "low") and len(index.sounds) == len(WORDS) - 1
    assert place.pop("low.wav")
    assert place == {s.name: tuple(p) for s, p in zip(index.sounds, index.layout(), strict=True)}
    for word in ("deep", "shrill"):
        assert names(index, word, 1) == [f"{word}.wav"]
    with pytest.raises(InputError, match="no longer in the library"):
        index.per_second_scores(low.id, np.zeros(6, np.float32))
    index.remove([sound.id for sound in index.sounds])
    assert index.sounds == () and index.layout().shape == (0, 2)


def test_index_add_when_cancelled_changes_nothing(index: SoundIndex, tmp_path: Path) -> None:
    new = [write_tone(tmp_path / f"{n}.wav", "low", seconds=1 + n) for n in range(3)]

    def cancel(done: int, total: int, name: str) -> None:
        assert (total, name) == (3, f"{done}.wav")
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index.add(new, progress=cancel)
    assert len(index.sounds) == len(WORDS)
