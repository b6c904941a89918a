"""What the buttons of the listening tests tab do."""

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, Final
from urllib.parse import urljoin

import gradio as gr
from gradio.components import Component

from earshot.core.errors import InputError
from earshot.study.design import Design, Test, folder, spec
from earshot.study.design.draft import Draft
from earshot.study.library import Library
from earshot.study.publishing import publish
from earshot.study.shipped import EXAMPLE
from earshot.tabs.listening_tests.workspace import Workspace
from earshot.tabs.shared.drafts import Drafts
from earshot.tabs.shared.events import answering, say
from earshot.tabs.shared.sessions import SessionStore

TRY: Final = """
<div class="study-try"><h3 class="step">Be a rater</h3>
<p>Which of our voice conversions sounds most like a person? Five minutes, with headphones.</p>
<div><a class="study-button" href="{listen}" target="_blank" rel="noopener">Take the example
test</a>
<a href="{results}" target="_blank" rel="noopener">What others said</a></div></div>
"""
NO_TEST: Final = "Bring your sounds first: this YAML is the example’s."
MAX_OPENED: Final = 5  # tests of one visitor
Update = dict[Component, Any]  # new values, by component
OPEN: Final = (
    "The test is open. Keep both links, which are shown only here. Its sounds stay on this server "
    "until you delete it on its results page; a test that nobody takes is deleted after a week."
)


@dataclass(frozen=True)
class Parts:
    """What the handlers change: workspace holds a Workspace; message is for the visitor; yaml is
    the editor; numbers say what raters are asked; links lead to the open test; zip downloads it."""

    workspace: gr.State
    message: gr.HTML
    yaml: gr.Code
    numbers: gr.HTML
    links: gr.HTML
    zip: gr.DownloadButton


class StudyEvents:
    """Handlers that know the tests that are open; what a visitor brings is theirs alone."""

    def __init__(
        self, tests: Library, drafts: Drafts, workspaces: SessionStore[Workspace], parts: Parts
    ) -> None:
        self.tests, self.drafts, self.workspaces, self.parts = tests, drafts, workspaces, parts

    def from_upload(
        self, held: Workspace | None, files: list[str] | None, design: Design, request: gr.Request
    ) -> Update:
        """A test of the sounds that were uploaded."""
        if not files:
            raise InputError("Bring your sounds first: a zip, or sounds one by one.")
        workspace = self.workspaces.of(held, request)
        folder.unpack([Path(file) for file in files], workspace.empty())
        return self._shown(workspace, design)

    def from_draft(
        self, held: Workspace | None, draft: Draft | None, design: Design, request: gr.Request
    ) -> Update:
        """A test of the visitor's draft."""
        if not draft or not draft.items:
            raise InputError("Your draft is empty. Add results to it in the other tabs.")
        workspace = self.workspaces.of(held, request)
        draft.write(workspace.empty())
        (workspace.folder / spec.FILE).unlink()
        return self._shown(workspace, design)

    def check(self, workspace: Workspace | None, yaml: str) -> Update:
        """What is wrong with the test that the YAML describes."""
        return self._report(*self._checked(workspace, yaml))

    def open(self, workspace: Workspace | None, yaml: str, key: str, request: gr.Request) -> Update:
        """Lets raters come, and shows the links. key: see earshot.study.permission."""
        self.tests.permission.check(key)
        test, problems = self._checked(workspace, yaml)
        if workspace is None or test is None or problems:
            return self._report(test, problems)
        if workspace.opened >= MAX_OPENED:
            raise InputError(f"You have opened {MAX_OPENED} tests. Delete one on its results page.")
        name = publish(workspace.folder, test.title, self.tests)
        workspace.opened += 1
        # Some browsers do not tell the page; the address that they asked is nearly as good.
        page = request.headers.get("referer") or str(request.base_url)
        shown = links(self.tests, name, page)
        return self._report(test, []) | {self.parts.message: say(OPEN), self.parts.links: shown}

    def download(self, workspace: Workspace | None, yaml: str) -> Update:
        """Packs the test, and shows the button that downloads it."""
        if workspace is None or not workspace.folder.exists():
            raise InputError(NO_TEST)
        workspace.write(yaml)
        workspace.zip.parent.mkdir(exist_ok=True)
        folder.zipped(workspace.folder, workspace.zip)
        label = f"Save the zip ({workspace.zip.stat().st_size / 1e6:.1f} MB)"
        button = gr.DownloadButton(label, value=str(workspace.zip), visible=True)
        return {self.parts.zip: button}

    def _shown(self, workspace: Workspace, design: Design) -> Update:
        yaml = workspace.yaml(design)
        shown = {self.parts.workspace: workspace, self.parts.yaml: yaml}
        return shown | self._report(*self._checked(workspace, yaml))

    def _report(self, test: Test | None, problems: list[str]) -> Update:
        """What was found; links and zip were those of the test before."""
        return {
            self.parts.message: _verdict(problems),
            self.parts.numbers: _numbers(test),
            self.parts.links: "",
            self.parts.zip: gr.DownloadButton(visible=False),
        }

    def _checked(self, workspace: Workspace | None, yaml: str) -> tuple[Test | None, list[str]]:
        """The test that the YAML describes, and all that is wrong in it."""
        if workspace is None or not workspace.folder.exists():
            raise InputError(NO_TEST)
        workspace.write(yaml)
        return workspace.check()


def example(tests: Library) -> str:
    """The way to the example, whose results anybody may see, as HTML."""
    tests.open(EXAMPLE.name)
    return TRY.format(listen=f"listen/{EXAMPLE.name}", results=f"results/{EXAMPLE.name}")


@answering
def check_listening_test(file: str | None) -> dict[str, Any]:
    """Check a listening test without opening it.

    Args:
        file: a zip with a folder of sounds for each system and, if there is one, a test.yaml.

    Returns:
        report: {"problems": a list of sentences, empty where the test can be opened;
            "trials_per_rater": how many trials a rater gets, 0 where the YAML cannot be read;
            "yaml": the test's YAML, or one that fits the sounds}.
    """
    workspace = Workspace()
    try:
        folder.unpack([Path(file)] if file else [], workspace.folder)
        yaml = workspace.yaml("ab")
        workspace.write(yaml)
        test, problems = workspace.check()
        trials = test.trials_per_rater if test else 0
        return {"problems": problems, "trials_per_rater": trials, "yaml": yaml}
    finally:
        workspace.clear()


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
