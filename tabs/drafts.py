"""“Add to a listening test” under the results of other tabs: into a draft of the visitor's own."""

from collections.abc import Callable
from typing import Any, Final

import gradio as gr

from media.errors import InputError
from study.draft import Draft, Take
from tabs.events import HIDDEN
from tabs.private import Visits

ADD: Final = "Add to a listening test"


class Drafts:
    """One draft a visitor; to be made once, inside the page."""

    def __init__(self) -> None:
        self.visits = Visits(Draft)
        self.state = self.visits.state()

    def button(self, result: gr.State, take: Callable[[Any], Take | None]) -> gr.Button:
        """A button that adds what the state holds; take gives None where there is nothing yet."""

        def add(
            held: Draft | None, shown: object, request: gr.Request
        ) -> tuple[Draft | None, gr.Button]:
            draft = self.visits.of(held, request)
            try:
                if (made := take(shown)) is None:
                    return draft, gr.Button("There is no recording to add yet")
                draft.add(made)
            except InputError as error:
                return draft, gr.Button(str(error))
            return draft, gr.Button(f"{ADD} · {len(draft.takes)} in your draft")

        button = gr.Button(ADD, size="sm", scale=0, min_width=220)
        button.click(add, [self.state, result], [self.state, button], **HIDDEN)
        return button
