"""Small made-up tests and ratings."""

from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path

import pandas as pd

from earshot.study.design import ANCHORS, DESIGNS, REFERENCE, Test, Trial

SYSTEMS = ("ours", "rival", "older")
NOWHERE = Path("none.wav")


def make_test(
    design: str, systems: Sequence[str] = SYSTEMS, stimuli: int = 6, checks: int = 0
) -> Test:
    """A test of every system with every stimulus; checks expect 1, give or take nothing."""
    kind = DESIGNS[design]
    if kind.paired:
        sounds = list(combinations(systems, 2))
    elif kind.together:
        hidden = (REFERENCE, *ANCHORS) if kind.referenced else ()
        sounds = [(*systems, *hidden)]
    else:
        sounds = [(system,) for system in systems]
    reference = NOWHERE if kind.referenced else None
    trials = [
        Trial(
            i,
            f"sound-{i // len(sounds)}",
            dict.fromkeys(sounds[i % len(sounds)], NOWHERE),
            reference,
        )
        for i in range(stimuli * len(sounds))
    ]
    trials += [
        Trial(len(trials) + i, f"check-{i}", trials[0].sounds, reference, "attention", 1.0)
        for i in range(checks)
    ]
    words = tuple(word for _, word in kind.scale.answers)
    return Test(
        name="made",
        title="A made-up test",
        design=kind,
        systems=tuple(systems),
        trials=tuple(trials),
        trials_per_rater=stimuli * len(sounds),
        folder=Path(),
        question=kind.scale.question,
        words=words,
    )


def rate(
    test: Test,
    raters: int,
    answer: Callable[[int, str, str, str], float],
    check: Callable[[int], float] = lambda rater: 1.0,
) -> pd.DataFrame:
    """The tidy table of raters who heard everything; answer: of rater, system, other, stimulus."""
    rows = []
    for rater in range(raters):
        for trial in test.trials:
            names = list(trial.sounds)
            pairs = [(name, "") for name in names]
            if test.design.paired:
                pairs = [(names[0], names[1])]
            for position, (system, other) in enumerate(pairs):
                scored = trial.kind == "trial"
                value = answer(rater, system, other, trial.stimulus) if scored else check(rater)
                rows.append(
                    {
                        "test": test.name,
                        "rater": f"rater-{rater}",
                        "trial": trial.id,
                        "order": trial.id,
                        "position": position,
                        "system": system,
                        "other": other,
                        "stimulus": trial.stimulus,
                        "answer": float(value),
                        "kind": trial.kind,
                        "expected": trial.expected,
                        "plays": 1,
                        "milliseconds": 8000 + rater,
                        "headphones": True,
                        "environment": True,
                        "minutes": 20.0,
                        "finished": True,
                        "started": "2026-11-21",
                    }
                )
    return pd.DataFrame(rows)
