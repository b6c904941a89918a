"""The services that a page offers to its tabs: drafts of listening tests, visitors' own voices, and
what the operator allows. Of one tab the others know only what it lends here.
"""

import secrets
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

import gradio as gr
from markupsafe import Markup

from earshot.core.errors import InputError
from earshot.pretrained.hub import HubPermission
from earshot.study.design.draft import Draft, DraftItem
from earshot.tabs.shared.events import HIDDEN
from earshot.tabs.shared.sessions import SessionStore

if TYPE_CHECKING:
    from earshot.pretrained.judges import Judge
    from earshot.pretrained.recogniser import Transcriber
    from earshot.pretrained.voice import Voice
    from earshot.study.library import TestLibrary

ADD: Final = "Add to a listening test"
DRAFTS_CSS: Final = Path(__file__).with_name("drafts.css")
EMPTY: Final = """<p class="hint">The sounds that you add in the other tabs, each with its source
and settings.</p>"""
OWN: Final = "yours"  # the value of the choice of the visitor's own voice
NONE_YET: Final = (
    "Your voice is not made yet.",
    "Choose “Your voice” in the tab Voice conversion and read the lines there.",
)
# That a ticket is good for: to begin, and to come back to a live visit.
MAX_TICKET_SECONDS: Final = 180.0


class Drafts:
    """The drafts of listening tests, one a visitor; to be made once, inside the page."""

    def __init__(self) -> None:
        self.sessions = SessionStore(Draft)
        self.state = self.sessions.state()
        # For the tab of listening tests to place.
        css = DRAFTS_CSS.read_text()
        self.listing = gr.HTML(EMPTY, css_template=css, apply_default_css=False, render=False)

    def button(
        self,
        result: gr.State,
        items: Callable[[Any], DraftItem | Sequence[DraftItem] | None],
        label: str = ADD,
    ) -> gr.Button:
        """Lay out a button that adds what the state holds; items returns None, or none, where there
        is nothing yet."""

        def add(
            draft: Draft | None, value: object, request: gr.Request
        ) -> tuple[Draft, gr.Button, str]:
            draft = self.sessions.of(draft, request)
            try:
                if not (new := items(value)):
                    return draft, gr.Button("There is no recording to add yet"), _listed(draft)
                for item in [new] if isinstance(new, DraftItem) else new:
                    draft.add(item)
            except InputError as error:
                return draft, gr.Button(str(error)), _listed(draft)
            return draft, gr.Button(f"{label} · {len(draft.items)} in your draft"), _listed(draft)

        button = gr.Button(label, size="sm", scale=0, min_width=220, elem_classes="add-to-test")
        button.click(add, [self.state, result], [self.state, button, self.listing], **HIDDEN)
        return button


def _listed(draft: Draft) -> str:
    """List the items of a draft, as HTML."""
    line = Markup("<li><b>{}</b> <span>from {}</span></li>")
    items = "".join(line.format(system, stimulus) for system, stimulus in draft.items)
    return f'<ul class="draft">{items}</ul>' if items else EMPTY


class Owner(Protocol):
    """A visit that may hold the visitor's own voice: ``own``, if it was made."""

    @property
    def own(self) -> object | None: ...

    @property
    def voice(self) -> "Voice":
        """Return the voice. Raises InputError where it was not made."""
        ...

    @property
    def sample(self) -> "tuple[int, Any] | None":
        """Return a recording of the voice: its rate in Hz, and samples (T,)."""
        ...


class LentVoice:
    """The own voice as the tabs of one page share it: one tab makes it, others take it."""

    def __init__(self) -> None:
        self.visit: gr.State | None = None  # holds an Owner; the tab that makes voices sets it

    @staticmethod
    def of(visit: Owner | None) -> "Voice":
        """Return the voice that a visit holds. Raises InputError where there is none."""
        if visit is None or visit.own is None:
            raise InputError(*NONE_YET)
        return visit.voice


class Tickets:
    """Tickets by which a page lends a visitor's own voice to a socket, which does not know whose
    visit it belongs to. Each is good for MAX_TICKET_SECONDS. What the visit forgets is gone, even
    for those who have its ticket.
    """

    def __init__(self) -> None:
        self._visits: dict[str, tuple[float, Owner]] = {}  # until when, of time.monotonic()
        self._lock = threading.Lock()

    def issue(self, visit: Owner) -> str:
        """Issue a ticket that cannot be guessed."""
        ticket, now = secrets.token_urlsafe(32), time.monotonic()
        with self._lock:
            self._visits = {t: entry for t, entry in self._visits.items() if entry[0] > now}
            self._visits[ticket] = now + MAX_TICKET_SECONDS, visit
        return ticket

    def redeem(self, ticket: str | None) -> Owner | None:
        """Return the visit; None where there is no such ticket, or it is over. It may be used
        again."""
        with self._lock:
            until, visit = self._visits.get(ticket or "", (0.0, None))
        return visit if until > time.monotonic() else None


@dataclass(frozen=True)
class Services:
    """What a page offers to all of its tabs, of which each takes what it needs.

    drafts: of listening tests, made inside the page; None where there are none. tests: those that
    are open here; publishing: whether visitors may open tests of their own to raters. voice: the
    visitor's own; tickets: that lend it to the LiveServer; allow_reference: whether a recording of
    anybody may be uploaded in its place. transcriber: loads what writes down the words of a
    conversion; None where they are not shown. hub: which models of the hub visitors may load, on
    this device; plug_in_faults: a sentence on each file of systems that could not be run;
    judges: that measure conversions side by side. host: that the server listens at, None for this
    machine only.
    """

    drafts: Drafts | None = None
    tests: "TestLibrary | None" = None
    publishing: bool = True
    voice: LentVoice = field(default_factory=LentVoice)
    tickets: Tickets = field(default_factory=Tickets)
    allow_reference: bool = False
    transcriber: "Callable[[], Transcriber] | None" = None
    hub: HubPermission = HubPermission()
    plug_in_faults: Sequence[str] = ()
    judges: "Sequence[Judge]" = ()
    device: str = "auto"
    host: str | None = None
