"""Nothing is destroyed: what is written where, and what stays when writing fails."""

import io
import os
import subprocess
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path

import av
import numpy as np
import pytest

from earshot.cli import convert as voice_conversion
from earshot.cli.files import (
    CLEAR,
    Job,
    Outcome,
    for_each,
    jobs_of,
    parser_of,
)
from earshot.core.console import explained
from earshot.core.errors import InputError
from earshot.core.files import replacing, write
from earshot.core.paths import ROOT
from earshot.media.audio.load import load
from earshot.media.encode import FORMATS, MADE_BY, encode_audio
from synthetic.videos import RATE, beep, onset
from tests.support.sounds import write_sound


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    write_sound(tmp_path / "a.wav", 1)
    return tmp_path / "a.wav"


def folder_of(recording: Path) -> str:
    return str(recording.parent)


def linked(recording: Path) -> str:
    (recording.parent / "linked").symlink_to(recording.parent)
    return str(recording.parent / "linked" / "a.wav")


def hard_linked(recording: Path) -> str:
    os.link(recording, recording.with_name("b.wav"))
    return str(recording.with_name("b.wav"))


@pytest.mark.parametrize("out", [str, folder_of, linked, hard_linked])
def test_result_replacing_its_recording_is_refused(
    recording: Path, out: Callable[[Path], str]
) -> None:
    """DeaDBeeF-Player/deadbeef#1147: the recording was replaced by its conversion."""
    with pytest.raises(InputError, match="is an input"):
        jobs_of([recording], out(recording), [".wav"], overwrite=True)


def test_results_beside_their_recordings_are_refused(recording: Path) -> None:
    """mp3splt/mp3splt#139: the same for a folder."""
    with pytest.raises(InputError, match="is an input"):
        jobs_of([recording.parent], str(recording.parent), [".wav"], overwrite=True)


def test_result_is_replaced_only_on_request(recording: Path) -> None:
    """mifi/lossless-cut#244: a result of before was lost."""
    out = recording.with_name("out.wav")
    out.touch()
    with pytest.raises(InputError, match="--overwrite"):
        jobs_of([recording], str(out), [".wav"])
    assert jobs_of([recording], str(out), [".wav"], overwrite=True)[0].out == out


def test_full_disk_leaves_earlier_result(tmp_path: Path) -> None:
    """tphakala/birda#324: a good file was cut to 8 kB, and half a new one was left."""
    good = tmp_path / "good.wav"
    write(good, b"good")
    for path in (good, tmp_path / "new.wav"):
        with pytest.raises(OSError, match="full"), replacing(path) as file:
            file.write(b"half")
            raise OSError("The disk is full.")
    assert [path.name for path in tmp_path.iterdir()] == ["good.wav"]
    assert good.read_bytes() == b"good"


def test_write_goes_through_link(tmp_path: Path) -> None:
    """It goes into what is no file, too."""
    (tmp_path / "real").touch(0o640)
    (tmp_path / "link").symlink_to("real")
    write(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real").read_bytes() == b"new"
    assert (tmp_path / "real").stat().st_mode & 0o777 == 0o640
    write(Path("/dev/null"), b"new")
    assert Path("/dev/null").is_char_device()


def test_folder_named_with_slash_is_one(recording: Path) -> None:
    """freedomofpress/dangerzone#768 and others: -o results/ wrote a file called results."""
    out = recording.parent / "results"
    assert jobs_of([recording], f"{out}/", [".wav"])[0].out == out / "a.wav"


@pytest.mark.parametrize("name", ["noext", "out.doc", "out.wav.bak"])
def test_name_without_format_is_refused(recording: Path, name: str) -> None:
    """RVC-Project/Retrieval-based-Voice-Conversion-WebUI#277: WAV was written as out.mp3."""
    with pytest.raises(InputError, match="end it in"):
        jobs_of([recording], str(recording.with_name(name)), voice_conversion.ENDINGS)


@pytest.mark.parametrize("ending", [*FORMATS, ".FLAC"])
def test_result_is_what_its_name_says(ending: str) -> None:
    """RVC-Project/Retrieval-based-Voice-Conversion-WebUI#277: encoded as named, in time."""
    waveform = beep().astype(np.float32)[::3]
    content = encode_audio(waveform, RATE // 3, ending)
    names = {".opus": "ogg", ".m4a": "mov"}
    with av.open(io.BytesIO(content)) as container:
        assert container.format.name.startswith(names.get(ending, ending[1:].lower()))
        assert MADE_BY in {**container.metadata, **container.streams[0].metadata}.values()
    again = load(content)
    assert again.seconds == pytest.approx(3.0, abs=0.001)
    assert onset(again.waveform, 16_000) == pytest.approx(1.0, abs=0.01)


@pytest.mark.slow
def test_ending_in_capitals_is_same_ending(tiny_checkpoints: Path, recording: Path) -> None:
    """PolyglotDB#150, bbc/audiowaveform#110: U.JSON held a WAV, and could not be read."""
    units, speech = recording.with_name("U.JSON"), recording.with_name("out.MP3")
    model = ["--model", str(tiny_checkpoints / "vqvae-64"), "--device", "cpu"]
    voice_conversion.main([str(recording), "-o", str(units), *model])
    assert units.read_text().startswith("{")
    voice_conversion.main([str(units), "-o", str(speech), *model])
    assert load(speech).seconds > 0.1


@pytest.mark.slow
def test_conversion_never_replaces_its_recording(tiny_checkpoints: Path, recording: Path) -> None:
    before = recording.read_bytes()
    model = ["--model", str(tiny_checkpoints / "vqvae-64"), "--device", "cpu"]
    for out in (recording, recording.parent):
        with pytest.raises(SystemExit, match="is an input"):
            voice_conversion.main([str(recording), "-o", str(out), *model])
    assert recording.read_bytes() == before


def test_undecodable_name_does_not_end_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """rsnitsch/py3createtorrent#33: UnicodeEncodeError, and the rest was not done."""
    for name in (b"caf\xe9.wav", b"z.wav"):
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).touch()
    stdout, stderr = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
    monkeypatch.setattr(sys, "stdout", stdout)
    monkeypatch.setattr(sys, "stderr", stderr)

    def work(job: Job) -> Outcome:
        return str(job.name), ("Said.",)

    with explained():
        for_each(jobs_of([tmp_path]), work)
    stdout.flush()
    stderr.flush()
    assert stdout.buffer.getvalue() == b"caf\xe9.wav\nz.wav\n"
    assert b"caf\xe9.wav: Said." in stderr.buffer.getvalue()


def test_missing_file_is_named(recording: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """cellxgene#1184: a traceback for a name that was mistyped. The others are read."""
    with pytest.raises(SystemExit):
        for_each(jobs_of([recording.with_name("nope.wav"), recording]), lambda job: (job.name, ()))
    output = capsys.readouterr()
    assert output.out == "a.wav\n" and "nope.wav: There is no such file." in output.err


def test_names_below_folder_tell_files_apart(tmp_path: Path) -> None:
    """MontrealForcedAligner#491: yes/0.wav and no/0.wav were both 0.wav."""
    for name in ("yes", "no"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "0.wav").touch()
    assert [job.name for job in jobs_of([tmp_path])] == ["no/0.wav", "yes/0.wav"]
    both = jobs_of([tmp_path / "yes", tmp_path / "no"])
    assert [job.name for job in both] == [str(tmp_path / n / "0.wav") for n in ("yes", "no")]


@pytest.mark.parametrize("kind", ["-", "fifo", "/dev/stdin"])
def test_pipe_is_read_as_a_file(
    kind: str, recording: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """m-bain/whisperX#403, alphacep/vosk-api#2061: 110 s, then “damaged”."""
    content = recording.read_bytes()
    if kind == "fifo":
        source = recording.with_name("fifo")
        os.mkfifo(source)
        if not (child := os.fork()):
            source.write_bytes(content)
            os._exit(0)
    else:
        source, child = Path(kind), 0
        out, into = os.pipe()
        os.write(into, content[:60_000])
        os.close(into)
        held = os.dup(0)
        os.dup2(out, 0)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(os.fdopen(out, "rb")))
    try:
        for_each(jobs_of([source]), lambda job: (f"{load(job.path).seconds:.1f}", ()))
    finally:
        if child:
            os.waitpid(child, 0)
        else:
            os.dup2(held, 0)  # pyrefly: ignore[unbound-name]
    assert float(capsys.readouterr().out) > 0.4


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_either_normal_form_finds_name(tmp_path: Path, form: str) -> None:
    """cryptomator/cryptomator#264: “missing”, for a file that macOS had named."""
    names = [unicodedata.normalize(each, "für/é.wav") for each in ("NFC", "NFD")]
    stored, typed = names if form == "NFC" else names[::-1]
    (tmp_path / stored).parent.mkdir()
    (tmp_path / stored).touch()
    assert [job.file for job in jobs_of([tmp_path / typed])] == [tmp_path / stored]


def test_reader_that_stops_is_no_error(recording: Path) -> None:
    """Backblaze/B2_Command_Line_Tool#1071: a traceback where the output went to head."""
    script = (
        "from pathlib import Path\n"
        "from earshot.cli.files import for_each, jobs_of\n"
        "from earshot.core.console import explained\n"
        "with explained():\n"
        f"    jobs = jobs_of([Path({str(recording)!r})] * 3)\n"
        "    for_each(jobs, lambda job: ('x' * 90_000, ()))\n"
    )
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, cwd=ROOT, stdout=-1, stderr=-1, text=True) as run:
        assert run.stdout and run.stderr
        run.stdout.read(4)
        run.stdout.close()
        errors = run.stderr.read()
    assert (run.returncode, "BrokenPipe" in errors) == (0, False), errors


def test_name_beginning_with_dash_is_name(recording: Path) -> None:
    """jiaaro/pydub#457, marl/pysox#149: -a.wav was taken for an option."""
    dashed = recording.rename(recording.with_name("-a.wav"))
    options = parser_of("words", "recordings", None).parse_args(["--", str(dashed)])
    [job] = jobs_of(options.inputs, f"{recording.parent}/out/", [".wav"])
    assert (job.name, job.out) == ("-a.wav", recording.parent / "out" / "-a.wav")


def test_analysis_does_not_replace_its_ratings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DeaDBeeF-Player/deadbeef#1147: systems.csv in, systems.csv out."""
    from earshot.study import __main__ as study  # loads pandas

    file = tmp_path / "systems.csv"
    file.write_text("session_test_id,trial_id,rating_stimulus,rating_score,rating_time\n")
    monkeypatch.setattr(sys, "argv", ["study", "import", str(file), "--out", str(tmp_path)])
    with pytest.raises(SystemExit, match="results could replace"):
        study.main()
    monkeypatch.setattr(sys, "argv", ["study", "compare", "a", "b", "--out", "a/test.yaml"])
    with pytest.raises(SystemExit, match="end it in .html"):
        study.main()


def test_name_gives_the_terminal_no_orders(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """martinus/oans#202, sharkdp/bat PR#3691: a name may hold what clears a terminal."""
    names = ["\x1b[2Jclear", "first\nsecond", "\x1b]0;title\x07"]
    for name in names:
        (tmp_path / name).write_text("no sound")

    def refuse(_: Job) -> Outcome:
        raise InputError("This is none.")

    with pytest.raises(SystemExit):
        for_each(jobs_of([tmp_path]), refuse)
    err = capsys.readouterr().err.replace(CLEAR, "")
    assert err.count("This is none.") == 3 and "\x1b" not in err and "\x07" not in err
    assert r"first\nsecond: This is none." in err


def test_name_as_long_as_a_disk_takes_is_told(tmp_path: Path) -> None:
    """A result whose ending is longer than the recording's: one file's failure, in a sentence."""
    long = tmp_path / f"{'x' * 252}.au"
    long.write_bytes(b"")
    (job,) = jobs_of([long], f"{tmp_path}/out/", [".wav"])
    assert job.out and len(job.out.name) == 256
