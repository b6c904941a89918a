"""A word across hours of recordings: the index, its updates, and the places found in it."""

import csv
import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from earshot.cli import words as command
from earshot.core.errors import InputError
from earshot.core.paths import ASSETS
from earshot.exports.words import hits_csv, hits_zip
from earshot.media.audio.load import load
from earshot.media.constants import SAMPLE_RATE
from earshot.systems.words import Words, word_index
from earshot.systems.words.word_index import WordIndex, query_of, update
from earshot.systems.words.word_search import WordSearch

EXAMPLES = ASSETS / "examples"
LIGHTHOUSE = "woman-lighthouse.ogg"


@pytest.fixture(scope="module")
def words() -> Words:
    return Words.from_pretrained(device="cpu")


@pytest.fixture(scope="module")
def tiny(tiny_checkpoints: Path) -> Words:
    return Words.from_pretrained(tiny_checkpoints / "words", "cpu")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Recordings in a folder and a subfolder, one with a name of odd letters, and a table."""
    recordings = {"a.ogg": LIGHTHOUSE, "deep/b\t“é”.ogg": "scot-digits.ogg"}
    for name, example in recordings.items():
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((EXAMPLES / example).read_bytes())
    (tmp_path / "in" / "notes.csv").write_text("no sound")
    return tmp_path / "in"


@pytest.fixture(scope="module")
def index(words: Words, tmp_path_factory: pytest.TempPathFactory) -> WordIndex:
    """An index of a woman's sentence, a row of digits, and a video."""
    folder, out = tmp_path_factory.mktemp("recordings"), tmp_path_factory.mktemp("index")
    for name in (LIGHTHOUSE, "scot-digits.ogg", "finished-lips.mp4"):
        (folder / name).write_bytes((EXAMPLES / name).read_bytes())
    report = update(folder, out, words)
    assert (report.added, report.skipped) == (3, ())
    return WordIndex.open(out, words)


@pytest.mark.slow
def test_word_is_found_where_careful_search_finds_it(index: WordIndex, words: Words) -> None:
    for word, name in (("lighthouse", LIGHTHOUSE), ("nine", "scot-digits.ogg")):
        _, query = query_of(words, word)
        best = index.find(query).matches[0]
        search = WordSearch(words)
        place = search(search.encode(EXAMPLES / name), query).places[0]
        assert best.recording.name == name
        assert best.place.start == pytest.approx(place.start, abs=0.05)
        assert best.place.score == pytest.approx(place.score, abs=0.1)


@pytest.mark.slow
def test_word_that_nobody_says_is_not_found(index: WordIndex, words: Words) -> None:
    results = index.find(query_of(words, "hippopotamus")[1])
    assert not results.matches
    assert 0 < len(results.chosen) <= word_index.MAX_NEAREST


@pytest.mark.slow
def test_word_may_be_said_or_both(index: WordIndex, words: Words) -> None:
    digits = load(EXAMPLES / "scot-digits.ogg").waveform
    nine = (SAMPLE_RATE, digits[round(1.15 * SAMPLE_RATE) : round(1.7 * SAMPLE_RATE)])
    for text, name in (("", "the word you said"), ("nine", "nine")):
        word, query = query_of(words, text, nine)
        assert word == name
        assert index.find(query).hits[0].recording.name == "scot-digits.ogg"
    with pytest.raises(InputError, match="Type the word"):
        query_of(words, " ")


@pytest.mark.slow
def test_places_are_files_for_other_programs(index: WordIndex, words: Words) -> None:
    hits = index.find(query_of(words, "nine")[1]).matches
    rows = list(csv.DictReader(io.StringIO(hits_csv(hits, "nine"))))
    assert [row["file"] for row in rows] == [hit.recording.name for hit in hits]
    packed = zipfile.ZipFile(io.BytesIO(hits_zip(hits, "nine", index)))
    start, end, label = (
        packed.read("scot-digits.ogg.labels.txt").decode().split("\n")[0].split("\t")
    )
    assert float(start) < float(end)
    assert label.startswith("nine 0.")
    assert b"TextGrid" in packed.read("scot-digits.ogg.TextGrid")
    clip = load(packed.read("clips/001-scot-digits.wav")).waveform
    place = hits[0].place
    near = load(EXAMPLES / "scot-digits.ogg").waveform
    start = max(0, round((place.start - 1) * SAMPLE_RATE))
    assert np.corrcoef(clip, near[start : start + len(clip)])[0, 1] > 0.9  # Opus changes it


def test_update_resumes_and_follows_the_folder(folder: Path, tmp_path: Path, tiny: Words) -> None:
    out = tmp_path / "index"

    def stop(number: int, *_: object) -> None:
        if number == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        update(folder, out, tiny, stop)
    assert [r.name for r in WordIndex.open(out, tiny).recordings] == ["a.ogg"]
    report = update(folder, out, tiny)
    assert (report.added, report.unchanged, report.removed) == (1, 1, 0)
    assert [path.name for path, _ in report.skipped] == ["notes.csv"]
    (folder / "a.ogg").write_bytes((EXAMPLES / "man-place-blue.ogg").read_bytes())
    (folder / "deep" / "b\t“é”.ogg").unlink()
    report = update(folder, out, tiny)
    assert (report.added, report.unchanged, report.removed) == (1, 0, 1)
    index = WordIndex.open(out, tiny)
    assert [recording.name for recording in index.recordings] == ["a.ogg"]
    assert index.seconds == pytest.approx(load(folder / "a.ogg").seconds, abs=0.01)
    assert sorted(path.suffix for path in out.iterdir()) == [".json", ".json", ".npy", ".opus"]


@pytest.mark.slow
def test_pieces_of_long_recording_are_one(monkeypatch: pytest.MonkeyPatch, words: Words) -> None:
    names = (LIGHTHOUSE, "scot-digits.ogg", "man-place-blue.ogg")
    waveform = np.concatenate([load(EXAMPLES / name).waveform for name in names])
    whole = word_index._stored_posteriors(words, waveform)
    monkeypatch.setattr(word_index, "PIECE", 3 * 30_720)
    parts = word_index._stored_posteriors(words, waveform)
    for one, other in zip(parts, whole, strict=True):
        assert one.shape == other.shape
        assert (one.argmin(axis=0) == other.argmin(axis=0)).mean() > 0.95


def test_refusals_say_what_to_do(folder: Path, tmp_path: Path, tiny: Words, words: Words) -> None:
    with pytest.raises(InputError, match="no folder"):
        update(tmp_path / "none", tmp_path / "index", tiny)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no files"):
        update(tmp_path / "empty", tmp_path / "index", tiny)
    with pytest.raises(InputError, match="not empty"):
        update(folder, EXAMPLES, tiny)
    with pytest.raises(InputError, match="words index FOLDER"):
        WordIndex.open(tmp_path / "none", tiny)
    out = tmp_path / "index"
    update(folder, out, tiny)
    with pytest.raises(InputError, match="another model"):
        update(folder, out, words)
    for damage in ("{", "[]", "null", '{"format": 1}'):
        (out / "index.json").write_text(damage)
        with pytest.raises(InputError, match="Delete it"):
            WordIndex.open(out, tiny)


def test_truncated_files_of_index_are_named(folder: Path, tmp_path: Path, tiny: Words) -> None:
    out = tmp_path / "index"
    update(folder, out, tiny)
    query = tiny.embed_text("nine")
    for ending in ("*.npy", "*.opus"):
        for path in out.glob(ending):
            path.write_bytes(path.read_bytes()[:40])
        with pytest.raises(InputError, match="damaged"):
            WordIndex.open(out, tiny).find(query)
        for path in out.glob("*.json"):
            if path.name != "index.json":
                path.unlink()
        update(folder, out, tiny)


@pytest.mark.slow
def test_commands_index_and_find(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "index")
    command.main(["index", str(folder), "-o", out])
    assert "skipped" in capsys.readouterr().out
    command.main(["find", "lighthouse", "--index", out, "--json"])
    assert json.loads(capsys.readouterr().out)["file"] == "a.ogg"
    command.main(["find", "nine", "--index", out, "-o", str(tmp_path / "places.csv")])
    assert "b\\t" in capsys.readouterr().out  # a name in a line
    assert "b\t" in (tmp_path / "places.csv").read_text("utf-8-sig")
    with pytest.raises(SystemExit, match=r"\.csv or \.zip"):
        command.main(["find", "nine", "--index", out, "-o", str(tmp_path / "places.doc")])
