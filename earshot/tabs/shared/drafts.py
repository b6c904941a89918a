"""“Add to a listening test” under the results of other tabs: into a draft of the visitor's own."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import gradio as gr
from markupsafe import Markup

from earshot.core.errors import InputError
from earshot.study.design.draft import Draft, DraftItem
from earshot.tabs.shared.events import HIDDEN
from earshot.tabs.shared.sessions import SessionStore

ADD: Final = "Add to a listening test"
CSS: Final = Path(__file__).with_name("drafts.css")
EMPTY: Final = """<p class="hint">The sounds that you add in the other tabs, each with its source
and settings.</p>"""


class Drafts:
    """One draft a visitor; to be made once, inside the page."""

    def __init__(self) -> None:
        self.sessions = SessionStore(Draft)
        self.state = self.sessions.state()
        # For the tab of listening tests to place.
        css = CSS.read_text()
        self.shown = gr.HTML(EMPTY, css_template=css, apply_default_css=False, render=False)

    def button(
        self,
        result: gr.State,
        items: Callable[[Any], DraftItem | Sequence[DraftItem] | None],
        label: str = ADD,
    ) -> gr.Button:
        """Lay out a button that adds what the state holds; items gives None, or none, where there
        is nothing yet."""

        def add(
            held: Draft | None, shown: object, request: gr.Request
        ) -> tuple[Draft, gr.Button, str]:
            draft = self.sessions.of(held, request)
            try:
                if not (given := items(shown)):
                    return draft, gr.Button("There is no recording to add yet"), _listed(draft)
                for item in [given] if isinstance(given, DraftItem) else given:
                    draft.add(item)
            except InputError as error:
                return draft, gr.Button(str(error)), _listed(draft)
            return draft, gr.Button(f"{label} · {len(draft.items)} in your draft"), _listed(draft)

        button = gr.Button(label, size="sm", scale=0, min_width=220)
        button.click(add, [self.state, result], [self.state, button, self.shown], **HIDDEN)
        return button


def _listed(draft: Draft) -> str:
    """List what is in a draft, as HTML."""
    line = Markup("<li><b>{}</b> <span>from {}</span></li>")
    items = "".join(line.format(system, stimulus) for system, stimulus in draft.items)
    return f'<ul class="draft">{items}</ul>' if items else EMPTY
