"""Handlers of the events of the listening tests tab."""

import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import urljoin

import gradio as gr
from gradio.components import Component
from jinja2 import Environment
from markupsafe import Markup

from earshot.core import cancellation
from earshot.core.connections import UNREACHABLE, address_for_others
from earshot.core.errors import InputError
from earshot.core.limits import RateLimit
from earshot.core.templates import qr_code
from earshot.core.uploads import MB
from earshot.study import rater_links
from earshot.study.design import Test, folder, spec
from earshot.study.design.form import Form
from earshot.study.library import EXAMPLE, TestLibrary
from earshot.study.publishing import NOT_HERE, change, publish, published, size
from earshot.study.report_process import TooMuchError, trial_process
from earshot.study.storage.store import BEGUN
from earshot.tabs.listening_tests.form import FormFields
from earshot.tabs.listening_tests.workspace import Preview, Workspace
from earshot.tabs.shared.events import Update, say
from earshot.tabs.shared.gradio_internals import address_of_event
from earshot.tabs.shared.services import Drafts
from earshot.tabs.shared.sessions import SessionStore

TRY: Final = """
<div class="study-try"><h3 class="step">Be a rater</h3>
<p>Which of our voice conversions sounds most like a person? Five minutes, with headphones.</p>
<div><a class="study-button" href="{listen}" target="_blank" rel="noopener">Take the example
test</a>
<a href="{results}" target="_blank" rel="noopener">{others}</a></div></div>
"""
REHEARSED: Final = "What simulated raters said, in a rehearsal"
READY: Final = "This test can be opened."
NO_TEST: Final = "Upload your sounds first: what stands here is the example’s."
PAGE: Final = "samples.zip"
MAX_PAGE_SOUNDS: Final = 120
MAX_ADDRESS: Final = 300  # characters of a page's: a QR code holds more, which no camera reads
PREVIEW: Final = (
    "This is the test as a rater takes it. Nothing is stored, and nobody else can come before you "
    "open it to raters."
)
CHANGED: Final = "The open test is changed. Its links are the same."
OPEN: Final = (
    "The test is open. Keep both links, which are shown only here. Until somebody has begun it you "
    "can change it here, and open it again: its links stay. Its sounds stay on this server until "
    "you delete it on its results page; a test that nobody takes is deleted after a week."
)
# Browsers have a clipboard over HTTPS only; without one the link is selected, and copied so.
COPY: Final = """
const link = this.previousElementSibling, copied = () => { this.textContent = 'Copied' };
if (navigator.clipboard) { navigator.clipboard.writeText(link.href).then(copied) } else {
  getSelection().selectAllChildren(link);
  if (document.execCommand('copy')) { copied() }
}"""
TEMPLATES: Final = Environment(autoescape=True, trim_blocks=True)
LINKS: Final = TEMPLATES.from_string(
    """<dl class="links">
{% for link in links %}
<div><dt>{{ link.label }}</dt><dd><a href="{{ link.address }}" target="_blank" rel="noopener">{{
link.address }}</a><button type="button" onclick="{{ copy }}">Copy</button>
<span>{{ link.note }}</span></dd></div>
{% endfor %}
</dl>
{% if code %}<img class="code" src="data:image/svg+xml,{{ code | urlencode }}" width="180"
height="180" alt="QR code of the link for raters">{% endif %}""",
    {"copy": COPY},
)
PROBLEMS: Final = TEMPLATES.from_string(
    """<div class="message error" role="alert"><ul>
{% for problem in problems[:12] %}<li>{{ problem }}</li>{% endfor %}
{% if problems | length > 12 %}<li>and {{ problems | length - 12 }} more</li>{% endif %}
</ul></div>"""
)


@dataclass(frozen=True)
class StudyComponents:
    """The components that the handlers read and change: workspace holds a Workspace; message is for
    the visitor; yaml is the editor; numbers say what raters are asked; links lead to the open test;
    zip downloads it, or the page of its sounds; files were uploaded; form says what is asked, and
    whom.
    """

    workspace: gr.State
    message: gr.HTML
    yaml: gr.Code
    numbers: gr.HTML
    links: gr.HTML
    zip: gr.DownloadButton
    files: gr.File
    form: FormFields
    link: gr.Textbox


class StudyEvents:
    """Handlers that know the tests that are open; the sounds of a visitor are theirs alone."""

    def __init__(
        self,
        tests: TestLibrary,
        drafts: Drafts,
        workspaces: SessionStore[Workspace],
        components: StudyComponents,
        host: str | None = None,
    ) -> None:
        """Keep what they need. host: that the server listens at."""
        self.tests, self.drafts, self.workspaces = tests, drafts, workspaces
        self.components, self.host = components, host
        self._openings, self._trials = RateLimit.of("tests"), RateLimit.of("previews")
        self._keys = RateLimit.of("keys")
        self._megabytes = RateLimit.of("files of tests, MB")

    def from_upload(self, values: Mapping[Component, Any], request: gr.Request) -> Update:
        """Make a test of the sounds that were uploaded, and of the form. Where the same ones are a
        test already, or the test is one that is open, the form changes it."""
        files, form = values[self.components.files] or [], self.components.form.read(values)
        workspace = self.workspaces.of(values[self.components.workspace], request)
        if workspace.has_test and workspace.uploads == (*files,):
            return self._show(workspace, workspace.edited(values[self.components.yaml], form))
        if not files:
            raise InputError("Upload your sounds first: a zip, or sounds one by one.")
        folder.unpack([Path(file) for file in files], workspace.empty())
        self._count(workspace.folder, request)
        workspace.uploads = (*files,)
        return self._show(workspace, workspace.yaml(form))

    def edit(self, values: Mapping[Component, Any], request: gr.Request) -> Update:
        """Bring the test back whose results the link shows, to be changed until a rater has begun
        it."""
        opened = self.tests.by_link(values[self.components.link] or "")
        name = opened.test.name
        if not published(name, self.tests):
            raise InputError(NOT_HERE)
        if self.tests.store.raters(name):
            raise InputError(BEGUN)
        workspace = self.workspaces.of(values[self.components.workspace], request)
        workspace.copy(opened.test.folder)
        self._count(workspace.folder, request)
        workspace.open, workspace.uploads = name, (*(values[self.components.files] or []),)
        return self._show(workspace, workspace.yaml(Form()))

    def from_draft(self, values: Mapping[Component, Any], request: gr.Request) -> Update:
        """Make a test of the visitor's draft, and of the form."""
        draft, form = values[self.drafts.state], self.components.form.read(values)
        if not draft or not draft.items:
            raise InputError("Your draft is empty. Add results to it in the other tabs.")
        workspace = self.workspaces.of(values[self.components.workspace], request)
        draft.write(workspace.empty())
        self._count(workspace.folder, request)
        (workspace.folder / spec.FILE).unlink()
        return self._show(workspace, workspace.yaml(form))

    def check(self, workspace: Workspace | None, yaml: str) -> Update:
        """Check the test that the YAML describes, and show what is wrong with it."""
        return self._report(*self._checked(workspace, yaml))

    def open(self, workspace: Workspace | None, yaml: str, key: str, request: gr.Request) -> Update:
        """Let raters come, and show the links; a test that is open already, and that nobody has
        begun, is changed. key: see earshot.study.library."""
        if workspace and workspace.open and not self.tests.store.raters(workspace.open):
            self._permit(key, request)
            return self._changed(workspace, yaml, request)
        write = partial(links, host=self.host)
        return self._published(workspace, yaml, key, request, self._openings, OPEN, write)

    def preview(
        self, workspace: Workspace | None, yaml: str, key: str, request: gr.Request
    ) -> Update:
        """Show the test as raters would take it, storing nothing; nobody else can come."""
        return self._published(workspace, yaml, key, request, self._trials, PREVIEW, preview_link)

    def _permit(self, key: str, request: gr.Request) -> None:
        """Raise InputError for a wrong key, and for any after many wrong ones of a network."""
        address = address_of_event(request)
        if self._keys.take(address):
            raise InputError(self._keys.refusal)
        self.tests.permission.check(key)
        self._keys.give_back(address)

    def _published(
        self,
        workspace: Workspace | None,
        yaml: str,
        key: str,
        request: gr.Request,
        limit: RateLimit,
        message: str,
        write_links: Callable[[TestLibrary, str, str], str],
    ) -> Update:
        """Put the test among those that open, or in place of its preview, within a limit."""
        self._permit(key, request)
        test, problems = self._checked(workspace, yaml)
        if workspace is None or test is None or problems:
            return self._report(test, problems)
        address = address_of_event(request)
        if limit.take(address):
            raise InputError(limit.refusal)
        trial, name = limit is self._trials, workspace.preview.name if workspace.preview else ""
        try:
            if published(name, self.tests):  # its link goes on
                change(workspace.folder, name, self.tests, preview=trial)
            else:
                name = publish(workspace.folder, test.title, self.tests, trial)
        except BaseException:
            limit.give_back(address)
            raise
        workspace.preview = Preview(name, self.tests) if trial else None
        if not trial:
            workspace.open = name
        return self._report(test, []) | {
            self.components.message: say(message, "done"),
            self.components.links: write_links(self.tests, name, _page(request)),
        }

    def _changed(self, workspace: Workspace, yaml: str, request: gr.Request) -> Update:
        """Change the test that is open."""
        test, problems = self._checked(workspace, yaml)
        if test is None or problems:
            return self._report(test, problems)
        if self._trials.take(address_of_event(request)):
            raise InputError(self._trials.refusal)
        change(workspace.folder, workspace.open, self.tests)
        return self._report(test, []) | {
            self.components.message: say(CHANGED, "done"),
            self.components.links: links(self.tests, workspace.open, _page(request), self.host),
        }

    def rehearse(self, workspace: Workspace | None, yaml: str) -> str:
        """Show what made-up raters would find, as HTML; nothing where the test is not whole."""
        if workspace is None or not workspace.folder.exists():
            return ""
        test, problems = self._checked(workspace, yaml)
        if test is None or problems:
            return ""
        # Late, for they load statsmodels and matplotlib.
        from earshot.study.analysis.report.page import rehearsal
        from earshot.study.simulation import rehearse

        try:
            return trial_process()(rehearsal, trial_process()(rehearse, test))
        except TooMuchError as error:
            return say(str(error))

    def download(self, workspace: Workspace | None, yaml: str, request: gr.Request) -> Update:
        """Pack the test, and show the button that downloads it."""
        if workspace is None or not workspace.folder.exists():
            raise InputError(NO_TEST)
        workspace.check_room()
        workspace.write(yaml)
        return self._packed(workspace.folder, workspace.zip, "zip", request)

    def page(self, workspace: Workspace | None, request: gr.Request) -> Update:
        """Make the page of samples of the test's sounds, and show the button that downloads it."""
        from earshot.exports.page import write_page  # late, for it loads librosa

        if workspace is None or not workspace.folder.exists():
            raise InputError(NO_TEST)
        workspace.check_room()
        with tempfile.TemporaryDirectory() as site:
            write_page(
                workspace.folder,
                Path(site),
                progress=lambda *_: cancellation.check(),
                max_sounds=MAX_PAGE_SOUNDS,
            )
            return self._packed(Path(site), workspace.zip.with_name(PAGE), "page", request)

    def _packed(self, content: Path, file: Path, noun: str, request: gr.Request) -> Update:
        """Pack a folder, and show the button that downloads it, called so."""
        file.parent.mkdir(exist_ok=True)
        folder.write_zip(content, file)
        self._count(file.parent, request)
        label = f"Save the {noun} ({file.stat().st_size / 1e6:.1f} MB)"
        return {self.components.zip: gr.DownloadButton(label, value=str(file), visible=True)}

    def _count(self, folder: Path, request: gr.Request) -> None:
        """Count the megabytes of a folder for an address. Raises InputError, and deletes it, where
        that is too much."""
        address = address_of_event(request)
        if any(self._megabytes.take(address) for _ in range(size(folder) // MB)):
            shutil.rmtree(folder)
            raise InputError(self._megabytes.refusal)

    def _show(self, workspace: Workspace, yaml: str) -> Update:
        """Show the test, and what is wrong with it; in the form too, for another YAML than the
        form's may have come with the sounds."""
        update: Update = {self.components.workspace: workspace, self.components.yaml: yaml}
        update |= self._report(*self._checked(workspace, yaml))
        form = workspace.form()
        return update | (self.components.form.show(form) if form else {})

    def _report(self, test: Test | None, problems: list[str]) -> Update:
        """Show what was found; links and zip were those of the test before."""
        return {
            self.components.message: _verdict(problems),
            self.components.numbers: _numbers(test),
            self.components.links: "",
            self.components.zip: gr.DownloadButton(visible=False),
        }

    def _checked(self, workspace: Workspace | None, yaml: str) -> tuple[Test | None, list[str]]:
        """Check the test that the YAML describes: the test, and all that is wrong in it."""
        if workspace is None or not workspace.folder.exists():
            raise InputError(NO_TEST)
        workspace.write(yaml)
        return workspace.check()


def example(tests: TestLibrary) -> str:
    """Show the way to the example, whose results anybody may see, as HTML."""
    test = tests.open(EXAMPLE.name).test
    others = "What others said" if tests.store.raters(test.name) else REHEARSED
    listen, results = f"listen/{EXAMPLE.name}", f"results/{EXAMPLE.name}"
    return TRY.format(listen=listen, results=results, others=others)


def links(tests: TestLibrary, name: str, page: str, host: str | None = None) -> str:
    """Show the links of an open test, as HTML: to copy, and that for raters as a QR code too, where
    others reach it. page: where the visitor is; host: that the server listens at."""
    opened, others = tests.open(name), address_for_others(page, host)
    note = "Whoever has it can take the test." if others else UNREACHABLE
    raters = Link("For raters", urljoin(others or page, f"listen/{name}"), note)
    results = urljoin(page, f"results/{name}?key={opened.key}")
    yours = Link("For you", results, "Whoever has it sees the results.")
    return LINKS.render(links=[raters, yours], code=others and qr_code(raters.address))


def preview_link(tests: TestLibrary, name: str, page: str) -> str:
    """Show the link to a preview, as HTML."""
    opened = tests.open(name)
    path = f"listen/{name}?rater={rater_links.preview_token(opened.key)}"
    return LINKS.render(links=[Link("Preview", urljoin(page, path), "For you only.")], code="")


class Link(NamedTuple):
    """A link to hand on: what it is, its address, and what the person who has it can do."""

    label: str
    address: str
    note: str


def _page(request: gr.Request) -> str:
    """Return the address of the visitor's page. Some browsers do not send it; the address that they
    asked is nearly as good."""
    page = request.headers.get("referer") or ""
    return page if 0 < len(page) <= MAX_ADDRESS else str(request.base_url)


def _verdict(problems: list[str]) -> str:
    return PROBLEMS.render(problems=problems) if problems else say(READY, "done")


def _numbers(test: Test | None) -> str:
    """Write what a rater will be asked."""
    if test is None:
        return ""
    systems, scored = len(test.systems), len(test.of_kind("trial"))
    line = Markup(
        "<b>{}</b> system{} · <b>{}</b> trial{}, <b>{}</b> for each rater · <b>{}</b> for practice "
        "and checks"
    )
    counts = systems, "s" * (systems != 1), scored, "s" * (scored != 1)
    return line.format(*counts, test.trials_per_rater, len(test.trials) - scored)
