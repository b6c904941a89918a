"""The map of systems × stimuli."""

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from earshot.study.analysis.report import figures
from earshot.study.analysis.report.panels import SIDES, _ink
from earshot.study.analysis.results import by_stimulus, evaluate
from tests.study.analysis.made import make_test, rate


def quality(rater: int, system: str, other: str, stimulus: str) -> float:
    return 4.0 - (system != "ours") - (stimulus == "sound-2")


def test_means_begin_with_best_system() -> None:
    """The stimulus that is rated lowest has the first column."""
    test = make_test("acr")
    ratings = rate(test, 3, quality)
    means = by_stimulus(evaluate(test, ratings[ratings["kind"] == "trial"]))
    assert means.index[0] == "ours" and means.columns[0] == "sound-2"
    assert means.loc["ours", "sound-2"] == 3 and means.loc["rival", "sound-1"] == 3


@pytest.mark.parametrize("design", ["ab", "ccr", "abx"])
def test_means_of_pair_are_of_first(design: str) -> None:
    """Whichever of the two a trial names first."""
    test = make_test(design, ("a", "b"), stimuli=2)
    ratings = rate(test, 4, lambda rater, *_: 1.0 if rater else 0.0)
    means = by_stimulus(evaluate(test, ratings))
    swapped = ratings.assign(system=ratings["other"], other=ratings["system"])
    again = by_stimulus(evaluate(test, swapped))
    assert means.loc["a and b"].tolist() == [0.75, 0.75]
    # The better one is named first; in abx none is.
    assert again.index.tolist() == ["a and b" if design == "abx" else "b and a"]
    assert again.iloc[0].tolist() == [0.75, 0.75]


def test_missing_stimulus_is_no_number() -> None:
    """The map has a gap where a system lacks a stimulus."""
    test = make_test("acr", ("ours", "rival"))
    ratings = rate(test, 3, quality)
    gap = (ratings["system"] == "rival") & (ratings["stimulus"] == "sound-0")
    means = by_stimulus(evaluate(test, ratings[~gap]))
    assert np.isnan(means.loc["rival", "sound-0"]) and means.notna().sum().sum() == 11


@pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 0.75, 1.0])
def test_numbers_stand_out_from_their_cells(share: float) -> None:
    def luminance(colour: object) -> float:
        rgb = np.array(to_rgb(colour))  # type: ignore[arg-type]
        linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        return float(linear @ (0.2126, 0.7152, 0.0722))

    cell = SIDES(share)
    lighter, darker = sorted((luminance(cell[:3]), luminance(_ink(cell))), reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) >= 4.5


def test_figures_of_many_pairs_are_drawn() -> None:
    """Higher than 65,536 pixels, they would be none."""
    test = make_test("abx", [f"y{number}" for number in range(47)], stimuli=1)
    analysis = evaluate(test, rate(test, 2, lambda rater, *_: float(rater)))
    assert len(analysis.pairs) == 1081
    for drawn in (figures.figure(test, analysis), figures.stimuli(analysis)):
        picture, _ = figures.png(lambda drawn=drawn: drawn)
        assert picture.startswith(b"\x89PNG")
        assert "the first 66 of 1,081" in drawn.axes[0].get_xlabel()
