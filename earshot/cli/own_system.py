"""Begin a file of a system of one's own, and check one.

earshot new-system voice_conversion my_vc.py
earshot check-system my_vc.py

The file is Python, with comments, and runs at once. Put it into pipelines/, or name its folder to
the app: earshot --pipelines FOLDER. check-system runs it on three of the inputs that Earshot has,
and says what is wrong, with the line.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from shlex import quote
from typing import Any, Final

from earshot.core.console import explained, typed_path
from earshot.core.errors import InputError
from earshot.core.paths import ASSETS, CHECKPOINTS, PIPELINES
from earshot.systems.plug_in import PlugIn
from earshot.systems.registry import NAME, TASKS, System, load_board

N_INPUTS: Final = 3  # of the inputs that a system is checked on
VOICE: Final = "TF2"  # whose sample a voice is made of
MAX_LIP_SECONDS: Final = 30.0


def new(arguments: Sequence[str] | None = None) -> None:
    """Write the file that the command line names."""
    parser = _parser("earshot new-system")
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("file", type=typed_path, metavar="FILE.py")
    options = parser.parse_args(arguments)
    with explained():
        file: Path = options.file
        name = file.stem.replace("_", "-")
        if file.suffix != ".py" or not NAME.fullmatch(name):
            raise InputError(f"{file} cannot hold a system: call it like my_system.py.")
        if not file.parent.is_dir():
            raise InputError(f"There is no folder {file.parent}.")
        template = PIPELINES / "templates" / f"{options.task}.py"
        text = template.read_text("utf-8").replace("NAME", name).replace("LABEL", _label(name))
        try:
            with file.open("x", encoding="utf-8") as new_file:
                new_file.write(text)
        except FileExistsError:
            raise InputError(f"{file} is there already. Choose another name.") from None
        print(f"{file} holds a system that runs: earshot check-system {quote(str(file))}")


def check(arguments: Sequence[str] | None = None) -> None:
    """Run the systems of the file that the command line names, and print what they return."""
    parser = _parser("earshot check-system")
    parser.add_argument("file", type=typed_path, metavar="FILE.py")
    parser.add_argument("--device", choices=["auto", "cpu", "cuda"], default="auto")
    options = parser.parse_args(arguments)
    with explained():
        file = options.file.resolve()
        if not file.is_file():
            raise InputError(f"There is no file {options.file}.")
        every = load_board(PIPELINES, file)
        if faults := [fault for fault in every.faults if fault.startswith(file.name)]:
            raise InputError(" ".join(faults))
        systems = [system for system in every.systems if system.file == file]
        if not systems:
            raise InputError(f"{options.file} registers no system: decorate one with @system.")
        failures = sum(_check_one(system, options.device) for system in systems)
        if failures:
            sys.exit(f"{failures} of the checks failed.")
        print("It can be used: put the file into pipelines/, or name its folder by --pipelines.")


def _parser(program: str) -> argparse.ArgumentParser:
    return argparse.ArgumentParser(
        prog=program,
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def _label(name: str) -> str:
    return name.replace("-", " ").capitalize()


def _check_one(system: System, device: str) -> int:
    """Run a system on N_INPUTS inputs, and print a line for each; how many failed."""
    print(f"{system.name}, for {system.task}:")
    failures = 0
    try:
        if not system.is_plug_in:
            raise InputError(
                "It names a checkpoint of Earshot's own kind, which is not checked here."
            )
        plug_in = system.plug_in(CHECKPOINTS, device)
        loaded = system.load(CHECKPOINTS, device, plug_in)
        names = plug_in.attribute("inputs", ()) if plug_in.has("result_for") else ()
    except InputError as error:
        print(f"  {error}")
        return 1
    results = _results(system.task, plug_in, names)
    for title, run in results if names else CHECKS[system.task](loaded):
        try:
            line = run()
        except InputError as error:
            line, failures = str(error), failures + 1
        print(f"  {title}: {line}")
    return failures


def _results(
    task: str, plug_in: PlugIn, names: Sequence[str]
) -> Iterator[tuple[str, Callable[[], str]]]:
    """Read results that were made before, of the first inputs that there are some for."""
    from earshot.systems.plugged import PluggedEmbedder, PluggedSpeech, checked_speech  # late, too

    def line(name: str) -> str:
        result = plug_in.call("result_for", name, "")
        if task in ("words", "sound_search"):
            return _vector_line(PluggedEmbedder(name, plug_in).vector(result))
        speech, notices = checked_speech(plug_in.label, result, None, 0.0)
        return _speech_line(PluggedSpeech(speech, "", None, notices))

    for name in names[:N_INPUTS]:
        yield name, lambda name=name: line(name)


def _conversions(system: Any) -> Iterator[tuple[str, Callable[[], str]]]:
    sample = ASSETS / "voices" / f"{VOICE}.ogg"
    voice = system.voices[0] if system.voices else VOICE
    own_sample = None if system.voices else sample
    for file in _inputs("examples", "[!f]*.ogg"):
        yield file.stem, lambda file=file: _speech_line(system(file, voice, own_sample, file.stem))
    if system.any_voice and system.voices:
        file = _inputs("examples", "[!f]*.ogg")[0]
        yield "in the voice of a recording", lambda: _speech_line(system(file, "", sample))


def _speech_line(spoken: Any) -> str:
    speech = spoken.speech
    seconds = len(speech.waveform) / speech.sample_rate
    parts = [f"{seconds:.1f} s at {speech.sample_rate} Hz", f"in {speech.compute_seconds:.1f} s"]
    parts += [f"as {spoken.voice}"] if spoken.voice else []
    parts += [f"{len(spoken.units[0])} units"] if spoken.units else []
    return ", ".join(parts) + "".join(f"\n    {notice}" for notice in spoken.notices)


def _words(system: Any) -> Iterator[tuple[str, Callable[[], str]]]:
    from earshot.media.audio.load import load  # late, for it loads SciPy

    waveforms = {file.stem: load(file).waveform for file in _inputs("words", "*.ogg")}
    for name, waveform in waveforms.items():
        yield name, lambda waveform=waveform: _vector_line(system.encode(waveform))
    if not system.has_vectors:
        yield "distances", lambda: _distance_line(system, list(waveforms.values()))
    if system.has_text:
        yield "“rain”", lambda: _vector_line(system.embed_text("rain"))


def _distance_line(system: Any, waveforms: Sequence[Any]) -> str:
    words = [system.encode(waveform) for waveform in waveforms]
    return ", ".join(f"{distance:.3g}" for distance in system.distances(words[0], words))


def _sounds(search: Any) -> Iterator[tuple[str, Callable[[], str]]]:
    for file in _inputs("sounds", "*.ogg"):
        yield file.stem, lambda file=file: _vector_line(search.query(like=file))
    yield "“rain on a roof”", lambda: _vector_line(search.query("rain on a roof"))


def _vector_line(vector: Any) -> str:
    return f"{' × '.join(map(str, getattr(vector, 'shape', ['an encoding'])))} numbers"


def _lips(system: Any) -> Iterator[tuple[str, Callable[[], str]]]:
    from earshot.media.video import frames  # late, for it loads FFmpeg

    def line(file: Path) -> str:
        spoken, text, confidence = system.of(frames(file, MAX_LIP_SECONDS))
        return _speech_line(spoken) + (f", “{text}” ({confidence:.0%})" if text else "")

    for file in _inputs("heads", "*.mp4"):
        yield file.stem, lambda file=file: line(file)


def _inputs(folder: str, pattern: str) -> list[Path]:
    return sorted((ASSETS / folder).glob(pattern))[:N_INPUTS]


CHECKS: Final = {
    "voice_conversion": _conversions,
    "words": _words,
    "sound_search": _sounds,
    "lip_to_speech": _lips,
}
