"""Tests as YAML: what they become, and how mistakes are reported."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from earshot.study.design import ANCHORS, DESIGNS, REFERENCE, document
from earshot.study.design.designs import MAX_SYSTEMS
from earshot.study.design.form import template
from earshot.study.design.spec import SpecError, load
from tests.support.quickness import quickly
from tests.support.stimuli import make_folder


def wrong(folder: Path, text: str | None = None) -> list[str]:
    """The sentences about the file there, or about this text."""
    if text is not None:
        (folder / "test.yaml").write_text(text)
    with pytest.raises(SpecError) as caught:
        load(folder)
    return str(caught.value).splitlines()


@pytest.mark.parametrize(
    ("design", "trials", "sounds"),
    [
        ("acr", 6, 1), ("dcr", 6, 1), ("similarity", 6, 1), ("smos", 6, 1),
        ("ccr", 3, 2), ("ab", 3, 2), ("abx", 3, 2), ("mushra", 3, 5),
    ],
)  # fmt: skip
def test_load_makes_trials_of_each_design(
    tmp_path: Path, design: str, trials: int, sounds: int
) -> None:
    test = load(make_folder(tmp_path / "my-test", design, practice=1))
    assert (test.name, test.design.name, test.systems) == ("my-test", design, ("ours", "theirs"))
    assert len(test.of_kind("trial")) == test.trials_per_rater == trials
    assert [trial.id for trial in test.trials] == list(range(trials + 1))
    assert test.trials[-1].kind == "practice"
    for trial in test.of_kind("trial"):
        assert len(trial.sounds) == sounds
        assert (trial.reference is not None) == DESIGNS[design].referenced
        for name, path in trial.sounds.items():
            assert path.is_file() or name in ANCHORS
            assert name in ANCHORS or path.stem == trial.stimulus
    assert {trial.stimulus for trial in test.trials} == {"one", "two", "three"}
    if design == "mushra":
        assert set(test.conditions) == {"ours", "theirs", REFERENCE, *ANCHORS}


def test_load_reads_every_setting(tmp_path: Path) -> None:
    sounds = ["ours/one.wav", "theirs/two.wav"]
    test = load(
        make_folder(
            tmp_path / "t",
            "ab",
            trials=2,
            practice=[{"sounds": [*sounds]}],
            attention=[{"sounds": [*sounds], "expected": "second"}],
            gold=[{"sounds": [*sounds], "expected": "same", "tolerance": 0.5}],
            instructions="Listen.",
            consent="You may stop.",
            question="Welches?",
            words=["A", "B"],
            no_preference=False,
            language="de",
            loudness=-26,
            seed=9,
        )
    )
    assert test.trials_per_rater == 2 and test.seed == 9 and test.loudness == -26.0
    assert test.scale == (("a", "A"), ("b", "B")) and test.language == "de"
    assert [trial.kind for trial in test.trials[3:]] == ["practice", "attention", "gold"]
    assert [trial.expected for trial in test.trials[3:]] == [None, 0.0, 0.5]
    assert test.trials[-1].tolerance == 0.5 and list(test.trials[-1].sounds) == sounds


@pytest.mark.parametrize("design", ["ccr", "ab", "abx"])
def test_load_pairs_systems_with_reference(tmp_path: Path, design: str) -> None:
    make_folder(tmp_path / "t", "mushra")
    test = load(make_folder(tmp_path / "t", design, reference="reference/*.wav"))
    pairs = {tuple(trial.sounds) for trial in test.trials}
    assert pairs == {("ours", REFERENCE), ("theirs", REFERENCE)}
    assert all(trial.reference is None for trial in test.trials)


def test_load_keeps_stimulus_one_system_lacks(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "t")
    (folder / "ours" / "two.wav").unlink()
    assert len(load(folder).trials) == 6


def test_load_names_mistakes_with_their_lines(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "t")
    problems = wrong(
        folder,
        """\
titel: A test
design: acr
systems:
  ours: ours/*.wav
  theirs: theirs/*.mp3
  third: /etc/*.conf
  fourth: ours/one.wav
reference: ours/*.wav
loudness: 23
seed: one
trials: yes
""",
    )
    expected = [
        ('line 1: there is no "titel"', 'did you mean "title"?'),
        ('line 1: "title" is missing', ""),
        ("line 5: no file fits theirs/*.mp3", ""),
        ('line 6: "/etc/*.conf" must be a path within the folder', ""),
        ('line 7: "fourth" needs one *', ""),
        ("line 8: acr has no reference", ""),
        ('line 9: "loudness" must be -60 to -10', "-23"),
        ('line 10: "seed" must be a whole number, and is one', ""),
        ('line 11: "trials" must be a whole number, and is yes', ""),
    ]
    assert len(problems) == len(expected), problems
    for line, (start, rest) in zip(problems, expected, strict=True):
        assert line.startswith(f"test.yaml, {start}") and rest in line


@pytest.mark.parametrize(
    ("design", "more", "line"),
    [
        ("acr", {"design": "mos"}, '"design" must be one of acr'),
        ("acr", {"design": None}, '"design" is missing'),
        ("acr", {"trials": 7}, "must be 1 to 6"),
        ("acr", {"trials": 0}, "must be 1 to 6"),
        ("acr", {"practice": -1}, '"practice" must be 0 or more'),
        ("acr", {"seed": -1}, '"seed" must be 0 or more'),
        ("acr", {"words": ["good", "bad"]}, '"words" must be 5, for: Excellent'),
        ("acr", {"systems": {}}, "needs 1 or more systems"),
        ("acr", {"systems": ["a", "b"]}, '"systems" must be names with values, and is a list'),
        ("acr", {"systems": {"reference": "ours/*.wav"}}, "cannot be called"),
        ("acr", {"systems": {"x": "../t/ours/*.wav"}}, "within the folder"),
        ("ab", {"systems": {"ours": "ours/*.wav"}}, "needs 2 or more systems"),
        ("dcr", {"reference": None}, 'dcr needs "reference"'),
        ("mushra", {"systems": {f"s{i}": "ours/*.wav" for i in range(10)}}, "9 systems at most"),
        ("acr", {"gold": [{"expected": 5}]}, '"sounds" must name 1 file in acr'),
        ("ab", {"gold": [{"sounds": ["ours/one.wav"]}]}, '"sounds" must name 2 files in ab'),
        ("acr", {"gold": [{"sounds": "ours/one.wav"}]}, '"expected" is missing'),
        ("acr", {"gold": [{"sounds": "ours/one.wav", "expected": 6}]}, '"expected" must be 1 to 5'),
        ("acr", {"gold": [{"sounds": "/etc/passwd", "expected": 5}]}, "within the folder"),
        ("acr", {"gold": ["ours/one.wav"]}, "write sounds:"),
        ("acr", {"gold": {"sounds": "ours/one.wav"}}, '"gold" must be a list'),
        ("acr", {"question": " "}, '"question" must be a text'),
        ("acr", {"title": "One\ntwo"}, '"title" must be a line of text'),
        ("acr", {"words": ["a", "b", "", "d", "e"]}, 'each of "words" must be a line of text'),
        ("acr", {"words": ["a", "b", "c", "d", "a"]}, '"words" must be different'),
        ("acr", {"agree": ["yes", ""]}, 'each of "agree" must be a text'),
        ("acr", {"faults": ["a\nb"]}, 'each of "faults" must be a line of text'),
        ("acr", {"systems": {"a\nb": "ours/*.wav"}}, "a name must be a line of text"),
        ("acr", {"consent": "a\0b"}, "holds a control character"),
        ("acr", {"texts": {"de": {"title": ""}}}, '"title" must be a line of text'),
        ("acr", {"texts": {"de": {"question": ""}}}, '"question" must be a text'),
        ("acr", {"questions": [{"ask": "", "choices": ["a", "b"]}]}, '"ask" must be a text'),
        ("acr", {"questions": [{"ask": "?", "choices": ["", "b"]}]}, 'each of "choices"'),
        *[
            ("acr", {key: 10**400}, "no number, or too large")
            for key in ("loudness", "seed", "trials", "raters", "break_every")
        ],
        *[
            ("acr", {key: document.MAX_WHOLE + 1}, f'"{key}" must be 4,294,967,295 at most')
            for key in ("seed", "practice", "raters", "break_every")
        ],
        ("acr", {"gold": [{"sounds": "ours/one.wav", "expected": 10**400}]}, "no number"),
    ],
)  # fmt: skip
def test_load_names_mistake_in_setting(
    tmp_path: Path, design: str, more: dict[str, Any], line: str
) -> None:
    assert any(line in each for each in wrong(make_folder(tmp_path / "t", design, **more)))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "line 1: a test begins with names and values"),
        ("- one\n- two", "line 1: a test begins with names and values"),
        ("title: [1, 2", "this is not YAML"),
        ("title: a\n\tdesign: acr", "line 2: this is not YAML"),
        ("title: a\ntitle: b", 'line 2: "title" is there twice'),
        ("title: a\nsystems:\n  ours: *.wav", "line 3: what begins with * must be in quotes"),
        ("a: &a [*a]", "line 1: what begins with *"),
        (
            "design: acr\ntitle: !!python/object/apply:os.system [ls]",
            '"title" must be text, and is a list',
        ),
        ("design: acr\ntitle: 2020-99-99\nseed: 0x", '"seed" must be a whole number'),
        ("title: \x00", "this is not YAML"),
        ("? [a, b]\n: c", "a name must be text"),
        ("title: " + "[" * 5000, "too many lists"),
        ("a: 1\nseed: !!int one", "line 2: this is no number"),
        (f"a: 1\nseed: {'9' * 5000}", "line 2: this is no number"),
        ("design: acr\nloudness: .nan", "line 2: this is no number"),
    ],
)
def test_load_names_mistake_in_yaml(tmp_path: Path, text: str, sentence: str) -> None:
    assert any(sentence in line for line in wrong(tmp_path, text))


def test_scalars_are_what_is_written(tmp_path: Path) -> None:
    """YAML 1.1 takes 0123 for 83, 1_000 for 1000, and yes for true: codes and choices are text."""
    file = tmp_path / "test.yaml"
    file.write_text("seed: 012\ncode: 007\nanswer: 1_000\ntitle: 0123\nask: yes\n")
    value = document.read(file)
    assert value.take("seed", int) == 12
    assert [value.at(key).text_or_number(key) for key in ("code", "answer")] == ["007", "1_000"]
    for key in ("title", "ask"):
        value.take(key, str)
    with pytest.raises(document.SpecError) as error:
        value.problems.raise_any()
    assert 'line 4: "title" must be text, and is 0123: put it in quotes, as "0123".' in str(error)
    assert 'line 5: "ask" must be text, and is yes: put it in quotes, as "yes".' in str(error)


def test_load_of_unreadable_file_raises(tmp_path: Path) -> None:
    """The file is missing, or is no text."""
    (tmp_path / "test.yaml").write_bytes(b"\xff\xfe\x00title")
    assert "UTF-8" in wrong(tmp_path)[0]
    (tmp_path / "test.yaml").unlink()
    assert "no such file" in wrong(tmp_path)[0]


def test_load_of_unfit_folder_name_raises(tmp_path: Path) -> None:
    """A link must be able to hold the name."""
    assert 'rename "my test"' in wrong(make_folder(tmp_path / "my test"))[0]


@pytest.mark.parametrize("design", DESIGNS)
def test_template_of_each_design_loads(tmp_path: Path, design: str) -> None:
    """What is commented out in it loads too."""
    folder = make_folder(tmp_path / "t", design)
    text = template(DESIGNS[design]).replace("baseline", "theirs")
    (folder / "test.yaml").write_text(text)
    test = load(folder)
    assert (
        test.design.name == design and test.loudness == -23.0 and len(test.of_kind("practice")) == 1
    )
    for commented in ("# attention", "# gold", "#   - ", "#     "):
        text = text.replace(commented, commented.replace("# ", "", 1).replace("#", " "))
    (folder / "test.yaml").write_text(text)
    test = load(folder)
    assert len(test.of_kind("gold")) == len(test.of_kind("attention")) == 1


@pytest.mark.parametrize(
    "text", ["a: " + "[" * 3000, "a: [" + "x," * 90_000, "a: [" + "x," * 750_000, "- " * 50_000]
)
def test_load_of_slow_yaml_is_refused(tmp_path: Path, text: str) -> None:
    """A file that is made to take long is refused at once."""
    (tmp_path / "test.yaml").write_text(text)
    message = "lie within each other|200 kB and 20000 values"
    with quickly(), pytest.raises(SpecError, match=message):
        load(tmp_path)


def test_load_of_many_trials_is_refused(tmp_path: Path) -> None:
    """A test has no more trials than can be drawn, and a rater gets 300 at most."""
    for system in range(50):
        (tmp_path / f"s{system}").mkdir()
        for name in "abcde":
            (tmp_path / f"s{system}" / f"{name}.wav").touch()
    systems = "".join(f"  s{system}: s{system}/*.wav\n" for system in range(50))
    (tmp_path / "test.yaml").write_text(f"title: x\ndesign: ab\nsystems:\n{systems}")
    with pytest.raises(SpecError, match="makes 6125 trials: 5000 are the most"):
        load(tmp_path)
    for path in tmp_path.glob("*/[b-e].wav"):
        path.unlink()
    systems = "".join(f"  s{system}: s{system}/*.wav\n" for system in range(30))
    (tmp_path / "test.yaml").write_text(f"title: x\ndesign: ab\nsystems:\n{systems}")
    with pytest.raises(SpecError, match="a rater gets 300 trials at most"):
        load(tmp_path)
    (tmp_path / "test.yaml").write_text(f"title: x\ndesign: ab\ntrials: 300\nsystems:\n{systems}")
    assert len(load(tmp_path).trials) == 435


@pytest.mark.parametrize("design", ["acr", "ab"])
def test_load_of_many_systems_is_refused(tmp_path: Path, design: str) -> None:
    """All pairs of systems are compared when a test is analysed, whatever its trials show."""
    (tmp_path / "a.wav").touch()
    systems = "".join(f'  s{number}: "*.wav"\n' for number in range(MAX_SYSTEMS + 1))
    (tmp_path / "test.yaml").write_text(f"title: x\ndesign: {design}\nsystems:\n{systems}")
    with pytest.raises(SpecError, match="50 systems at most"):
        load(tmp_path)


@pytest.mark.parametrize("loader", ["CSafeLoader", "SafeLoader"])
def test_load_of_half_character_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loader: str
) -> None:
    monkeypatch.setattr(document, "LOADER", getattr(yaml, loader))
    folder = make_folder(tmp_path / "t", title=None)
    rest = (folder / "test.yaml").read_text()
    (folder / "test.yaml").write_text('title: "\\ud83d\\ude00"\n' + rest)
    with pytest.raises(SpecError, match="line 1: "):
        load(folder)
    (folder / "test.yaml").write_text('title: "😀"\n' + rest, encoding="utf-8")
    assert load(folder).title == "😀"


@pytest.mark.parametrize(
    "lines",
    [
        "".join(f"titl{n}: 1\n" for n in range(8000)),
        "".join(f"k{n}: {':'.join(['59'] * 60)}\n" for n in range(1000)),
        f"title: {'59:' * 60_000}1\ndesign: ab\n",
    ],
)
def test_load_of_wrong_file_is_quick(tmp_path: Path, lines: str) -> None:
    """A file that is all wrong takes no time, and not all of its mistakes are reported."""
    (tmp_path / "test.yaml").write_text(f"design: ab\n{lines}" if "design" not in lines else lines)
    with quickly(), pytest.raises(SpecError) as caught:
        load(tmp_path)
    assert len(str(caught.value).splitlines()) <= 51


def test_times_are_texts(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "t")
    text = (folder / "test.yaml").read_text().replace("title: A test", "title: 12:30")
    (folder / "test.yaml").write_text(text)
    assert load(folder).title == "12:30"


@pytest.mark.parametrize("language", ["../en", "de\\n", "german"])
def test_language_is_a_code(tmp_path: Path, language: str) -> None:
    folder = make_folder(tmp_path / "t", language=language)
    with pytest.raises(SpecError, match="is no language"):
        load(folder)


def test_agree_and_approval_belong_to_consent(tmp_path: Path) -> None:
    agree, german = ["I am 18 or older."], {"agree": ["Ich bin 18 oder älter."]}
    folder = make_folder(tmp_path / "t", agree=agree, approval="2026-17", texts={"de": german})
    test = load(folder)
    assert test.agree == tuple(agree) and test.approval == "2026-17"
    assert test.texts["de"].agree == tuple(german["agree"])
    with pytest.raises(SpecError, match='"agree" must be 0'):
        load(make_folder(tmp_path / "t", texts={"de": german}))
