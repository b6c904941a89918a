"""The panels of the figures on an axis of matplotlib: by design, with a row a system or pair; and a
map of systems × stimuli.

The tables have the last row first, since rows count upwards on the axis.
"""

from typing import Any, Final

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import LinearSegmentedColormap, Normalize

from earshot.study.analysis.estimates import Table, percent
from earshot.study.analysis.report.prose import interval, number
from earshot.study.analysis.staircases import share_right
from earshot.study.design import Scale, Test
from earshot.study.design.model import Staircase

INK, QUIET, LINE = "#1b2430", "#5b6570", "#e3e0d8"
# The palette of Okabe and Ito, which the colour-blind can tell apart.
BLUE, ORANGE = "#0072b2", "#e69f00"
COLOURS: Final = (BLUE, "#d55e00", "#009e73", "#cc79a7", ORANGE, "#56b4e9")
MAX_NAME: Final = 24  # characters of a name
MAX_TICKS: Final = 10  # of a scale with many steps
MAX_NUMBERED: Final = 12  # stimuli whose cells have room for a number
MAX_PAIR_NAME: Final = 52  # characters of the names of a pair
MAX_NAMED: Final = 40  # stimuli that have room for a name
# From the other system's to the first one's, as in the bars of votes; light where they are even.
SIDES: Final = LinearSegmentedColormap.from_list("sides", [ORANGE, "#f4f2ec", BLUE])


def frame(axis: Any, table: Table) -> None:
    """Prepare a row for each of the table's, by name."""
    names = [" and ".join(_named(row)) for row in table.to_dict("records")]
    axis.set_yticks(range(len(table)), names)
    axis.set_ylim(-0.6, len(table) - 0.4)
    axis.tick_params(axis="y", length=0)
    axis.spines[["top", "right", "left"]].set_visible(False)
    axis.set_axisbelow(True)


def _named(row: dict[str, Any]) -> list[str]:
    return [short(row[key]) for key in ("system", "other") if key in row]


def short(name: str, longest: int = MAX_NAME) -> str:
    """Shorten a name that it fits next to an axis."""
    return name if len(name) <= longest else f"{name[: longest - 1]}…"


def _colour(test: Test, row: dict[str, Any]) -> str:
    """Choose the colour that a system keeps, whatever its rank."""
    if "other" in row or row["system"] not in test.conditions:
        return BLUE
    return COLOURS[test.conditions.index(row["system"]) % len(COLOURS)]


def estimates(axis: Any, table: Table, lift: float = 0.0) -> None:
    """Draw values and their intervals, so far above their rows."""
    for y, row in enumerate(table.to_dict("records")):
        axis.plot([row["low"], row["high"]], [y + lift] * 2, color=INK, linewidth=1.6)
        axis.plot(row["value"], y + lift, "o", color=INK, markersize=5)


def _own(answers: Table, row: dict[str, Any]) -> np.ndarray:
    """Take the answers that a row of the table is about, from the side of its system."""
    own = answers["system"] == row["system"]
    if "other" not in row:
        return answers.loc[own, "answer"].to_numpy(float)
    turned = (answers["system"] == row["other"]) & (answers["other"] == row["system"])
    straight = own & (answers["other"] == row["other"])
    both = (answers.loc[straight, "answer"], -answers.loc[turned, "answer"])
    return np.concatenate(both).astype(float)


def ratings(axis: Any, test: Test, scale: Scale, table: Table, answers: Table) -> None:
    """Draw intervals, above discs as large as the share of each answer."""
    low, high = scale.bounds
    for y, row in enumerate(table.to_dict("records")):
        values, counts = np.unique(_own(answers, row), return_counts=True)
        colour = _colour(test, row)
        shares = 420 * counts / counts.sum()
        axis.scatter(values, np.full(len(values), y), shares, color=colour, alpha=0.3, linewidths=0)
        signed = low < 0
        text = f"{number(scale, row['value'], signed)} "
        text += interval(scale, row["low"], row["high"], signed).replace("–", "")
        axis.annotate(text, (1.01, y), xycoords=("axes fraction", "data"), va="center")
    estimates(axis, table)
    axis.set_xlim(low - 0.35, high + 0.35)
    axis.set_xticks(range(low, high + 1, max(1, (high - low) // MAX_TICKS)))
    axis.grid(axis="x", color=LINE, linewidth=0.8)
    if low < 0 <= high:
        axis.axvline(0, color=QUIET, linewidth=0.8)
    what = (
        "first of the two, compared with the second"
        if scale.of_pairs
        else "discs: shares of the answers"
    )
    axis.set_xlabel(f"{scale.measure} and 95 % interval; {what}")


def boxes(axis: Any, test: Test, table: Table, answers: Table) -> None:
    """Draw medians, quartiles, whiskers of at most 1.5 times their distance, and what lies
    beyond."""
    drawn = axis.boxplot(
        [_own(answers, row) for row in table.to_dict("records")],
        positions=range(len(table)),
        orientation="horizontal",
        widths=0.55,
        patch_artist=True,
        manage_ticks=False,
        showmeans=True,
        medianprops={"color": INK, "linewidth": 2},
        meanprops={"marker": "D", "markersize": 4, "markerfacecolor": "white"}
        | {"markeredgecolor": INK},
        whiskerprops={"color": INK},
        capprops={"color": INK},
        flierprops={"marker": "o", "markersize": 2.5, "alpha": 0.5, "markeredgecolor": QUIET},
    )
    for box, row in zip(drawn["boxes"], table.to_dict("records"), strict=True):
        box.set(facecolor=_colour(test, row), alpha=0.55, edgecolor=INK)
    axis.set_xlim(-2, 102)
    axis.set_xticks(range(0, 101, 20))
    axis.grid(axis="x", color=LINE, linewidth=0.8)
    axis.set_xlabel("MUSHRA score: median, quartiles, mean (diamond)")


def votes(axis: Any, scale: Scale, table: Table) -> None:
    """Draw bars of won, tied and lost votes, the interval of the share below each. No bar where a
    pair was never asked, of which the model of an adaptive test knows something all the same."""
    rows = table.to_dict("records")
    for y, row in enumerate(rows):
        count = max(row["ratings"], 1)
        won, tied, lost = (row[key] / count for key in ("won", "tied", "lost"))
        parts = [(won, BLUE, "#ffffff"), (tied, LINE, INK), (lost, ORANGE, "#000000")]
        _stack(axis, y, parts)
    estimates(axis, table, lift=-0.41)
    axis.axvline(0.5, color=INK, linewidth=0.8, linestyle=(0, (3, 2)))
    axis.set_yticks(range(len(rows)), [short(row["system"]) for row in rows])
    right = axis.secondary_yaxis("right")
    right.set_yticks(range(len(rows)), [short(row["other"]) for row in rows])
    right.tick_params(length=0)
    right.spines["right"].set_visible(False)
    _shares(
        axis,
        "Ranked above · ranked below\nBelow: 95 % interval"
        if scale.ranked
        else "Preferred · no preference · the other preferred\nBelow: ties as half, 95 % interval",
    )


def strengths(axis: Any, scale: Scale, table: Table) -> None:
    """Draw the strengths of Bradley and Terry, or of Plackett and Luce, with their intervals."""
    frame(axis, table)
    axis.axvline(0, color=QUIET, linewidth=0.8)
    estimates(axis, table)
    model = "Plackett–Luce" if scale.ranked else "Bradley–Terry"
    axis.set_xlabel(f"{model} strength (logit), mean and 95 % interval")


def levels(axis: Any, test: Test, table: Table, answers: Table) -> None:
    """Draw bars of the four levels, from the same speaker for sure to another for sure."""
    colours = ((BLUE, "#ffffff"), ("#9cc9e3", "#000000"), ("#f6d58a", "#000000"))
    for y, row in enumerate(table.to_dict("records")):
        own = _own(answers, row)
        parts = [
            (float(np.mean(own == level)), fill, text)
            for level, (fill, text) in enumerate((*colours, (ORANGE, "#000000")), start=1)
        ]
        _stack(axis, y, parts)
    estimates(axis, table, lift=-0.41)
    _shares(
        axis,
        "Same, sure · same, not sure · different, not sure · different, sure\n"
        "Below: judged the same, 95 % interval",
    )


def raters(axis: Any, table: Table, answers: Table) -> None:
    """Draw the share right with its interval, and a ring for each rater."""
    for y, row in enumerate(table.to_dict("records")):
        pair = {row["system"], row["other"]}
        own = answers[
            [set(two) == pair for two in zip(answers["system"], answers["other"], strict=True)]
        ]
        _rings(axis, y, own)
    estimates(axis, table, lift=-0.3)
    axis.axvline(0.5, color=INK, linewidth=0.8, linestyle=(0, (3, 2)))
    _shares(axis, "Right answers. Ring: a rater; dashed: chance\nBelow: all raters, 95 % interval")
    axis.set_xlim(-0.03, 1.03)


def tracks(axis: Any, staircase: Staircase, answers: Table) -> None:
    """Draw the level of each rater from trial to trial, the easiest on top."""
    levels = answers["system"].map(staircase.levels)
    for _, own in answers.assign(level=levels).sort_values("order").groupby("rater"):
        place = np.arange(1, len(own) + 1)
        axis.step(place, own["level"], where="mid", color=BLUE, linewidth=0.8, alpha=0.45)
    if staircase.sign < 0:
        axis.invert_yaxis()
    axis.spines[["top", "right"]].set_visible(False)
    axis.set_ylabel(_level(staircase))
    axis.set_xlabel("Trial; a line for each rater, harder below")


def psychometric(axis: Any, staircase: Staircase, row: Any, levels: Table) -> None:
    """Draw the fitted function of the mean rater, its threshold, and a ring for each level as large
    as its share of the answers."""
    ends = [*staircase.levels.values()]
    along = np.linspace(min(ends), max(ends), 200)
    right = share_right(staircase.sign * (along - row["value"]) / row["width"])
    axis.plot(along, right, color=BLUE, linewidth=1.6)
    sizes = 420 * levels["ratings"] / levels["ratings"].sum()
    axis.scatter(levels["level"], levels["value"], sizes, facecolors="none", edgecolors=QUIET)
    half = float(share_right(np.zeros(())))
    axis.plot([row["low"], row["high"]], [half] * 2, color=INK, linewidth=2.2)
    axis.plot(row["value"], half, "o", color=INK, markersize=6)
    axis.axhline(0.5, color=INK, linewidth=0.8, linestyle=(0, (3, 2)))
    axis.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0", "25", "50", "75", "100 %"])
    axis.set_ylim(0, 1.04)
    axis.set_ylabel("Right")
    axis.spines[["top", "right"]].set_visible(False)
    axis.set_xlabel(
        f"{_level(staircase)}\n"
        "Line: the mean rater; dot: threshold and 95 % interval; dashed: chance"
        "\nRings: all answers to a level, which the rule draws together"
    )


def _level(staircase: Staircase) -> str:
    return f"Level ({staircase.unit})" if staircase.unit else "Level"


def errors(axis: Any, table: Table, answers: Table) -> None:
    """Draw the share of word errors with its interval, and a ring for each rater."""
    for y, row in enumerate(table.to_dict("records")):
        _rings(axis, y, answers[answers["system"] == row["system"]])
    estimates(axis, table, lift=-0.3)
    _shares(axis, "Word errors. Ring: a rater\nBelow: all raters, 95 % interval")
    axis.set_xlim(-0.03, 1.03)


def _rings(axis: Any, y: int, own: Table) -> None:
    """Draw the mean answer of each rater."""
    means = own.groupby("rater")["answer"].mean()
    axis.scatter(means, np.full(len(means), y), 26, facecolors="none", edgecolors=BLUE, alpha=0.7)


def _stack(axis: Any, y: int, parts: list[tuple[float, str, str]]) -> None:
    """Draw a bar of shares, each with its colour and the ink for its percentage."""
    start = 0.0
    for share, colour, ink in parts:
        axis.barh(y, share, 0.62, start, color=colour, linewidth=0)
        if share >= 0.07:
            where = (start + share / 2, y)
            axis.annotate(percent(share), where, ha="center", va="center", color=ink)
        start += share


def _shares(axis: Any, label: str) -> None:
    axis.set_xlim(0, 1)
    axis.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25", "50", "75", "100 %"])
    axis.set_xlabel(label)


def heatmap(axis: Any, measured: Scale, means: Table) -> None:
    """Draw the means of results.by_stimulus, the first row on top; hatched where there are
    none."""
    low, high = measured.bounds
    colours = SIDES if measured.null is not None else colormaps["viridis"]
    scale, values = Normalize(low, high), means.to_numpy(float)
    rows, columns = values.shape
    axis.patch.set(facecolor="none", hatch="////", edgecolor=LINE)
    # As a picture where there are many cells, or the page would be slow.
    drawn = axis.pcolormesh(
        np.ma.masked_invalid(values), cmap=colours, norm=scale, rasterized=columns > MAX_NAMED
    )
    axis.invert_yaxis()
    axis.set_yticks(
        np.arange(rows) + 0.5, [short(str(name), MAX_PAIR_NAME) for name in means.index]
    )
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)
    if columns <= MAX_NAMED:
        names = [short(str(name)) for name in means.columns]
        axis.set_xticks(np.arange(columns) + 0.5, names, rotation=90)
    else:
        axis.set_xticks([])
        axis.set_xlabel(f"{columns} stimuli, rated lowest on the left")
    if columns <= MAX_NUMBERED:
        for (row, column), value in np.ndenumerate(values):
            ink = _ink(colours(scale(value)))
            text = number(measured, value, signed=low < 0) if np.isfinite(value) else ""
            at = (column + 0.5, row + 0.5)
            axis.annotate(text, at, ha="center", va="center", color=ink, fontsize=7)
    # Above, for its label is longer than a map of few rows is high.
    bar = axis.figure.colorbar(drawn, ax=axis, location="top", fraction=0.04, pad=0.02, aspect=40)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0)
    bar.set_label(measured.measure)


def _ink(colour: tuple[float, float, float, float]) -> str:
    """Choose black or white, whichever is easier to read on it (relative luminance of WCAG 2)."""
    rgb = np.array(colour[:3])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return "#000000" if linear @ (0.2126, 0.7152, 0.0722) > 0.179 else "#ffffff"
