"""Listening tests in memory, whose sounds are names only."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from earshot.study.design import DESIGNS, Answer, Item, Test
from earshot.study.design.model import make_trials, number_trials
from earshot.study.storage.store import Rater, Store

FOLDER = Path("/nowhere")


def make_test(
    design: str = "acr",
    systems: int = 3,
    stimuli: int = 4,
    trials: int | None = None,
    name: str = "study",
    **more: Any,
) -> Test:
    """Write systems y0, y1 ... and stimuli s0, s1 ..., with one practice, attention and gold
    trial."""
    kind = DESIGNS[design]
    names = [f"y{i}" for i in range(systems)]
    reference = FOLDER / "reference.wav" if kind.referenced else None
    every = [
        trial
        for stimulus in (f"s{i}" for i in range(stimuli))
        for trial in make_trials(
            kind,
            FOLDER,
            stimulus,
            {name: FOLDER / name / f"{stimulus}.wav" for name in names},
            reference,
        )
    ]
    others = [
        replace(every[0], kind="practice"),
        replace(every[0], kind="attention", expected=1.0),
        replace(every[-1], kind="gold", expected=1.0),
    ]
    more.setdefault("words", tuple(word for _, word in kind.scale.answers))
    return Test(
        name=name,
        title="A test",
        design=kind,
        systems=tuple(names),
        trials=number_trials([*every, *others]),
        trials_per_rater=trials or len(every),
        folder=FOLDER,
        question=kind.scale.question,
        **more,
    )


def any_answer(test: Test, item: Item) -> tuple[Answer, list[int]]:
    """Return an answer that fits the item, and plays."""
    trial = test.trials[item.trial]
    if test.design.scale.ranked:
        return [*range(1, len(item.systems) + 1)], [1] * len(item.systems)
    if test.design.scale.adjusted:
        return 0, [1] * (1 + (trial.reference is not None))
    answer = [50] * len(item.systems) if test.design.together else test.scale[0][0]
    return answer, [1] * (len(item.systems) + (trial.reference is not None))


def enrol(store: Store, test: Test, *who: Any, **about: Any) -> Rater:
    """Enrol a rater of a test that the store may not know yet."""
    store.open(test)
    return store.enrol(test, *who, **about)
