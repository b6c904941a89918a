"""Read the YAML of webMUSHRA (Schoeffler et al., 2018): pages of MUSHRA, ABX and preference.

Blocks, random or not, are read as one sequence, for our order is random for every rater. Texts of
other pages become instructions; volume and finish pages are ours anyway.
"""

import html
import re
from collections.abc import Iterator
from pathlib import Path

from earshot.study.design.designs import (
    AB,
    ABX,
    ANCHORS,
    DESIGNS,
    MAX_CONDITIONS,
    MAX_SYSTEMS,
    MUSHRA,
    REFERENCE,
    SAME,
    Design,
)
from earshot.study.design.document import Value, inside
from earshot.study.design.model import Test, Trial, make_trials, number_trials
from earshot.study.design.scales import read_language
from earshot.study.design.statements import read_statements

# A paired comparison asks which of two is the reference, heard with them: that is ABX.
DESIGN: dict[str, Design] = {
    "mushra": MUSHRA,
    "paired_comparison": ABX,
    "abx": ABX,
    "preference_test": AB,
}
OTHERS = {REFERENCE, *ANCHORS}  # sounds of a trial that are no systems
TEXTS = ("generic", "consent")
OURS = ("volume", "finish", "headphones", "headphones_screen")
ANCHOR_KEYS = dict(zip(ANCHORS, ("createAnchor35", "createAnchor70"), strict=True))


def test(document: Value, name: str, folder: Path) -> Test:
    """Read the test as far as it can be read; what is wrong is noted in the document."""
    # webMUSHRA keeps its files in configs/ and names sounds from the folder above.
    root = folder.parent if folder.name == "configs" else folder
    texts: dict[str, list[str]] = {kind: [] for kind in TEXTS}
    trials: list[Trial] = []
    designs: dict[str, Value] = {}
    strict = True
    for page in _pages(document.at("pages")):
        kind = page.take("type", str)
        if kind in DESIGN:
            designs.setdefault(DESIGN[kind].name, page)
            trials += _trials(page, DESIGN[kind], root)
            strict &= page.take("strict", bool, True)
        elif kind in TEXTS:
            texts[kind].append(_plain(page.take("content", str, "")))
        elif kind not in OURS:
            page.problem(f'pages of type "{kind}" cannot be read: there are {", ".join(DESIGN)}.')
    if not designs:
        document.at("pages").problem(f"there is no page of type {', '.join(DESIGN)}.")
        document.problems.raise_any()
    for other in list(designs.values())[1:]:
        other.problem("this page is of another design: put it into a test of its own.")
    design = DESIGNS[next(iter(designs))]
    systems = [name for trial in trials for name in trial.sounds if name not in OTHERS]
    if len({*systems}) > MAX_SYSTEMS:
        document.at("pages").problem(f"a test has {MAX_SYSTEMS} systems at most.")
        document.problems.raise_any()
    return Test(
        name=name,
        title=document.take("testname", str),
        design=design,
        systems=tuple(dict.fromkeys(systems)),
        trials=number_trials(trials),
        trials_per_rater=len(trials),
        folder=root,
        question=design.scale.question,
        words=tuple(word for value, word in design.scale.answers if value != SAME),
        instructions="\n\n".join(texts["generic"]),
        consent="\n\n".join(texts["consent"]),
        language=read_language(document),
        no_preference=False,
        strict=strict,
        statements=read_statements(document),
    )


def _pages(value: Value) -> Iterator[Value]:
    """Yield the pages of a list and of the lists within."""
    if isinstance(value.content, dict):
        yield value
    elif isinstance(value.content, list):
        for each in value.content:
            yield from _pages(each)
    elif value.content != "random":
        value.problem("this must be a page, or a list of pages.")


def _trials(page: Value, design: Design, root: Path) -> list[Trial]:
    stimuli: dict[str, Value] = page.take("stimuli", dict)
    systems = {name: inside(root, value, name) for name, value in stimuli.items()}
    reference = None
    if design is not AB:
        page.take("reference", str)
        reference = inside(root, page.at("reference"), "reference")
    for name in OTHERS & set(systems):
        stimuli[name].problem(f'a system cannot be called "{name}": that is another sound.')
    if page.has("unforced"):
        page.at("unforced").problem('ABX asks for one of two: leave "unforced" out.')
    anchors = [name for name, key in ANCHOR_KEYS.items() if page.take(key, bool, False)]
    if design.together and len(systems) + 1 + len(anchors) > MAX_CONDITIONS:
        page.problem(f"a trial shows {MAX_CONDITIONS} conditions at most.")
    if page.problems.lines:
        return []
    return make_trials(design, root, page.take("id", str), systems, reference, anchors)


def _plain(content: str) -> str:
    """Extract the text of HTML, a paragraph for each of its lines.

    A tag ends at the next bracket of either kind, which keeps the time linear in the length.
    """
    lines = re.sub(r"(?i)<\s*(br|/p|/div|/h\d|/li)[^<>]*>", "\n\n", content)
    return html.unescape(re.sub(r"<[^<>]*>", "", lines)).strip()
