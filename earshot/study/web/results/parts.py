"""What the organiser's page has beside the report: how it stands, what to take along, to do."""

from html import escape
from typing import Final

from earshot.study import preview
from earshot.study.storage.places import Places

BAR: Final = """<nav style="display:flex;flex-wrap:wrap;gap:.4rem 1.25rem;margin:0 0 2rem;padding:0
0 .7rem;border-bottom:1px solid var(--line);font-size:.92rem;color:var(--quiet)">{links}</nav>"""
ANEW: Final = "<span>Live, anew every minute</span>"
# Not while something is unfolded, in which somebody may be typing.
RELOADS: Final = """<script>setInterval(() => document.querySelector("details[open]") ??
location.reload(), 60000)</script>"""
NO_ICON: Final = '<link rel="icon" href="data:,">'  # or browsers ask for one
STYLE: Final = """<style>button, input { padding: .15rem .6rem; border: 1px solid var(--quiet);
border-radius: .4rem; font: inherit; color: inherit; background: none }
button { cursor: pointer }</style>"""
LINK: Final = '<a href="{href}" style="color:var(--accent)">{text}</a>'

STANDING: Final = """<div style="display:flex;flex-wrap:wrap;gap:.4rem 1.25rem;margin:0 0 1.5rem">
<span>{text}</span>{button}</div>"""
BUTTON: Final = '<form method="post" action="{action}"><button>{button}</button></form>'
FOLDED: Final = """<details><summary style="cursor:pointer">{summary}</summary>
<form method="{method}" action="{action}" style="padding:.6rem 0"><p>{text}
<input name="{name}" autocomplete="off" aria-label="{label}"></p>{hidden}<button>{button}</button>
</form></details>"""
# Of what is deleted: what it is called, what it means, and the button.
WHOLE: Final = ("Delete the test", "This deletes its sounds and all answers.", "Delete all of it")
ANSWERS: Final = (
    "Delete all answers",
    "This deletes all raters and answers. Sounds and YAML stay in your folder.",
    "Delete all answers",
)
KEY: Final = '<input type="hidden" name="key" value="{key}">'


def live(report: str, name: str, key: str, places: Places, published: bool) -> str:
    """The report with what the organiser, who has the key, needs while the test runs. published:
    whether a visitor opened the test, and so deletes all of it."""
    key = escape(key)
    targets = {"The raters’ page": f"../listen/{name}"}
    if key:
        targets |= {
            "Try it, storing nothing": f"../listen/{name}?rater={preview.new_token(key)}",
            "Report (PDF)": f"{name}/report.pdf?key={key}",
            "Ratings (CSV)": f"{name}/ratings.csv?key={key}",
            "Everything (JSON lines)": f"{name}/answers.jsonl?key={key}",
        }
    links = "".join(LINK.format(href=href, text=text) for text, href in targets.items())
    bar = BAR.format(links=ANEW + links + (_folded(name, key, published) if key else ""))
    if key:
        text = "Reopen the test" if places.closed else "Close the test"
        action = f"{name}/{'reopen' if places.closed else 'close'}?key={key}"
        button = "" if places.over else BUTTON.format(action=action, button=text)
        bar += STANDING.format(text=standing(places), button=button)
    return with_bar(report, RELOADS + bar)


def with_bar(page: str, bar: str) -> str:
    """A page of results with something above its title."""
    page = page.replace("<title>", f"{NO_ICON}{STYLE}<title>", 1)
    return page.replace("<h1>", f"{bar}<h1>", 1)


def back(name: str, key: str) -> str:
    """The way from a comparison to the test's own page."""
    href = f"../{name}?key={escape(key)}"
    return BAR.format(links=LINK.format(href=href, text=f"Back to {name}"))


def standing(places: Places) -> str:
    """How many raters there are, and how many may come, in a sentence."""
    at_it = f"{places.finished} finished, {places.at_it} at it"
    wanted = "" if places.wanted is None else f" of {places.wanted} wanted"
    left = "" if places.left is None else f", {places.left} places left"
    return f"{'Closed' if places.closed else 'Open'}: {at_it}{wanted}{left}."


def _folded(name: str, key: str, published: bool) -> str:
    """What is done rarely: to compare, and to delete."""
    summary, text, button = WHOLE if published else ANSWERS
    comparing = FOLDED.format(
        summary="Compare with another test",
        method="get",
        action=f"{name}/compare",
        text="The link to the results of a test of the same design:",
        name="other",
        label="Link to the other test’s results",
        hidden=KEY.format(key=key),
        button="Compare",
    )
    deleting = FOLDED.format(
        summary=summary,
        method="post",
        action=f"{name}/delete?key={key}",
        text=f"{text} This cannot be undone. Type the test’s name, <b>{name}</b>:",
        name="typed",
        label="Name of the test",
        hidden="",
        button=button,
    )
    return comparing + deleting
