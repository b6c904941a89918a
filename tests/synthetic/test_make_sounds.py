"""The sound library: recipes, captions and files."""

import csv
from collections import Counter

import numpy as np
import pytest
import soundfile

from synthetic.sounds import RECIPES, SAMPLE_RATE, Recipe, render
from synthetic.sounds.__main__ import RATE, SOUNDS
from synthetic.sounds.kit import PEAK

pytestmark = pytest.mark.slow

MAX_SOUNDS_BYTES = 12 * 2**20
# Rendering all of them takes minutes; a seeded sample finds what they have in common.
SAMPLE = [RECIPES[i] for i in np.random.default_rng(3).permutation(len(RECIPES))[:12]]


@pytest.fixture(scope="module")
def rows() -> list[dict[str, str]]:
    with open(SOUNDS / "captions.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_recipes_have_distinct_names_and_captions() -> None:
    assert max(Counter(recipe.name for recipe in RECIPES).values()) == 1
    for recipe in RECIPES:
        assert recipe.name == recipe.name.lower() and recipe.name.replace("-", "").isalnum()
        assert recipe.kind.islower() and recipe.kind.replace("_", "").isalpha()
        assert len(set(recipe.captions)) == len(recipe.captions) >= 2
        assert all(caption.strip() and "|" not in caption for caption in recipe.captions)


@pytest.mark.parametrize("recipe", SAMPLE, ids=lambda recipe: recipe.name)
def test_rendered_recipe_is_at_peak_level(recipe: Recipe) -> None:
    """A recipe sounds to the brim, and differs by seed."""
    sound = render(recipe, seed=0)
    assert sound.dtype == np.float32 and np.isfinite(sound).all()
    assert 1 <= len(sound) / SAMPLE_RATE <= 9
    assert np.isclose(np.abs(sound).max(), 10 ** (PEAK / 20), atol=1e-3)
    assert np.sqrt(np.mean(sound**2)) > 0.005
    assert abs(sound.mean()) < 5e-3
    assert max(abs(sound[0]), abs(sound[-1])) < 1e-3
    assert np.array_equal(sound, render(recipe, seed=0))
    other = render(recipe, seed=1)
    assert len(other) != len(sound) or np.corrcoef(sound, other)[0, 1] < 0.9


def test_sound_library_has_listed_files(rows: list[dict[str, str]]) -> None:
    """The library fits its size."""
    assert len(rows) >= 250
    assert len({row["kind"] for row in rows}) >= 60
    assert {row["file"] for row in rows} == {path.name for path in SOUNDS.glob("*.ogg")}
    assert sum(path.stat().st_size for path in SOUNDS.glob("*.ogg")) <= MAX_SOUNDS_BYTES


def test_sound_library_has_captions_of_recipes(rows: list[dict[str, str]]) -> None:
    written = {row["file"]: (row["kind"], row["caption"]) for row in rows}
    assert written == {
        f"{recipe.name}.ogg": (recipe.kind, " | ".join(recipe.captions)) for recipe in RECIPES
    }


def test_sound_library_is_short_and_audible(rows: list[dict[str, str]]) -> None:
    """Its files are short and audible."""
    for row in rows:
        sound, rate = soundfile.read(SOUNDS / row["file"])
        assert rate == RATE and sound.ndim == 1
        assert 1 <= len(sound) / rate <= 9
        assert 0.4 < np.abs(sound).max() <= 1
