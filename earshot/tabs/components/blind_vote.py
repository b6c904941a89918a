"""A blind vote between the systems that are side by side: two of them, drawn by lot, as A and B,
and how all votes on the pair stand. They are in memory, and begin anew with another set of systems.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from random import SystemRandom
from typing import TYPE_CHECKING, Any, Final

import gradio as gr
from gradio.components import Component
from markupsafe import escape

from earshot.core.errors import InputError
from earshot.tabs.components.comparison import Comparison
from earshot.tabs.components.timeline import File, TimelineSpec, nothing, timeline
from earshot.tabs.shared.events import Update, queued
from earshot.tabs.shared.parts import Section

if TYPE_CHECKING:
    import pandas as pd

ANSWERS: Final = {"A is clearer": 1.0, "No difference": 0.5, "B is clearer": 0.0}
MAX_SETS: Final = 50  # of systems, whose votes are kept; the first make room
MAX_VOTES: Final = 10_000  # of a set
NO_PAIR: Final = "Run two systems or more first: two of them are drawn for a blind vote."
NO_BALLOT: Final = "Press “Vote blind” first, and listen to A and B."
NO_INTERVAL: Final = "an interval takes a second voter"
LISTEN: Final = (
    "Two of the systems on the same source, as A and B: 1 and 2 switch at the same place."
)


@dataclass(frozen=True)
class Ballot:
    """A pair of systems that was drawn, A first, of a set; stimulus: names their source."""

    pair: tuple[str, str]
    systems: frozenset[str]
    stimulus: str


class Votes:
    """The votes of all visitors of a page, by the set of systems that they were drawn from."""

    def __init__(self) -> None:
        self._votes: dict[frozenset[str], list[dict[str, Any]]] = {}
        self._lock = threading.Lock()

    def add(self, ballot: Ballot, answer: float, rater: str) -> None:
        """Count a vote: 1 for the first of the pair, 0 for the other, 0.5 for neither."""
        vote = {
            "rater": rater,
            "stimulus": ballot.stimulus,
            "system": ballot.pair[0],
            "other": ballot.pair[1],
            "answer": answer,
        }
        with self._lock:
            votes = self._votes.pop(ballot.systems, [])
            self._votes[ballot.systems] = [*votes, vote][-MAX_VOTES:]
            while len(self._votes) > MAX_SETS:
                del self._votes[next(iter(self._votes))]

    def of(self, ballot: Ballot) -> "pd.DataFrame":
        """Return the votes on a pair, as if each were on its first system."""
        import pandas as pd  # late, for they take a moment to load

        from earshot.study.analysis.paired_comparisons import both_ways

        with self._lock:
            votes = both_ways(pd.DataFrame(self._votes[ballot.systems]))
        return votes[(votes["system"] == ballot.pair[0]) & (votes["other"] == ballot.pair[1])]


def standing(votes: "pd.DataFrame", pair: Sequence[str], names: Sequence[str]) -> str:
    """Write which systems were A and B, and the share of the votes for the better one with its 95 %
    interval, clustered by voter and source, as HTML.

    votes: on the pair, as votes on its first; names: of both, as HTML.
    """
    from earshot.study.analysis.estimates import estimate_row  # late, for they load statsmodels
    from earshot.study.analysis.paired_comparisons import mean_votes

    estimate = estimate_row(mean_votes(votes, list(pair))[pair[0], pair[1]], (0, 1))
    share, low, high = (estimate[end] for end in ("value", "low", "high"))
    better = names[0]
    if share < 0.5:
        share, low, high, better = 1 - share, 1 - high, 1 - low, names[1]
    noun = "vote" if len(votes) == 1 else "votes"
    within = NO_INTERVAL
    if low == low:  # no NaN
        within = f"95 % interval {low:.0%} to {high:.0%}"
    return (
        f"A was <b>{names[0]}</b>, B was <b>{names[1]}</b>. So far <b>{better}</b> is preferred in "
        f"<b>{share:.0%}</b> of <b>{len(votes)}</b> {noun} on this pair ({within})."
    )


class BlindVote(Section):
    """The part of a panel in which one votes. result: holds the Comparison to draw from."""

    def __init__(self, task: str, result: gr.State) -> None:
        """Lay it out, and connect it."""
        self.votes = Votes()
        self.ballot = gr.State(None, time_to_live=3600)
        with gr.Row(elem_classes="rates-button"):
            begin = gr.Button("Vote blind", size="sm", scale=0, min_width=160)
            self.answers = [
                gr.Button(text, size="sm", scale=0, min_width=120, visible=False)
                for text in ANSWERS
            ]
        self.message = gr.HTML()
        self.lanes = timeline(f"{task}-vote", "")
        self.lanes.visible = False
        self.score = gr.HTML(elem_classes="numbers", elem_id=f"{task}-vote-score")
        outputs: list[Component] = [self.message, self.ballot, self.lanes, self.score]
        outputs += self.answers
        self.on(begin.click, self.draw, [result], outputs, **queued(self.lanes))
        for button in self.answers:
            self.on(button.click, self.vote, [button, self.ballot], outputs, **queued())

    def draw(self, comparison: Comparison | None) -> Update:
        """Draw two systems, and show them as A and B."""
        if comparison is None or len(comparison.takes) < 2:
            raise InputError(NO_PAIR)
        one, other = SystemRandom().sample(comparison.takes, 2)
        systems = frozenset(take.label for take in comparison.takes)
        ballot = Ballot((one.label, other.label), systems, comparison.stimulus)
        # Without metadata, which would name the systems.
        tracks = [
            File(name, f"{name}.{comparison.ending}", comparison.content(take.bare()), True)
            for name, take in (("A", one), ("B", other))
        ]
        spec = TimelineSpec(LISTEN, comparison.source.lanes, tracks, hint=LISTEN)
        return {
            self.message: "",
            self.ballot: ballot,
            self.lanes: gr.HTML(spec.value(), visible=True),
            self.score: "",
            **dict.fromkeys(self.answers, gr.Button(visible=True)),
        }

    def vote(self, answer: str, ballot: Ballot | None, request: gr.Request) -> Update:
        """Count the vote, and show which systems were heard and how the votes stand."""
        if ballot is None:
            raise InputError(NO_BALLOT)
        if answer not in ANSWERS:
            raise InputError(f"There is no answer {answer!r}: {', '.join(ANSWERS)}.")
        self.votes.add(ballot, ANSWERS[answer], str(request.session_hash))
        votes = self.votes.of(ballot)
        names = [str(escape(name)) for name in ballot.pair]
        return {
            self.message: "",
            self.ballot: None,
            self.lanes: gr.HTML(nothing(""), visible=False),
            self.score: standing(votes, ballot.pair, names),
            **dict.fromkeys(self.answers, gr.Button(visible=False)),
        }
