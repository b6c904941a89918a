"""What the buttons of the listening tests tab do."""

import shutil
import tempfile
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any, Final
from urllib.parse import urljoin

import gradio as gr
from gradio.components import Component

from media.errors import InputError
from media.paths import ASSETS
from study.design import Design, Test, folder, spec
from study.design.draft import Draft
from study.design.yaml_lines import MOST_BYTES, SpecError
from study.library import Library
from study.publishing import publish
from tabs.shared.drafts import Drafts
from tabs.shared.events import answering, say
from tabs.shared.sessions import SessionStore

EXAMPLE: Final = ASSETS / "study_example"
TRY: Final = """
<div class="study-try"><h3 class="step">Be a rater</h3>
<p>Which of our voice conversions sounds most like a person? Five minutes, with headphones.</p>
<div><a class="study-button" href="{listen}" target="_blank" rel="noopener">Take the example
test</a>
<a href="{results}" target="_blank" rel="noopener">What others said</a></div></div>
"""
NO_TEST: Final = "Bring your sounds first: this YAML is the example’s."
MOST_OPENED: Final = 5  # tests of one visitor
Update = dict[Component, Any]  # new values, by component
OPEN: Final = (
    "The test is open. Keep both links, which are shown only here. Its sounds stay on this server "
    "until you delete it on its results page; a test that nobody takes is deleted after a week."
)


@dataclass
class Bench:
    """Where a visitor's test lies while they work on it, and how many they have opened."""

    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="earshot-test-")))
    opened: int = 0

    @property
    def zip(self) -> Path:
        """The file to download it by."""
        return self.folder.with_name(f"{self.folder.name}-zip") / "listening-test.zip"

    def clear(self) -> None:
        """Deletes the test."""
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.rmtree(self.zip.parent, ignore_errors=True)

    def empty(self) -> Path:
        """The folder with nothing in it."""
        self.clear()
        self.folder.mkdir()
        return self.folder


@dataclass(frozen=True)
class Parts:
    """What the handlers change: bench holds a Bench; message is read by the visitor; yaml is the
    editor; numbers say what raters are asked; links lead to the open test; zip downloads it."""

    bench: gr.State
    message: gr.HTML
    yaml: gr.Code
    numbers: gr.HTML
    links: gr.HTML
    zip: gr.DownloadButton


class StudyEvents:
    """Handlers that know the tests that are open; what a visitor brings is theirs alone."""

    def __init__(
        self, tests: Library, drafts: Drafts, benches: SessionStore[Bench], parts: Parts
    ) -> None:
        self.tests, self.drafts, self.benches, self.parts = tests, drafts, benches, parts

    def from_upload(
        self, held: Bench | None, files: list[str] | None, design: Design, request: gr.Request
    ) -> Update:
        """A test of the sounds that were uploaded."""
        if not files:
            raise InputError("Bring your sounds first: a zip, or sounds one by one.")
        bench = self.benches.of(held, request)
        folder.unpack([Path(file) for file in files], bench.empty())
        return self._shown(bench, design)

    def from_draft(
        self, held: Bench | None, draft: Draft | None, design: Design, request: gr.Request
    ) -> Update:
        """A test of the visitor's draft."""
        if not draft or not draft.takes:
            raise InputError("Your draft is empty. Add results to it in the other tabs.")
        bench = self.benches.of(held, request)
        draft.write(bench.empty())
        (bench.folder / spec.FILE).unlink()
        return self._shown(bench, design)

    def check(self, bench: Bench | None, yaml: str) -> Update:
        """What is wrong with the test that the YAML describes."""
        return self._report(*self._checked(bench, yaml))

    def open(self, bench: Bench | None, yaml: str, request: gr.Request) -> Update:
        """Lets raters come, and shows the links."""
        test, problems = self._checked(bench, yaml)
        if bench is None or test is None or problems:
            return self._report(test, problems)
        if bench.opened >= MOST_OPENED:
            raise InputError(
                f"You have opened {MOST_OPENED} tests. Delete one on its results page."
            )
        name = publish(bench.folder, test.title, self.tests)
        bench.opened += 1
        shown = links(self.tests, name, request.headers.get("referer", ""))
        return self._report(test, []) | {self.parts.message: say(OPEN), self.parts.links: shown}

    def download(self, bench: Bench | None, yaml: str) -> Update:
        """Packs the test, and shows the button that downloads it."""
        if bench is None or not bench.folder.exists():
            raise InputError(NO_TEST)
        self._write(bench, yaml)
        bench.zip.parent.mkdir(exist_ok=True)
        folder.zipped(bench.folder, bench.zip)
        label = f"Save the zip ({bench.zip.stat().st_size / 1e6:.1f} MB)"
        button = gr.DownloadButton(label, value=str(bench.zip), visible=True)
        return {self.parts.zip: button}

    def _shown(self, bench: Bench, design: Design) -> Update:
        yaml = _yaml(bench, design)
        shown = {self.parts.bench: bench, self.parts.yaml: yaml}
        return shown | self._report(*self._checked(bench, yaml))

    def _report(self, test: Test | None, problems: list[str]) -> Update:
        """What was found; links and zip were those of the test before."""
        return {
            self.parts.message: _verdict(problems),
            self.parts.numbers: _numbers(test),
            self.parts.links: "",
            self.parts.zip: gr.DownloadButton(visible=False),
        }

    def _checked(self, bench: Bench | None, yaml: str) -> tuple[Test | None, list[str]]:
        """The test that the YAML describes, and all that is wrong in it."""
        if bench is None or not bench.folder.exists():
            raise InputError(NO_TEST)
        self._write(bench, yaml)
        return checked(bench)

    def _write(self, bench: Bench, yaml: str) -> None:
        (bench.folder / spec.FILE).write_text(yaml, encoding="utf-8", errors="replace")


def example(tests: Library) -> str:
    """The way to the example, whose results anybody may see, as HTML."""
    tests.open(EXAMPLE.name)
    return TRY.format(listen=f"listen/{EXAMPLE.name}", results=f"results/{EXAMPLE.name}")


@answering
def check_listening_test(file: str) -> dict[str, Any]:
    """Check a listening test without opening it.

    Args:
        file: a zip with a folder of sounds for each system and, if there is one, a test.yaml.

    Returns:
        report: {"problems": a list of sentences, empty where the test can be opened;
            "trials_per_rater": how many trials a rater gets, 0 where the YAML cannot be read;
            "yaml": the test's YAML, or one that fits the sounds}.
    """
    bench = Bench()
    try:
        folder.unpack([Path(file)], bench.folder)
        yaml = _yaml(bench, "ab")
        (bench.folder / spec.FILE).write_text(yaml, encoding="utf-8")
        test, problems = checked(bench)
        trials = test.trials_per_rater if test else 0
        return {"problems": problems, "trials_per_rater": trials, "yaml": yaml}
    finally:
        bench.clear()


def checked(bench: Bench) -> tuple[Test | None, list[str]]:
    """The test on the bench, None where its YAML cannot be read, and all that is wrong in it."""
    try:
        test = spec.load(bench.folder)
    except SpecError as error:
        return None, str(error).splitlines()
    from study.sounds import stimuli  # late, for it loads scipy

    return test, stimuli.check(test, stimuli.MOST_SAMPLES)


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
        # Its size is checked when it is read as YAML; the editor shows no more than that.
        with file.open(encoding="utf-8", errors="replace") as opened:
            return opened.read(MOST_BYTES + 1)
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
