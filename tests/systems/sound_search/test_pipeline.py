"""The search: hits, threshold, votes and unusable queries."""

import csv
import io
import json
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest

from benchmarks.support.fake_sound_encoder import RATE, WORDS, FakeEncoder, tone, write_tone
from earshot.core.errors import InputError
from earshot.exports import sounds as export
from earshot.exports.sounds import labels_csv, results_zip
from earshot.sound_index.index import SoundIndex
from earshot.sound_index.sound import Filter
from earshot.systems.sound_search import SearchResult, SoundSearch


@pytest.fixture(scope="module")
def search() -> SoundSearch:
    return SoundSearch(FakeEncoder())


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> SoundIndex:
    """A tone of each octave, and of each pair of neighbours, one after the other."""
    folder = tmp_path_factory.mktemp("sounds")
    sounds = [*((word,) for word in WORDS), *zip(WORDS, WORDS[1:], strict=False)]
    index = SoundIndex.empty(FakeEncoder())
    index.add(write_tone(folder / f"{'-'.join(words)}.wav", *words) for words in sounds)
    return index


def names(result: SearchResult) -> list[str]:
    return [hit.sound.name.removesuffix(".wav") for hit in result.hits]


def identity(index: SoundIndex, name: str) -> str:
    return next(sound.id for sound in index.sounds if sound.name == f"{name}.wav")


def test_text_search_gives_ranked_hits(search: SoundSearch, index: SoundIndex) -> None:
    """Each hit has the seconds that match."""
    result = search(index, "a high tone", limit=3)
    assert names(result)[0] == "high"
    assert set(names(result)[1:]) == {"middle-high", "high-shrill"}
    assert result.matched and result.threshold == FakeEncoder.threshold
    assert result.notices == () and result.compute_seconds > 0
    hit = next(hit for hit in result.hits if hit.sound.name == "middle-high.wav")
    assert hit.per_second_scores.shape == (4,) and hit.start == 2.0
    assert (hit.per_second_scores > 0.9).tolist() == [False, False, True, True]
    assert [hit.score for hit in result.hits] == sorted([h.score for h in result.hits])[::-1]


def test_two_sounds_are_found_in_order(search: SoundSearch, index: SoundIndex) -> None:
    """They may also be asked for together, or kept whole by quotes."""
    result = search(index, "a low tone, then a middle one", limit=3)
    assert names(result)[0] == "low-middle" and result.compound.links == ("then",)
    hit = result.hits[0]
    assert hit.part_scores.shape == (2, 4) and hit.starts[0] < 2 <= hit.starts[1]
    assert hit.score == pytest.approx(1, abs=0.02) and result.matched
    assert search(index, "a middle tone, then a low one").hits[0].score < 0.6
    assert names(search(index, "a middle tone and a low one"))[0] == "low-middle"
    whole = search(index, '"a middle tone, then a low one"')
    assert not whole.compound.links and whole.hits[0].part_scores.shape[0] == 1
    without = search(index, "a low tone, then a middle one", without="middle")
    assert without.hits[0].score < hit.score


def test_search_for_fifty_sounds_is_refused(search: SoundSearch, index: SoundIndex) -> None:
    with pytest.raises(InputError, match="names 50 sounds"):
        search(index, ", then ".join(["a low tone"] * 50))


def test_search_scores_every_sound(search: SoundSearch, index: SoundIndex) -> None:
    """It places the query on the map."""
    result = search(index, "high")
    assert result.scores.shape == (len(index.sounds),)
    best = index.sounds[int(result.scores.argmax())]
    assert best.name == "high.wav"
    assert result.hits[0].score == pytest.approx(result.scores.max())
    assert all(0 <= coordinate <= 1 for coordinate in result.point)
    distance = np.linalg.norm(index.layout() - result.point, axis=1)
    high = [i for i, sound in enumerate(index.sounds) if "high" in sound.name]
    assert distance[high].mean() < distance.mean()


def test_search_below_threshold_is_no_match(search: SoundSearch, index: SoundIndex) -> None:
    result = search(index, "a lawn mower")
    assert not result.matched
    assert len(result.hits) == len(index.sounds)


def test_search_by_recording_finds_similar_sounds(search: SoundSearch, index: SoundIndex) -> None:
    result = search(index, like=(RATE, tone("shrill", seconds=12)))
    assert names(result)[:2] == ["shrill", "high-shrill"]


def test_search_by_sound_leaves_it_out(search: SoundSearch, index: SoundIndex) -> None:
    result = search(index, like=identity(index, "shrill"), limit=2)
    assert names(result)[0] == "high-shrill" and len(result.hits) == 2
    assert "shrill" not in names(search(index, like=identity(index, "shrill"), limit=100))


def test_exclusion_lowers_matching_sounds(search: SoundSearch, index: SoundIndex) -> None:
    both = names(search(index, "high"))
    without = names(search(index, "high", without="shrill"))
    assert abs(both.index("high-shrill") - both.index("middle-high")) == 1
    assert without[0] == "high"
    assert without.index("high-shrill") > without.index("middle-high")


def test_exclusion_does_not_undo_match(
    search: SoundSearch, index: SoundIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search.encoder, "threshold", 0.95)
    without = search(index, "high", without="shrill")
    assert without.hits[0].score < 0.95
    assert without.matched and without.threshold <= without.hits[0].score
    assert not search(index, "engine", without="shrill").matched


def test_search_combines_text_sound_and_exclusion(search: SoundSearch, index: SoundIndex) -> None:
    low = identity(index, "low")
    assert names(search(index, "middle", like=low))[0] == "low-middle"
    result = search(index, "middle", like=low, without="low")
    assert names(result).index("middle") < names(result).index("deep-low")


def test_votes_rerank_without_changing_scores(search: SoundSearch, index: SoundIndex) -> None:
    plain = search(index, "high")
    votes = {identity(index, "middle-high"): 1, identity(index, "high"): -1, "gone": 1}
    voted = search(index, "high", votes=votes)
    assert names(voted)[0] == "middle-high" and names(voted)[-1] == "high"
    # Unvoted sounds move as well: what sounds like the liked one rises.
    assert names(plain).index("high-shrill") < names(plain).index("middle")
    assert names(voted).index("middle") < names(voted).index("shrill")
    assert {h.sound.id: h.score for h in voted.hits} == {h.sound.id: h.score for h in plain.hits}
    assert voted.matched
    assert names(search(index, "high")) == names(plain)


def test_one_vote_moves_its_sound(search: SoundSearch, index: SoundIndex) -> None:
    """A liked sound never falls, and a disliked one never rises."""
    plain = names(search(index, "low"))
    for name in WORDS:
        for sign in (1, -1):
            voted = names(search(index, "low", votes={identity(index, name): sign}))
            assert sign * (plain.index(name) - voted.index(name)) >= 0


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({}, "Type what you would like to hear"),
        ({"text": " \n\t"}, "Type what you would like to hear"),
        ({"text": "?!… –"}, "no words"),
        ({"text": "🐕🌧️"}, "no words"),
        ({"text": "\ud83d"}, "Type what you would like to hear"),
        ({"text": "a" * 1001}, "too long .1,001 characters.*1,000 characters or fewer"),
        ({"text": "woof " * 2000}, "too long"),
        ({"without": "rain"}, "Say also what you would like"),
        ({"text": "low", "without": "🐕"}, "no words"),
        ({"text": "low", "without": "a" * 1001}, "too long"),
        ({"like": (RATE, np.zeros(RATE))}, "silent"),
        ({"like": (RATE, np.ones(61 * RATE))}, "longer than 60 s"),
        ({"like": b"not a sound"}, "cannot be read"),
        ({"like": "no-such-id"}, "no longer there"),
    ],
)
def test_search_with_an_unusable_query_raises(
    search: SoundSearch, index: SoundIndex, query: dict, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        search(index, **query)


@pytest.mark.parametrize("text", ["собака лает под дождём", "犬が吠える"])
def test_search_in_other_script_adds_notice(
    search: SoundSearch, index: SoundIndex, text: str
) -> None:
    result = search(index, text)
    assert len(result.notices) == 1 and "in English, German" in result.notices[0]


def test_foreign_query_equals_its_english(search: SoundSearch, index: SoundIndex) -> None:
    result = search(index, "ein tiefer Ton, dann ein hoher", without="laut")
    assert result.notices[0] == "German, read as “a deep sound, then a high”."
    english = search(index, "a deep sound, then a high", without="loud")
    assert result.compound == english.compound and names(result) == names(english)
    with pytest.raises(InputError, match="too long"):
        search(index, "狗" * 1001)


@pytest.mark.parametrize("text", ["a café", "440", "low 🐕", "a" * 1000, "low \udc00 tone"])
def test_accents_and_emoji_add_no_notice(search: SoundSearch, index: SoundIndex, text: str) -> None:
    """Nor do numbers, long texts and broken characters."""
    assert search(index, text).notices == ()


def test_empty_or_mismatched_library_is_refused(search: SoundSearch, index: SoundIndex) -> None:
    with pytest.raises(InputError, match="empty"):
        search(SoundIndex.empty(FakeEncoder()), "low")
    with pytest.raises(InputError, match="Another model"):
        search(SoundIndex(FakeEncoder("other"), index.library), "low")


def test_search_works_after_index_was_deleted(
    search: SoundSearch, index: SoundIndex, tmp_path: Path
) -> None:
    index.save(tmp_path / "index")
    opened = SoundIndex.open(tmp_path / "index", FakeEncoder())
    shutil.rmtree(tmp_path / "index")
    assert names(search(opened, "high")) == names(search(index, "high"))


def test_search_is_deterministic(search: SoundSearch, index: SoundIndex) -> None:
    first, second = (search(index, "low tone", without="deep") for _ in range(2))
    assert names(first) == names(second)
    np.testing.assert_array_equal(first.scores, second.scores)


def test_labels_csv_has_row_per_vote(index: SoundIndex) -> None:
    low, high = identity(index, "low"), identity(index, "high")
    votes = {'a "low", deep tone': {low: 1, high: -1}, "high": {high: 1, "gone": 1}}
    rows = list(csv.DictReader(io.StringIO(labels_csv(index, votes))))
    assert [(row["query"], row["name"], row["grade"]) for row in rows] == [
        ('a "low", deep tone', "low.wav", "1"),
        ('a "low", deep tone', "high.wav", "-1"),
        ("high", "high.wav", "1"),
    ]
    assert rows[0]["content_hash"] == index[low].content_hash


def test_labels_csv_runs_no_formula(index: SoundIndex) -> None:
    query = '=HYPERLINK("http://somewhere")'
    votes = {query: {identity(index, "low"): 1}}
    (row,) = csv.DictReader(io.StringIO(labels_csv(index, votes)))
    assert row["query"] == f"'{query}"


def test_filtered_search_finds_only_what_passes(search: SoundSearch, index: SoundIndex) -> None:
    assert set(names(search(index, "high", only=Filter(title="SHRILL")))) == {
        "shrill",
        "high-shrill",
    }
    result = search(index, "high", only=Filter(min_seconds=3.0))
    assert result.hits and all(hit.sound.seconds == 4 for hit in result.hits)
    assert names(search(index, "a low tone, then a middle one", only=Filter(title="low-")))
    for none in (Filter(title="no such name"), Filter(kinds=frozenset({"dog"}))):
        with pytest.raises(InputError, match="No sound passes"):
            search(index, "high", only=none)


@pytest.mark.parametrize("lengths", [(3.0, 2.0), (float("nan"), 5.0), (float("inf"), 5.0)])
def test_filter_with_impossible_lengths_is_refused(lengths: tuple[float, float]) -> None:
    with pytest.raises(InputError, match="shortest length"):
        Filter("", *lengths)


def test_results_zip_holds_sounds_and_vectors(
    search: SoundSearch, index: SoundIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It holds the scores of seconds too, and leaves out sounds that are too large."""
    result = search(index, "a low tone, then a middle one", limit=3)
    with zipfile.ZipFile(io.BytesIO(results_zip(result, index))) as file:
        rows = list(csv.DictReader(io.StringIO(file.read("results.csv").decode("utf-8-sig"))))
        lines = [json.loads(line) for line in file.read("results.jsonl").splitlines()]
        arrays = np.load(io.BytesIO(file.read("embeddings.npz")))
        sounds = [name for name in file.namelist() if name.startswith("sounds/")]
        assert file.read(sounds[0]) == result.hits[0].sound.path.read_bytes()
    assert [row["file"] for row in rows] == arrays["names"].tolist()
    assert rows[0]["file"] == "01-low-middle.wav" and sounds[0] == "sounds/01-low-middle.wav"
    assert [part["text"] for part in lines[0]["parts"]] == ["a low tone", "a middle one"]
    assert len(lines[0]["parts"][0]["seconds"]) == 4
    np.testing.assert_allclose(np.linalg.norm(arrays["vectors"], axis=1), 1, atol=1e-5)
    monkeypatch.setattr(export, "MAX_SOUND_BYTES", 0)
    with zipfile.ZipFile(io.BytesIO(results_zip(result, index))) as file:
        assert file.namelist() == ["results.csv", "results.jsonl", "embeddings.npz"]
