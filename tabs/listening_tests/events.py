"""What the buttons of the listening tests tab do."""

import shutil
import tempfile
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any, Final
from urllib.parse import urljoin

import gradio as gr

from media.errors import InputError
from media.paths import ASSETS
from study.design import Design, Test, folder, spec
from study.design.draft import Draft
from study.design.yaml_lines import SpecError
from study.library import Library
from tabs.components.timeline.timeline import File
from tabs.shared.drafts import Drafts
from tabs.shared.events import answering, inline, say
from tabs.shared.sessions import SessionStore

EXAMPLE: Final = ASSETS / "study_example"
TRY: Final = """
<div class="study-try"><h3 class="step">Be a rater</h3>
<p>Which of our voice conversions sounds most like a person? Five minutes, with headphones.</p>
<div><a class="study-button" href="{listen}" target="_blank" rel="noopener">Take the example
test</a>
<a href="{results}" target="_blank" rel="noopener">What others said</a></div></div>
"""
OPEN: Final = (
    "The test is open. Keep both links, which are shown only here. Its sounds stay on this server."
)


@dataclass
class Bench:
    """Where a visitor's test lies while they work on it."""

    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="earshot-test-")))

    def clear(self) -> None:
        """Deletes it."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def empty(self) -> Path:
        """The folder with nothing in it."""
        self.clear()
        self.folder.mkdir()
        return self.folder


class StudyEvents:
    """Handlers that know the tests that are open; what a visitor brings is theirs alone."""

    def __init__(self, tests: Library, drafts: Drafts) -> None:
        self.tests, self.drafts = tests, drafts
        self.benches = SessionStore(Bench)

    def example(self) -> str:
        """The way to the example, as HTML."""
        key = self.tests.open(EXAMPLE.name).key
        listen, results = f"listen/{EXAMPLE.name}", f"results/{EXAMPLE.name}?key={key}"
        return TRY.format(listen=listen, results=results)

    @inline(outputs=4)
    def bring(
        self, held: Bench | None, files: list[str] | None, design: Design, request: gr.Request
    ) -> tuple:
        """Sounds that were uploaded → message, bench, YAML, numbers, links."""
        if not files:
            raise InputError("Bring your sounds first: a zip, or sounds one by one.")
        bench = self.benches.of(held, request)
        folder.unpack([Path(file) for file in files], bench.empty())
        return self._shown(bench, design)

    @inline(outputs=4)
    def take_draft(
        self, held: Bench | None, draft: Draft | None, design: Design, request: gr.Request
    ) -> tuple:
        """The visitor's draft, put on the bench → message, bench, YAML, numbers, links."""
        if not draft or not draft.takes:
            raise InputError("Your draft is empty. Add results to it in the other tabs.")
        bench = self.benches.of(held, request)
        draft.write(bench.empty())
        (bench.folder / spec.FILE).unlink()
        return self._shown(bench, design)

    @inline(outputs=2)
    def check(self, bench: Bench | None, yaml: str) -> tuple:
        """→ message, numbers, links."""
        test, problems = self._checked(bench, yaml)
        return _verdict(problems), _numbers(test), ""

    @inline(outputs=2)
    def open(self, bench: Bench | None, yaml: str, request: gr.Request) -> tuple:
        """Lets raters come → message, numbers, links."""
        test, problems = self._checked(bench, yaml)
        if bench is None or test is None or problems:
            return _verdict(problems), _numbers(test), ""
        name = folder.publish(bench.folder, test.title, self.tests)
        shown = links(self.tests, name, request.headers.get("referer", ""))
        return say(OPEN), _numbers(test), shown

    def download(self, bench: Bench | None, yaml: str) -> gr.DownloadButton:
        """The test on the bench as a zip of its folder."""
        if bench is None or not bench.folder.exists():
            return gr.DownloadButton(visible=False)
        (bench.folder / spec.FILE).write_text(yaml, encoding="utf-8")
        file = File("Test", "listening-test.zip", folder.zipped(bench.folder))
        return gr.DownloadButton(value=file.data()["path"], visible=True)

    @answering
    def api_check(self, file: str) -> dict[str, Any]:
        """What is wrong with a zipped test, and its YAML."""
        bench = Bench()
        try:
            folder.unpack([Path(file)], bench.folder)
            test, problems = self._checked(bench, _yaml(bench, "ab"))
            trials = test.trials_per_rater if test else 0
            return {"problems": problems, "trials_per_rater": trials, "yaml": _yaml(bench, "ab")}
        finally:
            bench.clear()

    def _shown(self, bench: Bench, design: Design) -> tuple:
        yaml = _yaml(bench, design)
        test, problems = self._checked(bench, yaml)
        return _verdict(problems), bench, yaml, _numbers(test), ""

    def _checked(self, bench: Bench | None, yaml: str) -> tuple[Test | None, list[str]]:
        """The test that the YAML describes, and all that is wrong in it."""
        if bench is None or not bench.folder.exists():
            raise InputError("Bring your sounds first: this YAML is the example’s.")
        (bench.folder / spec.FILE).write_text(yaml, encoding="utf-8")
        try:
            test = spec.load(bench.folder)
        except SpecError as error:
            return None, str(error).splitlines()
        from study.sounds import stimuli  # late, for it loads scipy

        return test, stimuli.check(test)


def links(tests: Library, name: str, page: str) -> str:
    """The links of an open test, as HTML. page: where the visitor is."""
    opened = tests.open(name)
    rows = (
        ("For raters", f"listen/{name}", "Whoever has it can take the test."),
        ("For you", f"results/{name}?key={opened.key}", "Whoever has it sees the results."),
    )
    whole = [(label, escape(urljoin(page, link)), note) for label, link, note in rows]
    items = "".join(
        f'<div><dt>{label}</dt><dd><a href="{link}" target="_blank" rel="noopener">{link}</a>'
        f"<span>{note}</span></dd></div>"
        for label, link, note in whole
    )
    return f'<dl class="links">{items}</dl>'


def _yaml(bench: Bench, design: Design) -> str:
    """The YAML that came with the sounds, else one that fits them."""
    file = bench.folder / spec.FILE
    if file.exists():
        return file.read_text(encoding="utf-8", errors="replace")
    return folder.describe(bench.folder, design)


def _verdict(problems: list[str]) -> str:
    if not problems:
        return say("This test can be opened.")
    items = "".join(f"<li>{escape(problem)}</li>" for problem in problems[:12])
    more = f"<li>and {len(problems) - 12} more</li>" if len(problems) > 12 else ""
    return f'<div class="message error" role="alert"><ul>{items}{more}</ul></div>'


def _numbers(test: Test | None) -> str:
    """What a rater will be asked."""
    if test is None:
        return ""
    scored = len(test.of_kind("trial"))
    return (
        f"<b>{len(test.systems)}</b> systems · <b>{scored}</b> trials, <b>{test.trials_per_rater}"
        f"</b> for each rater · <b>{len(test.trials) - scored}</b> for practice and checks"
    )
