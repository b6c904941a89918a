"""Configurations of webMUSHRA as listening tests."""

from pathlib import Path

import pytest

from earshot.study.design import ANCHORS, REFERENCE, webmushra
from earshot.study.design.spec import SpecError, load
from earshot.study.sounds.stimuli import check
from tests.support.quickness import quickly
from tests.support.stimuli import noise

HEAD = """\
testname: Codecs compared
testId: codecs
bufferSize: 2048
stopOnErrors: true
showButtonPreviousPage: true
remoteService: service/write.php
pages:
  - type: generic
    id: welcome
    name: Welcome
    content: <p>Hello &amp; <b>welcome</b>.</p>Sit down.<br/>Listen.
  - type: consent
    id: consent
    name: Consent
    content: You may stop.
  - type: volume
    id: volume
    name: Volume
    content: Set it.
    stimulus: sounds/reference.wav
    defaultVolume: 0.5
"""
MUSHRA = """\
  - type: mushra
    id: first
    name: First
    content: ""
    showWaveform: true
    enableLooping: true
    reference: sounds/reference.wav
    createAnchor35: true
    createAnchor70: false
    stimuli:
      C1: sounds/c1.wav
      C2: sounds/c2.wav
"""
BLOCK = """\
  -
    - random
    - type: mushra
      id: second
      reference: sounds/reference.wav
      createAnchor35: true
      createAnchor70: true
      stimuli: {C1: sounds/c1.wav, C2: sounds/c2.wav}
    -
      - random
      - type: mushra
        id: third
        reference: sounds/reference.wav
        stimuli: {C1: sounds/c1.wav}
"""
PAIRED = """\
  - type: paired_comparison
    id: pairs
    unforced:
    reference: sounds/reference.wav
    stimuli: {C1: sounds/c1.wav, C2: sounds/c2.wav}
"""
PREFERENCE = """\
  - type: preference_test
    id: liked
    stimuli: {C1: sounds/c1.wav, C2: sounds/c2.wav, C3: sounds/reference.wav}
"""
FINISH = "  - type: finish\n    name: Thank you\n    showResults: true\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """configs/codecs.yaml, whose sounds are named from the folder above as webMUSHRA does."""
    for name in ("reference", "c1", "c2"):
        noise(tmp_path / "sounds" / f"{name}.wav")
    (tmp_path / "configs").mkdir()
    return tmp_path / "configs" / "codecs.yaml"


def test_load_reads_mushra_pages_in_blocks(file: Path) -> None:
    file.write_text(HEAD + MUSHRA + BLOCK + FINISH)
    test = load(file)
    assert (test.name, test.title, test.design.name) == ("codecs", "Codecs compared", "mushra")
    assert test.systems == ("C1", "C2") and test.trials_per_rater == 3
    assert test.instructions == "Hello & welcome.\n\nSit down.\n\nListen."
    assert test.consent == "You may stop."
    first, second, third = test.trials
    assert list(first.sounds) == ["C1", "C2", REFERENCE, "anchor-3.5k"]
    assert set(second.sounds) == {"C1", "C2", REFERENCE, *ANCHORS}
    assert set(third.sounds) == {"C1", REFERENCE} and third.stimulus == "third"
    assert first.reference == file.parent.parent / "sounds" / "reference.wav"
    assert check(test) == []


def test_load_of_paired_comparison_is_abx(file: Path) -> None:
    """Each system is compared with the reference."""
    file.write_text(HEAD + PAIRED + FINISH)
    test = load(file)
    assert test.design.name == "abx" and check(test) == []
    assert [tuple(trial.sounds) for trial in test.trials] == [("C1", REFERENCE), ("C2", REFERENCE)]


def test_load_of_preference_pairs_all_systems(file: Path) -> None:
    file.write_text(HEAD + PREFERENCE + FINISH)
    test = load(file)
    assert test.design.name == "ab" and test.scale == (("a", "A"), ("b", "B"))
    assert [tuple(t.sounds) for t in test.trials] == [("C1", "C2"), ("C1", "C3"), ("C2", "C3")]


@pytest.mark.parametrize(
    ("pages", "sentence"),
    [
        (MUSHRA + PAIRED, "line 34: this page is of another design"),
        (PAIRED.replace("unforced:", "unforced: I don't know"), 'line 24: ABX asks for one of two'),
        (MUSHRA.replace("mushra", "likert_multi_stimulus"), 'line 22: pages of type "likert_multi'),
        (MUSHRA.replace("sounds/c2", "../../c2"), 'line 33: "../../c2.wav" must be a path within'),
        (MUSHRA.replace("C2", "reference"), 'line 33: a system cannot be called "reference"'),
        (MUSHRA.replace("reference:", "referenz:"), 'line 22: "reference" is missing'),
        (MUSHRA.replace("    id: first\n", ""), 'line 22: "id" is missing'),
        (FINISH, "line 7: there is no page of type mushra"),
        ("  - 12\n", "line 22: this must be a page"),
    ],
)  # fmt: skip
def test_load_names_line_of_unsupported_page(file: Path, pages: str, sentence: str) -> None:
    file.write_text(HEAD + pages)
    with pytest.raises(SpecError) as caught:
        load(file)
    assert f"codecs.yaml, {sentence}" in str(caught.value)


@pytest.mark.parametrize("text", ["<", "<br", "< br ", "</p", "&"])
def test_unclosed_html_takes_linear_time(text: str) -> None:
    with quickly():
        webmushra._plain(text * (200_000 // len(text)))
