"""Files and answers of listening tests as public reports of other programs describe them: each kind
with the report that it comes from, and the value that is right."""

import os
import shutil
import sys
import unicodedata
import zipfile
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
import soundfile
from fastapi.testclient import TestClient

from benchmarks.support.listening import Rater
from earshot.core.errors import InputError
from earshot.study import preregistration
from earshot.study.__main__ import main
from earshot.study.analysis.report import figures
from earshot.study.design import folder, spec
from earshot.study.design.form import Form
from earshot.study.design.scales import UNWRITTEN
from earshot.study.design.spec import SpecError
from earshot.study.sounds import stimuli
from earshot.study.storage.store import Store
from earshot.study.web.server import app, library
from tests.support.stimuli import RATE, make_folder, noise
from tests.support.studies import any_answer, enrol

MUSHRA = """\
testname: webMUSHRA
testId: one
bufferSize: 2048
stopOnErrors: true
remoteService: service/write.php

pages:
    - type: mushra
      id: trial1
      name: MUSHRA
      content: Please go on. Reminder: In such a test you rate each <b>condition</b>. # a comment
      enableLooping: true
      reference: sounds/reference.wav
      createAnchor35: false
      createAnchor70: false
{strict}      stimuli:
          C1: sounds/c1.wav
          C2: sounds/c2.wav
    - type: finish
      name: Thank you
      content: It's done: thank you
"""


def run(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> None:
    monkeypatch.setattr(sys, "argv", ["study", *map(str, arguments)])
    main()


def zipped(path: Path, *names: str, more: tuple[str, ...] = ()) -> Path:
    """A zip with a sound under each name, and files of some letters under the others."""
    wav = noise(path.with_suffix(".wav")).read_bytes()
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, wav)
        for name in more:
            archive.writestr(name, "letters")
    return path


def drafted(tmp_path: Path, *names: str, more: tuple[str, ...] = ()) -> spec.Test:
    """The test that is drafted of a zip."""
    workspace = tmp_path / "workspace"
    folder.unpack([zipped(tmp_path / "sent.zip", *names, more=more)], workspace)
    if not (workspace / "test.yaml").exists():
        (workspace / "test.yaml").write_text(folder.describe(workspace, Form("ab")))
    test = spec.load(workspace)
    assert stimuli.check(test) == []
    return test


@pytest.mark.parametrize("file", ["answers.db", "rehearsal.db"])
def test_rehearsal_never_touches_real_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str
) -> None:
    """OLC-Bioinformatics/ConFindr#77: the output folder is the input."""
    folder = make_folder(tmp_path / "mine")
    test, store = spec.load(folder), Store(f"sqlite:///{folder / file}")
    rater = enrol(store, test)
    store.answer(test, rater.token, 0, *any_answer(test, rater.items[0]), 900)
    with pytest.raises(SystemExit, match="real raters: choose another folder"):
        run(monkeypatch, "simulate", folder, "--raters", 3, "--out", folder)
    assert len(Store(f"sqlite:///{folder / file}").ratings(test)) == 1


def test_rehearsal_is_replaced_only_on_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It touches no real answers of the folder above it."""
    folder = make_folder(tmp_path / "mine")
    test, store = spec.load(folder), Store(f"sqlite:///{folder / 'answers.db'}")
    rater = enrol(store, test)
    store.answer(test, rater.token, 0, *any_answer(test, rater.items[0]), 900)
    monkeypatch.setattr(figures, "save", lambda *_: [])  # which takes longer than all else
    run(monkeypatch, "simulate", folder, "--raters", 3)
    with pytest.raises(SystemExit, match="is there already"):
        run(monkeypatch, "simulate", folder, "--raters", 2)
    run(monkeypatch, "simulate", folder, "--raters", 2, "--overwrite")
    assert Store(f"sqlite:///{folder / 'simulated' / 'rehearsal.db'}").raters("mine") == 2
    assert len(Store(f"sqlite:///{folder / 'answers.db'}").ratings(test)) == 1


@pytest.mark.parametrize(
    ("command", "file"),
    [
        ("analyse", "report.html"),
        ("analyse", "everyone-systems.csv"),
        ("export", "mine.csv"),
        ("export", "mine-dataset/README.md"),
        ("simulate", "mine.jsonl"),
        ("simulate", "figure.pdf"),
        ("compare", "page.html"),
        ("import", "pairs.csv"),
    ],
)
def test_results_are_replaced_only_on_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, file: str
) -> None:
    """DeaDBeeF-Player/deadbeef#1147: what somebody has written into a report is lost."""
    folder, out = make_folder(tmp_path / "mine"), tmp_path / "results"
    test, store = spec.load(folder), Store(f"sqlite:///{folder / 'answers.db'}")
    rater = enrol(store, test)
    store.answer(test, rater.token, 0, *any_answer(test, rater.items[0]), 900)
    (out / file).parent.mkdir(parents=True)
    (out / file).write_text("by hand")
    csv = tmp_path / "mushra.csv"
    csv.write_text(
        "session_test_id,trial_id,rating_stimulus,rating_score,rating_time\n"
        "one,a,reference,100,9\none,a,C1,50,9\n"
    )
    inputs = {"compare": [folder, folder], "import": [csv]}.get(command, [folder])
    target = out / file if command == "compare" else out
    with pytest.raises(SystemExit, match="is there already: name another, or add --overwrite"):
        run(monkeypatch, command, *inputs, "--out", target)
    assert [path for path in out.rglob("*") if path.is_file()] == [out / file]
    assert (out / file).read_text() == "by hand" and store.looks(test) == []
    if command in {"export", "compare"}:
        run(monkeypatch, command, *inputs, "--out", target, "--overwrite")
        assert (out / file).read_text() != "by hand"


def test_sound_exchanged_after_rating_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """iderex/eichstelle#25: a stimulus is replaced under its name, and each command says so."""
    folder = make_folder(tmp_path / "mine")
    enrol(Store(f"sqlite:///{folder / 'answers.db'}"), spec.load(folder))
    run(monkeypatch, "check", folder)
    noise(folder / "ours" / "one.wav", level=0.02)
    for command in ("check", "export", "analyse"):
        with pytest.raises(SystemExit, match="not those that raters have answered"):
            run(monkeypatch, command, folder)


@pytest.mark.parametrize(
    "arguments", [["simulate", "TEST", "--out", "FILE"], ["new", "FILE"], ["check", "NOWHERE"]]
)
def test_commands_explain_wrong_paths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    """cellxgene#1184: a path that is none ends in a traceback."""
    folder = make_folder(tmp_path / "mine")
    (tmp_path / "file").touch()
    paths = {"TEST": folder, "FILE": tmp_path / "file", "NOWHERE": tmp_path / "nowhere"}
    with pytest.raises(SystemExit) as caught:
        run(monkeypatch, *[paths.get(each, each) for each in arguments])
    assert "file" in str(caught.value)


def test_endings_in_capitals_are_same_kind(tmp_path: Path) -> None:
    """MontrealCorpusTools/PolyglotDB#150: .WAV beside .wav."""
    folder = make_folder(tmp_path / "mine", "ab")
    for system in ("ours", "theirs"):
        (folder / system / "two.wav").rename(folder / system / "two.WAV")
    test = spec.load(folder)
    assert len(test.trials) == 3 and stimuli.check(test) == []


@pytest.mark.parametrize(("yaml", "disk"), [("NFC", "NFD"), ("NFD", "NFC")])
def test_normal_forms_are_one_name(
    tmp_path: Path, yaml: Literal["NFC", "NFD"], disk: Literal["NFC", "NFD"]
) -> None:
    """cryptomator#264: macOS writes ü as u and two dots."""
    for system in ("größe", "klein"):
        path = tmp_path / "t" / system / ("für.wav" if system == "klein" else "fu\u0308r.wav")
        path = tmp_path / unicodedata.normalize(disk, str(path.relative_to(tmp_path)))
        noise(path)
    systems = f"systems:\n  a: {unicodedata.normalize(yaml, 'größe')}/*.wav\n  b: klein/*.wav\n"
    (tmp_path / "t" / "test.yaml").write_text(f"title: T\ndesign: ab\n{systems}")
    test = spec.load(tmp_path / "t")
    assert [trial.stimulus for trial in test.trials] == ["für"] and stimuli.check(test) == []


def test_brackets_in_folder_names_are_literal(tmp_path: Path) -> None:
    """difPy#94: glob takes [v2] for one character."""
    names = [f"{s}/{n}.wav" for s in ("hifi [v2]", "vits (ema)") for n in ("a", "b", "c")]
    test = drafted(tmp_path, *names)
    assert test.trials_per_rater == 3 and test.systems == ("hifi [v2]", "vits (ema)")


PAIR = [f"{s}/{n}.wav" for s in ("ours", "theirs") for n in ("a", "b")]


@pytest.mark.parametrize(
    ("names", "more"),
    [
        (PAIR, ("README.md", "notes/read.txt")),
        ([f"pack/{name}" for name in PAIR], ("README.md", "pack/README.md")),
        ([f"one/two/three/{name}" for name in PAIR], ("one/read.txt",)),
        ([name.replace("/", "\\") for name in PAIR], ()),
        ([f"sounds\\{name}".replace("/", "\\") for name in PAIR], ()),
        ([name.replace("/", "_") for name in PAIR], ()),
        ([f"C:\\sounds\\{name}".replace("/", "\\") for name in PAIR], ()),
    ],
)
def test_zip_is_searched_for_systems_folder(
    tmp_path: Path, names: list[str], more: tuple[str, ...]
) -> None:
    """ultralytics/hub#89, cpython#91036: what else lies in a zip, and backslashes."""
    test = drafted(tmp_path, *names, more=more)
    assert test.systems == ("ours", "theirs")
    assert sorted({trial.stimulus for trial in test.of_kind("trial")}) == ["a", "b"]


def test_zip_keeps_sounds_of_speakers_apart(tmp_path: Path) -> None:
    """ultralytics/hub#89: a folder more than was thought of."""
    names = [f"{s}/{p}/a.wav" for s in ("ours", "theirs") for p in ("p225", "p226")]
    test = drafted(tmp_path, *names)
    assert test.systems == ("ours", "theirs")
    assert sorted({trial.stimulus for trial in test.of_kind("trial")}) == ["p225-a", "p226-a"]


def zip_of(tmp_path: Path, *entries: tuple[str, bytes]) -> Path:
    """A zip of these entries, of which two may be called alike."""
    with zipfile.ZipFile(tmp_path / "sent.zip", "w") as archive:
        for name, content in entries:
            archive.writestr(zipfile.ZipInfo(name), content)
    return tmp_path / "sent.zip"


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("second", [b"1", b"2"])
def test_two_sounds_of_one_name_are_told(tmp_path: Path, second: bytes) -> None:
    """Programs add to a zip what is in it: the first was lost without a word, if it differed."""
    file = zip_of(tmp_path, ("a/x.wav", b"1"), ("a/x.wav", second), ("b/x.wav", b"3"))
    if second == b"1":
        folder.unpack([file], tmp_path / "workspace")
        assert (tmp_path / "workspace" / "a" / "x.wav").read_bytes() == b"1"
        return
    with pytest.raises(InputError, match="two sounds called a/x.wav"):
        folder.unpack([file], tmp_path / "workspace")


def test_normal_forms_in_zip_are_one_system(tmp_path: Path) -> None:
    """A folder that two programs packed, one of them of macOS, became two systems."""
    form = unicodedata.normalize
    entries = [(f"{form(f, 'é')}/{k}.wav", b"1") for k, f in enumerate(("NFC", "NFD"))]
    folder.unpack([zip_of(tmp_path, *entries, ("b/0.wav", b"1"))], tmp_path / "workspace")
    assert [*folder.systems(tmp_path / "workspace")] == ["b", "é"]


@pytest.mark.parametrize("below", ["", "speaker/"])
@pytest.mark.parametrize("length", [251, 252])
def test_longest_names_are_read_or_told(tmp_path: Path, below: str, length: int) -> None:
    """255 bytes are a name of most disks: no password had to do with it, and it was no error of
    ours."""
    names = [f"{system}/{below}{'x' * length}.wav" for system in ("a", "b")]
    file = zip_of(tmp_path, *((name, b"1") for name in names))
    if below or length > 251:
        with pytest.raises(InputError, match="name is too long"):
            folder.unpack([file], tmp_path / "workspace")
    else:
        folder.unpack([file], tmp_path / "workspace")
        assert [*folder.systems(tmp_path / "workspace")] == ["a", "b"]


def test_flattened_names_lose_no_sound(tmp_path: Path) -> None:
    """What lies below a system's folder may be called as another sound beside it."""
    names = ["a/s/1.wav", "a/s-1.wav", "a/s--1.wav", "b/1.wav"]
    file = zip_of(tmp_path, *((name, name.encode()) for name in names))
    folder.unpack([file], tmp_path / "workspace")
    sounds = (tmp_path / "workspace" / "a").glob("*.wav")
    assert {sound.read_bytes().decode() for sound in sounds} == {*names[:3]}


def test_zip_with_test_yml_is_read(tmp_path: Path) -> None:
    """ultralytics/hub#89: test.yml for test.yaml."""
    test_folder = make_folder(tmp_path / "made", "mushra")
    with zipfile.ZipFile(tmp_path / "sent.zip", "w") as archive:
        for path in test_folder.rglob("*.*"):
            name = str(path.relative_to(test_folder)).replace("test.yaml", "test.yml")
            archive.write(path, f"pack/{name}")
    folder.unpack([tmp_path / "sent.zip"], tmp_path / "workspace")
    assert spec.load(tmp_path / "workspace").design.name == "mushra"


@pytest.mark.parametrize("name", ["a.aiff", "a.oga", "a.caf", "a.au", "a.w64"])
def test_zip_of_other_sounds_is_heard(tmp_path: Path, name: str) -> None:
    """ultralytics/hub#89: sounds of another kind; a system of them was left out."""
    noise(tmp_path / "b.wav", 1.0)
    kind = {".oga": "ogg"}.get(Path(name).suffix, name[2:])
    soundfile.write(tmp_path / name, 0.1 * np.sin(np.arange(RATE)), RATE, format=kind)
    with zipfile.ZipFile(tmp_path / "sent.zip", "w") as archive:
        archive.write(tmp_path / name, f"ours/{name}")
        archive.write(tmp_path / "b.wav", "theirs/a.wav")
    folder.unpack([tmp_path / "sent.zip"], tmp_path / "workspace")
    yaml = folder.describe(tmp_path / "workspace", Form("ab"))
    (tmp_path / "workspace" / "test.yaml").write_text(yaml)
    test = spec.load(tmp_path / "workspace")
    assert (len(test.systems), stimuli.check(test)) == (2, [])


def test_sound_that_no_test_has_is_named(tmp_path: Path) -> None:
    """Its system would be left out without a word, in a zip, in a folder and by itself."""
    sent = zipped(tmp_path / "sent.zip", more=("theirs/a.mid",))
    (tmp_path / "sounds" / "theirs").mkdir(parents=True)
    (loose := tmp_path / "sounds" / "theirs" / "a.mid").write_bytes(b"MThd")
    with pytest.raises(InputError, match=r"^theirs/a.mid cannot be in a test: sounds and videos"):
        folder.unpack([sent], tmp_path / "one")
    with pytest.raises(InputError, match=r"^theirs/a.mid cannot be in a test"):
        folder.gather(tmp_path / "sounds", tmp_path / "two")
    with pytest.raises(InputError, match=r"^a.mid cannot be in a test"):
        folder.unpack([loose], tmp_path / "three")


def test_zip_without_sounds_lists_its_files(tmp_path: Path) -> None:
    """ultralytics/hub#89: no word on what is in it."""
    sent = zipped(tmp_path / "sent.zip", more=("ours/a.xyz", "read.me"))
    with pytest.raises(InputError, match=r"but ours/a.xyz, read.me"):
        folder.unpack([sent], tmp_path / "workspace")


@pytest.fixture
def configs(tmp_path: Path) -> Path:
    for name, seconds in (("reference", 0.6), ("c1", 0.6), ("c2", 0.9)):
        noise(tmp_path / "sounds" / f"{name}.wav", seconds)
    (tmp_path / "configs").mkdir()
    return tmp_path / "configs" / "one.yaml"


def test_webmushra_colon_needs_no_quotes(configs: Path) -> None:
    """audiolabs/webMUSHRA#41: its own configurations, of which the parser takes more than YAML."""
    configs.write_text(MUSHRA.format(strict=""))
    assert spec.load(configs).title == "webMUSHRA"
    (ours := configs.with_name("ours.yaml")).write_text("title: Note: this\ndesign: ab\n")
    with pytest.raises(SpecError, match='line 1: put this text in quotes, for it holds ": "'):
        spec.load(ours)


def test_other_lengths_are_compared_on_request(configs: Path, tmp_path: Path) -> None:
    """audiolabs/webMUSHRA#127: strict: false."""
    configs.write_text(MUSHRA.format(strict=""))
    assert "lengths differ by 0.300 s" in stimuli.check(spec.load(configs))[0]
    configs.write_text(MUSHRA.format(strict="      strict: false\n"))
    assert stimuli.check(spec.load(configs)) == [] and not spec.load(configs).strict
    folder = make_folder(tmp_path / "mine", "mushra", strict=False)
    noise(folder / "ours" / "one.wav", 0.9)
    assert stimuli.check(spec.load(folder)) == []


@pytest.mark.parametrize("channels", [6, 8])
def test_loudness_leaves_low_frequencies_out(tmp_path: Path, channels: int) -> None:
    """audiolabs/webMUSHRA#62: sounds of 5.1 channels."""
    rng = np.random.default_rng(0)
    samples = 0.05 * rng.standard_normal((RATE, channels))
    five = stimuli.Stimulus(samples[:, [0, 1, 2, 4, 5]].astype(np.float32), RATE).level
    samples[:, 3] *= 8
    assert stimuli.Stimulus(samples.astype(np.float32), RATE).level == pytest.approx(five)
    folder = make_folder(tmp_path / "mine", loudness=-30)
    for path in folder.glob("*/*.wav"):
        noise(path, channels=channels)
    assert stimuli.check(spec.load(folder)) == []


def test_float_above_full_scale_is_level(tmp_path: Path) -> None:
    """audacity#5940: a 32-bit float is not clipped above 0 dBFS."""
    folder = make_folder(tmp_path / "mine", loudness=-30)
    tone = 1.6 * np.sin(2 * np.pi * 300 * np.arange(RATE) / RATE)
    soundfile.write(folder / "ours" / "one.wav", tone, RATE, "FLOAT")
    assert stimuli.check(spec.load(folder)) == []
    soundfile.write(folder / "ours" / "one.wav", np.clip(tone, -1.2, 1.2), RATE, "FLOAT")
    assert "It is clipped" in stimuli.check(spec.load(folder))[0]


def test_drafted_consent_is_still_unwritten(tmp_path: Path) -> None:
    """No test opens with its consent as it was drafted."""
    test_folder = make_folder(tmp_path / "mine")
    (test_folder / "test.yaml").write_text(folder.describe(test_folder, Form("ab")))
    assert spec.load(test_folder).unwritten == [UNWRITTEN]


def test_ended_server_leaves_one_file(tmp_path: Path) -> None:
    """sepinf-inc/IPED#21, oliexdev/openScale#1289: a copied SQLite file lacks what is in its
    -wal."""
    source = make_folder(tmp_path / "mine")
    with TestClient(app(library(source))) as client:
        Rater(client, "mine")
    assert not (tmp_path / "mine" / "answers.db-wal").exists()
    shutil.copyfile(source / "answers.db", tmp_path / "copy.db")
    assert Store(f"sqlite:///{tmp_path / 'copy.db'}").raters("mine") == 1


@pytest.mark.parametrize("suffix", [".wav", ".flac"])
def test_tags_change_no_sound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str) -> None:
    """OV2/RapidCRC-Unicode#186, dhowden/tag#94: a tag editor changes the bytes of a file whose
    sound is the same."""
    source = make_folder(tmp_path / "mine")
    for path in source.rglob("*.wav"):
        samples, rate = soundfile.read(path, dtype="int16")
        path.unlink()
        soundfile.write(path.with_suffix(suffix), samples, rate)
    yaml = (source / "test.yaml").read_text()
    (source / "test.yaml").write_text(yaml.replace(".wav", suffix))
    run(monkeypatch, "freeze", source)
    test, store = spec.load(source), Store(f"sqlite:///{source / 'answers.db'}")
    store.open(test)
    enrol(store, test)
    sound = next(iter(test.trials[0].sounds.values()))
    samples, rate = soundfile.read(sound, dtype="int16")

    def write(samples: np.ndarray) -> None:
        with soundfile.SoundFile(sound, "w", rate, samples[0].size) as file:
            file.title, file.comment = "Take 3", "chosen by Anna"
            file.write(samples)

    write(samples)
    run(monkeypatch, "check", source)
    assert preregistration.describe_changes(test).endswith("nothing was changed since.")
    write(samples[:-1])
    with pytest.raises(SystemExit, match=f"not those that raters have answered .*{sound.name}"):
        run(monkeypatch, "check", source)
    assert preregistration.describe_changes(test).endswith("changed since: sounds.")


def test_files_of_1970_are_packed(tmp_path: Path) -> None:
    """digitalandrew/wairz#14, python/cpython#78278: “ZIP does not support timestamps before 1980”,
    where images are built reproducibly."""
    source = make_folder(tmp_path / "mine")
    for path in source.rglob("*"):
        os.utime(path, (0, 0))
    folder.write_zip(source, tmp_path / "mine.zip")
    assert "test.yaml" in zipfile.ZipFile(tmp_path / "mine.zip").namelist()


def test_systems_of_the_same_sounds_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """By a slip of the pen two systems name one folder: raters would compare sounds with
    themselves."""
    source = make_folder(tmp_path / "mine", loudness=None)
    run(monkeypatch, "check", source)
    named = "ours and theirs have the same sounds" in capsys.readouterr().err
    sounds = [(source / name / "one.wav").read_bytes() for name in ("ours", "theirs")]
    assert named == (sounds[0] == sounds[1])
    for path in (source / "ours").iterdir():
        shutil.copyfile(path, source / "theirs" / path.name)
    run(monkeypatch, "check", source)
    assert "ours and theirs have the same sounds" in capsys.readouterr().err
