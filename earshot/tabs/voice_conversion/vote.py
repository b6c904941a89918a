"""A blind vote under the conversion: two systems say one sentence, one press says which is clearer.

It is a listening test like any other (assets/vote): its page is a client of the raters' routes, so
pairs are drawn, sides balanced, votes stored and limits kept as in every test.
"""

from pathlib import Path
from typing import Any, Final

import gradio as gr

from earshot.core.errors import InputError
from earshot.study.design import Item, Test
from earshot.study.library import VOTE, TestLibrary
from earshot.tabs.shared.events import PRIVATE, QUICK_QUEUE, reporting
from earshot.tabs.shared.gradio_internals import event_data
from earshot.tabs.shared.html import icon

HTML: Final = f"""
<section class="vote" aria-label="A blind vote">
<div class="vote-bar"><p><b>Which is clearer?</b> Two systems, one sentence, blind. Only your vote
is stored.</p><button type="button" class="vote-begin">Listen and vote</button></div>
<div class="vote-pair" hidden>
<button type="button" class="vote-play" data-place="0">{icon("play")}{icon("pause")}A</button>
<button type="button" class="vote-play" data-place="1">{icon("play")}{icon("pause")}B</button>
<span class="vote-answers">
<button type="button" data-answer="a" disabled>A is clearer</button>
<button type="button" data-answer="same" disabled>No difference</button>
<button type="button" data-answer="b" disabled>B is clearer</button></span>
</div>
<p class="vote-message message notice" role="status" hidden></p>
</section>
"""
# What people call the systems of the test.
LABELS: Final = {
    "continuous": "continuous content",
    "units-512": "512 units",
    "units-64": "64 units",
    "vqvae-512": "512 units of the VQ-VAE",
}
NO_VOTE: Final = "Vote first: what you heard is told then."
NO_INTERVAL: Final = "an interval takes a second voter"


def vote_panel(tests: TestLibrary) -> None:
    """Lay out the vote, and its running score."""
    panel = gr.HTML(
        HTML,
        css_template=Path(__file__).with_name("vote.css").read_text(),
        js_on_load=Path(__file__).with_name("vote.js").read_text(),
        apply_default_css=False,
        elem_id="vote",
        test=VOTE.name,
    )
    score = gr.HTML(elem_classes="numbers", elem_id="vote-score")

    def told(event: gr.EventData) -> dict[gr.HTML, str]:
        """Say what was heard, and how the votes on this pair stand."""
        data = event_data(event)
        item, test = _voted(tests, data.get("rater"), data.get("order"))
        return {score: _standing(tests, test, item)}

    panel.score(
        reporting(told, score),
        outputs=score,
        concurrency_id=QUICK_QUEUE,
        concurrency_limit=1,
        show_progress="hidden",
        **PRIVATE,
    )


def _voted(tests: TestLibrary, rater: Any, order: Any) -> tuple[Item, Test]:
    """Find the item that a rater has answered. Raises InputError where they have not."""
    test = tests.get(VOTE.name).test
    known = tests.store.resume(test, rater) if isinstance(rater, str) else None
    answered = [item for item in known.items if item.order in known.answered] if known else []
    for item in answered:
        if item.order == order:
            return item, test
    raise InputError(NO_VOTE)


def _standing(tests: TestLibrary, test: Test, item: Item) -> str:
    """Write the systems that were heard, and the share of votes for the better one, as HTML."""
    from earshot.study.analysis.estimates import estimate_row
    from earshot.study.analysis.paired_comparisons import (
        both_ways,
        mean_votes,  # late: statsmodels
    )

    pair = list(item.shown)
    votes = both_ways(tests.store.ratings(test))
    votes = votes[(votes["system"] == pair[0]) & (votes["other"] == pair[1])]
    found = estimate_row(mean_votes(votes, pair)[pair[0], pair[1]], (0, 1))
    share, low, high = (found[end] for end in ("value", "low", "high"))
    names = [LABELS.get(system, system) for system in pair]
    better = names[0]
    if share < 0.5:
        share, low, high, better = 1 - share, 1 - high, 1 - low, names[1]
    within = NO_INTERVAL
    if low == low:  # no NaN
        within = f"95 % interval {low:.0%} to {high:.0%}"
    return (
        f"A was <b>{names[0]}</b>, B was <b>{names[1]}</b>. So far <b>{better}</b> is preferred in "
        f"<b>{share:.0%}</b> of <b>{len(votes)}</b> votes on this pair ({within})."
    )
