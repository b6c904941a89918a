"""Two libraries searched as one: as if all sounds were in one index."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.support.fake_sound_encoder import FakeEncoder, write_tone
from earshot.core.errors import InputError
from earshot.exports.sounds import labels_csv, results_zip
from earshot.sound_index.index import SoundIndex
from earshot.sound_index.library import JointLibrary
from earshot.sound_index.sound import Filter
from earshot.systems.sound_search import SoundSearch

FIRST = (("low",), ("low", "middle"), ("high",), ("shrill",))
SECOND = (("middle",), ("deep",), ("high", "shrill"))


def index_of(folder: Path, sounds: tuple[tuple[str, ...], ...]) -> SoundIndex:
    index = SoundIndex.empty(FakeEncoder())
    paths = [folder / f"{'-'.join(words)}.wav" for words in sounds]
    index.add(write_tone(path, *words) for path, words in zip(paths, sounds, strict=True))
    return index


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sounds")


@pytest.fixture(scope="module")
def joint(folder: Path) -> SoundIndex:
    first, second = (index_of(folder, sounds).library for sounds in (FIRST, SECOND))
    return SoundIndex(FakeEncoder(), JointLibrary(first, second))


@pytest.fixture(scope="module")
def whole(folder: Path) -> SoundIndex:
    return index_of(folder, FIRST + SECOND)


@pytest.mark.parametrize(
    "query",
    [
        {"text": "middle"},
        {"text": "low then middle"},
        {"text": "high", "without": "shrill"},
        {"text": "deep", "only": Filter(title="deep")},
        {"text": "low", "only": Filter(title="low")},
    ],
)
def test_joint_search_equals_one_index(joint: SoundIndex, whole: SoundIndex, query: dict) -> None:
    search = SoundSearch(FakeEncoder())
    one, other = search(joint, **query), search(whole, **query)
    assert [hit.sound for hit in one.hits] == [hit.sound for hit in other.hits]
    np.testing.assert_allclose(one.scores, other.scores, atol=1e-6)
    for mine, theirs in zip(one.hits, other.hits, strict=True):
        np.testing.assert_array_equal(mine.part_scores, theirs.part_scores)


def test_joint_library_knows_sounds_of_both(joint: SoundIndex, whole: SoundIndex) -> None:
    assert list(joint.sounds) == list(whole.sounds) and len(joint.library.numbers) == 7
    every = np.arange(7)[::-1]
    np.testing.assert_allclose(joint.library.means(every), whole.library.means(every), atol=1e-6)
    for number, sound in enumerate(whole.sounds):
        assert joint[sound.id] == sound and joint.library.numbers[sound.id] == number
        assert joint.library.at(sound.path) == sound
        assert joint.library.copies(sound.content_hash) == 1
    with pytest.raises(InputError, match="no longer in the library"):
        joint["nobody"]
    assert joint.layout().shape == (7, 2) and np.isfinite(joint.layout()).all()


def test_joint_votes_take_sounds_of_both(joint: SoundIndex) -> None:
    """So do the exports, and a search by one of the sounds."""
    search = SoundSearch(FakeEncoder())
    own = joint.sounds[5].id
    result = search(joint, "high", votes={own: 1})
    assert result.hits[0].sound.id == own
    assert "deep.wav" in labels_csv(joint, {"high": {own: 1}})
    assert results_zip(result, joint)[:2] == b"PK"
    like = search(joint, like=own)
    assert own not in [hit.sound.id for hit in like.hits]


def test_joining_empty_library_changes_nothing(folder: Path) -> None:
    full, empty = index_of(folder, FIRST), SoundIndex.empty(FakeEncoder())
    for pair in ((full, empty), (empty, full)):
        joint = SoundIndex(FakeEncoder(), JointLibrary(*(index.library for index in pair)))
        assert len(SoundSearch(FakeEncoder())(joint, "low").hits) == len(FIRST)
