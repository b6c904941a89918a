"""The command line: what is read, what is written, and what is reported."""

import csv
import json
import wave
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from earshot.__main__ import COMMANDS
from earshot.cli import convert as voice_conversion
from earshot.cli import lips as lip_to_speech
from earshot.cli import sounds as sound_search
from earshot.cli import words
from earshot.cli.files import Job, Outcome, for_each, jobs_of
from earshot.core.errors import InputError
from earshot.core.paths import ASSETS
from earshot.media.audio.load import load, wav_bytes
from earshot.pretrained.recogniser import A_GUESS
from earshot.systems.sound_search import SoundSearch
from tests.support.sounds import samples_of, write_library, write_sound

pytestmark = pytest.mark.slow

SPEECH = ASSETS / "voices" / "S1.ogg"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two files, one of them in a subfolder, and a hidden one."""
    for name in ("in/b.wav", "in/deep/a.wav", "in/.hidden/c.wav"):
        write_sound(tmp_path / name, 1)
    return tmp_path / "in"


def seconds(path: Path) -> float:
    with wave.open(str(path)) as file:
        return file.getnframes() / file.getframerate()


def paths(jobs: list[Job]) -> dict[Path, Path | None]:
    return {job.file: job.out for job in jobs}


def test_jobs_leave_out_hidden_files(folder: Path) -> None:
    jobs = jobs_of([folder, SPEECH])
    assert [job.file for job in jobs] == [folder / "b.wav", folder / "deep" / "a.wav", SPEECH]
    assert [job.name for job in jobs] == ["b.wav", "deep/a.wav", SPEECH.name]


def test_jobs_of_empty_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no file"):
        jobs_of([tmp_path])


def test_results_of_folder_have_its_subfolders(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert paths(jobs_of([folder], str(out), [".json"])) == {
        folder / "b.wav": out / "b.json",
        folder / "deep" / "a.wav": out / "deep" / "a.json",
    }
    assert paths(jobs_of([SPEECH], f"{tmp_path}/out.wav", [".wav"])) == {
        SPEECH: tmp_path / "out.wav"
    }


def test_results_of_same_name_are_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="rename"):
        jobs_of([folder / "b.wav", folder / "deep" / "b.flac"], str(tmp_path), [".wav"])


def test_for_each_goes_on_after_failure(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It reports at the end how many files could not be used."""

    def work(job: Job) -> Outcome:
        if job.name == "b.wav":
            raise InputError("It is silent.", "Record it again.")
        return f"did {job.name}", ("It is quiet.",)

    with pytest.raises(SystemExit, match="1 of 2"):
        for_each(jobs_of([folder]), work)
    output = capsys.readouterr()
    assert output.out == "did deep/a.wav\n"
    assert "b.wav: It is silent.\n" in output.err
    assert "a.wav: It is quiet.\n" in output.err


def test_file_and_its_units_convert_alike(tiny_checkpoints: Path, tmp_path: Path) -> None:
    """The voice has the page's name, too."""

    def run(source: Path, out: str, voice: str = "SM1") -> None:
        model = str(tiny_checkpoints / "vqvae-64")
        options = ["--to", voice, "--model", model, "--device", "cpu"]
        voice_conversion.main([str(source), "-o", str(tmp_path / out), *options])

    run(SPEECH, "out.wav")
    run(SPEECH, "units.json")
    run(tmp_path / "units.json", "again.wav", "Simon")
    assert samples_of(tmp_path / "again.wav") == samples_of(tmp_path / "out.wav")
    assert seconds(tmp_path / "out.wav") == pytest.approx(3.34, abs=0.1)


def test_voice_conversion_refuses_false_units_file(
    tiny_checkpoints: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message of a command speaks of no page."""
    (tmp_path / "units.json").write_text("{}")
    model = ["--model", str(tiny_checkpoints / "vqvae-64"), "--device", "cpu"]
    with pytest.raises(SystemExit):
        voice_conversion.main([str(tmp_path / "units.json"), "-o", str(tmp_path / "o.wav"), *model])
    assert capsys.readouterr().err.endswith("units.json: This is not a units file.\n")


def test_voice_conversion_takes_voice_of_clip(
    tiny_checkpoints: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It prints transcripts, and says of another language that they are guesses; a model of fixed
    voices takes no clip."""
    again = np.tile(load(SPEECH, 16_000).waveform, 4)
    clip, model = tmp_path / "clip.wav", ["--device", "cpu", "--model"]
    clip.write_bytes(wav_bytes(again, 16_000))
    options = ["--reference", str(clip), *model, str(tiny_checkpoints / "any-voice")]
    mandarin = ASSETS / "words" / "zhong1_guo2-espeak-woman.ogg"
    inputs, out = [str(SPEECH), str(mandarin)], tmp_path / "out"
    voice_conversion.main([*inputs, "-o", str(out), "--transcripts", *options])
    printed = capsys.readouterr()
    name, units, source, _ = printed.out.splitlines()[0].split("\t")
    assert (name, units) == (str(out / f"{SPEECH.stem}.wav"), "167 units")
    assert "keeper of the old" in source
    assert f"{mandarin}: {A_GUESS}" in printed.err
    assert f"{SPEECH}: " not in printed.err
    options[-1] = str(tiny_checkpoints / "vqvae-64")
    with pytest.raises(SystemExit, match="SF1, TF2, SM1, TM3, S1 only"):
        voice_conversion.main([str(SPEECH), "-o", str(tmp_path / "o.wav"), *options])


def test_voice_conversion_names_unusable_clip(tiny_checkpoints: Path, tmp_path: Path) -> None:
    def refusal(clip: Path) -> str:
        with pytest.raises(SystemExit) as refused:
            voice_conversion.main([*arguments, "--reference", str(clip)])
        return str(refused.value)

    model = str(tiny_checkpoints / "any-voice")
    arguments = [str(SPEECH), "-o", str(tmp_path / "o.wav"), "--model", model, "--device", "cpu"]
    assert refusal(SPEECH).startswith(f"{SPEECH}: The recording is too short")
    assert refusal(tmp_path / "no.wav") == f"{tmp_path / 'no.wav'}: There is no such file."


def test_voice_conversion_refuses_missing_model(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="neither a checkpoint folder nor a hub id|no checkpoint"):
        voice_conversion.main([str(SPEECH), "-o", str(tmp_path / "o.wav"), "--model", "nowhere"])


def test_words_names_spoken_word(capsys: pytest.CaptureFixture[str]) -> None:
    bird = ASSETS / "words" / "bird-awb.ogg"
    words.main([str(bird), "-n", "3", "--device", "cpu"])
    name, neighbours = capsys.readouterr().out.strip().split("\t")
    assert name == str(bird)
    assert neighbours.startswith("bird 0.")
    assert neighbours.count(",") == 2


def test_words_table_has_row_per_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that failed has its error in its row."""
    notes = tmp_path / "notes.txt"
    notes.write_text("no sound")
    bird = ASSETS / "words" / "bird-awb.ogg"
    with pytest.raises(SystemExit, match="1 of 2"):
        words.main([str(bird), str(notes), "--csv", "-n", "1", "--device", "cpu"])
    good, bad = csv.DictReader(capsys.readouterr().out.splitlines())
    assert (good["file"], good["word_1"], good["error"]) == (bird.name, "bird", "")
    vector = [float(number) for name, number in good.items() if name[0] == "v"]
    assert sum(number**2 for number in vector) == pytest.approx(1, abs=1e-3)
    assert bad["file"] == "notes.txt" and bad["error"] and not bad["v0"]


def test_sound_search_finds_sound_itself(
    tiny_checkpoints: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The folder was indexed before, in memory and on the disk."""
    model = ["--sound-model", str(tiny_checkpoints / "sound-cnn"), "--device", "cpu"]
    write_library(tmp_path, SoundSearch.from_pretrained(model[1], "cpu"))
    sounds = tmp_path / "sounds"
    like = ["--like", str(sounds / "bell.wav"), "--index", f"{sounds}.index"]
    for backend in ("memory", "disk"):
        sound_search.main(["index", str(sounds), "--index-backend", backend, *model])
        assert "0 added, 12 unchanged" in capsys.readouterr().out
        assert bool(list(sounds.with_name("sounds.index").glob("*.sqlite"))) == (backend == "disk")
        sound_search.main(["search", *like, "-n", "2", "--json", *model])
        hits = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert [Path(hit["file"]).name for hit in hits][0] == "bell.wav"
        assert len(hits) == 2
    with pytest.raises(SystemExit, match="Type what you would like to hear"):
        sound_search.main(["search", "--index", f"{sounds}.index", *model])


def test_lip_to_speech_prints_and_writes(
    tiny_checkpoints: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It prints the words and writes the speech, in another voice too."""
    video, out = ASSETS / "heads" / "ada.mp4", tmp_path / "new" / "out.wav"
    model = str(tiny_checkpoints / "lip-to-speech")
    lip_to_speech.main([str(video), "-o", str(out), "--model", model, "--json", "--device", "cpu"])
    reading = json.loads(capsys.readouterr().out)
    assert reading["sentence"].split() == [word["text"] for word in reading["words"]]
    assert seconds(out) == pytest.approx(3.0, abs=0.5)
    other = out.with_name("other.wav")
    lip_to_speech.main([str(video), "-o", str(other), "--model", model, "--voice", "tessa"])
    assert samples_of(other) != samples_of(out)
    with pytest.raises(SystemExit, match="no voice Nobody"):
        other = other.with_name("nobody.wav")
        lip_to_speech.main([str(video), "-o", str(other), "--model", model, "--voice", "Nobody"])


@pytest.mark.parametrize(
    "arguments",
    [
        ["sounds", "search", "--like", "no.wav"],
        ["sounds", "search", "dog", "--index", "no.wav"],
        ["words", "find", "--index", "index", "--said", "no.wav"],
    ],
)
def test_missing_file_of_option_is_named(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    command, *rest = arguments
    with pytest.raises(SystemExit, match="2"):
        import_module(COMMANDS[command]).main(rest)
    printed = " ".join(capsys.readouterr().err.split())
    assert printed.endswith("no.wav: There is no such file or folder.")


@pytest.mark.parametrize(
    "arguments",
    [
        ["convert", ""],
        ["convert", "a.wav", "-o", ""],
        ["convert", "a.wav", "--reference", ""],
        ["lips", ""],
        ["detect", ""],
        ["words", "index", "", "-o", "index"],
        ["words", "check", "hello", ""],
        ["sounds", "search", "dog", "--index", ""],
        ["study", "new", "--from", ""],
        ["study", "check", ""],
        ["study", "serve", ""],
        ["study", "export", "a", "--out", ""],
        ["study", "reproduce", "a.zip", "--out", ""],
    ],
)
def test_empty_name_is_not_the_current_folder(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    command, *rest = arguments
    with pytest.raises(SystemExit, match="2"):
        import_module(COMMANDS[command]).main(rest)
    assert "a name is empty" in capsys.readouterr().err
