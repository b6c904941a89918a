"""The error rates of the headphone check, added up exactly: `python -m benchmarks.headphone_check`.

A rater answers each trial rightly with the same probability: a third where nothing can be heard.
"""

from typing import Final

from earshot.study.design.raters import HeadphoneCheck
from earshot.study.sounds import checks
from earshot.study.sounds.checks import HeadphoneKind

SHARES: Final = (1 / 3, 0.5, 0.6, 0.8, 0.9, 0.95, 0.99)  # of trials that are answered rightly
FORMS: Final[tuple[tuple[str, HeadphoneKind, bool], ...]] = (
    ("Huggins' pitch, six trials", "huggins", False),
    ("antiphase, six trials", "antiphase", False),
    ("either kind, short", "huggins", True),
)


def pass_rate(share: float, kind: HeadphoneKind, short: bool) -> tuple[float, float]:
    """Add up how often an attempt is passed, and how many trials it takes on average."""
    passed, trials = 0.0, 0.0
    open_ways: dict[tuple[bool, ...], float] = {(): 1.0}
    while open_ways:
        longer: dict[tuple[bool, ...], float] = {}
        for way, chance in open_ways.items():
            trials += chance
            for right, weight in ((True, share), (False, 1 - share)):
                end = checks.decided((*way, right), kind, short)
                if end is None:
                    longer[(*way, right)] = chance * weight
                elif end:
                    passed += chance * weight
        open_ways = longer
    return passed, trials


def lines() -> list[str]:
    """Write the table."""
    head = " | ".join(f"{name}: passed, % (in two attempts); trials" for name, *_ in FORMS)
    table = [f"| right of a trial, % | {head} |", "|---:|" + "---:|" * len(FORMS)]
    for share in SHARES:
        cells = []
        for _, kind, short in FORMS:
            passed, trials = pass_rate(share, kind, short)
            two = 1 - (1 - passed) ** checks.MAX_ATTEMPTS
            cells.append(f"{100 * passed:.1f} ({100 * two:.1f}); {trials:.1f}")
        table.append(f"| {100 * share:.0f} | {' | '.join(cells)} |")
    most = checks.trials_of(HeadphoneCheck(short=True))
    return [
        *table,
        "",
        f"The short form takes {checks.SHORT_RIGHT[0]} trials without an error, "
        f"and {most} at most.",
    ]


if __name__ == "__main__":
    print(*lines(), sep="\n")
