"""The parts of the organiser's page apart from the report: how the test stands, what to take along,
to do.
"""

from base64 import b64encode
from hashlib import sha256
from typing import Final

from markupsafe import Markup

from earshot.study import preview
from earshot.study.design import Test
from earshot.study.storage.raters import Places
from earshot.study.web.templates import render

# Not while something is unfolded, in which somebody may be typing.
SCRIPT: Final = """setInterval(() => document.querySelector("details[open]") ??
location.reload(), 60000)"""
RELOADS: Final = f"<script>{SCRIPT}</script>"
HASH: Final = b64encode(sha256(SCRIPT.encode()).digest()).decode()
# What a page of results may do: run this one script, and fetch nothing.
POLICY: Final = (
    f"default-src 'none'; script-src 'sha256-{HASH}'; style-src 'unsafe-inline'; "
    "img-src 'self' data:; form-action 'self'; base-uri 'self'; frame-ancestors 'self'"
)
NO_ICON: Final = '<link rel="icon" href="data:,">'  # or browsers ask for one
STYLE: Final = """<style>button, input { padding: .15rem .6rem; border: 1px solid var(--quiet);
border-radius: .4rem; font: inherit; color: inherit; background: none }
button { cursor: pointer }
.bar, .standing { display: flex; flex-wrap: wrap; gap: .4rem 1.25rem; margin: 0 0 1.5rem }
.bar { padding: 0 0 .7rem; border-bottom: 1px solid var(--line); font-size: .92rem;
color: var(--quiet) }
.bar a { color: var(--accent) }
.bar form { padding: .6rem 0 }</style>"""
WHOLE: Final = {
    "summary": "Delete the test",
    "text": "This deletes its sounds and all answers.",
    "button": "Delete all of it",
}
ANSWERS: Final = {
    "summary": "Delete all answers",
    "text": "This deletes all raters and answers. Sounds and YAML stay in your folder.",
    "button": "Delete all answers",
}


def live(page: str, test: Test, key: str, places: Places, published: bool, reloads: bool) -> str:
    """Add to a page of results what the organiser, who has the key, needs while the test runs.

    published: whether a visitor opened the test, and so deletes all of it. reloads: whether the
    page is loaded anew every minute.
    """
    bar = render(
        "bar.html",
        name=test.name,
        key=key,
        preview=preview.new_token(key) if key else "",
        deleting=WHOLE if published else ANSWERS,
        places=places,
        standing=standing(places),
    )
    return with_bar(page, RELOADS * reloads + bar)


def with_bar(page: str, bar: str) -> str:
    """Put something above the title of a page of results."""
    page = page.replace("<title>", f"{NO_ICON}{STYLE}<title>", 1)
    return page.replace("<h1>", f"{bar}<h1>", 1)


def back(name: str, key: str) -> str:
    """Lead from a comparison to the test's own page."""
    text = '<nav class="bar"><a href="../{name}?key={key}">Back to {name}</a></nav>'
    return Markup(text).format(name=name, key=key)


def standing(places: Places) -> str:
    """Say how many raters there are, and how many may come."""
    at_it = f"{places.finished} finished, {places.at_it} at it"
    wanted = "" if places.wanted is None else f" of {places.wanted} wanted"
    left = places.left
    room = "" if left is None else f", {left} place{'s' if left != 1 else ''} left"
    return f"{'Closed' if places.closed else 'Open'}: {at_it}{wanted}{room}."
