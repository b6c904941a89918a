"""The command line's options."""

import argparse
from collections.abc import Mapping, Sequence
from typing import Final

from earshot.app import cores
from earshot.core.connections import network
from earshot.core.console import typed_path
from earshot.sound_index import BACKENDS

ON = ("1", "true", "yes", "on")
OFF = ("", "0", "false", "no", "off")
ABOUT = "Earshot: speech systems to hear, take apart and test."
DELETE_AFTER: Final = 3600  # seconds within which a visitor's files are deleted, as the footer says
KIOSK_DELETE_AFTER: Final = 600
TRANSCRIPT_CORES: Final = 2  # or a conversion would wait for the words of the one before
UNITS: Final = {"s": 1, "m": 60, "h": 3600}


def options(arguments: Sequence[str], environment: Mapping[str, str]) -> argparse.Namespace:
    """Read the command line's options; EARSHOT_HOST and so on in the environment stand in for
    them."""
    parser = argparse.ArgumentParser(prog="earshot", description=ABOUT)
    parser.add_argument("--host", help="address to listen on (default: this machine only)")
    parser.add_argument("--port", type=int, help="port to listen on (default: 7860 or the next)")
    parser.add_argument(
        "--https",
        action="store_true",
        help="serve over HTTPS, as microphones of other machines need it, with a certificate of "
        "this machine's own",
    )
    parser.add_argument("--device", choices=["auto", "cpu", "cuda"], default="auto")
    parser.add_argument(
        "--pipelines",
        type=typed_path,
        metavar="FOLDER",
        help="files of systems of one's own, to be offered with ours",
    )
    parser.add_argument(
        "--sound-model",
        nargs="+",
        metavar="NAME_OR_FOLDER",
        help="what searches sounds: a CLAP model, or checkpoints of ours, together",
    )
    parser.add_argument(
        "--sounds",
        metavar="FOLDER",
        help="searches these sounds, or those of s3://BUCKET/PREFIX: "
        "python -m earshot sounds watch FOLDER indexes them",
    )
    parser.add_argument(
        "--index-backend",
        choices=BACKENDS,
        help="searches them in memory, or from the disk (default: as their index was made)",
    )
    parser.add_argument("--share", action="store_true", help="make a public link by gradio.live")
    parser.add_argument("--max-queue", type=int, default=20, help="visitors that may wait")
    parser.add_argument("--preload", action="store_true", help="load every model before serving")
    parser.add_argument(
        "--live", type=int, default=cores(), help="live conversions at once (default: one a core)"
    )
    parser.add_argument("--studies", default="studies", help="folder of listening tests")
    parser.add_argument(
        "--studies-key",
        help="lets only visitors who type it open tests (default: anybody, but on a Space nobody)",
    )
    parser.add_argument("--database", help="URL for their answers (default: a file in the folder)")
    parser.add_argument("--no-publish", action="store_true", help="visitors cannot open tests")
    parser.add_argument(
        "--no-hub", action="store_true", help="visitors cannot load models of the Hugging Face hub"
    )
    parser.add_argument(
        "--proxy",
        nargs="+",
        default=[],
        type=network,
        metavar="ADDRESS",
        help="believe these addresses, or networks, about whom they forward (X-Forwarded-For)",
    )
    parser.add_argument(
        "--kiosk", action="store_true", help="for a booth: large type, begins anew when left alone"
    )
    parser.add_argument(
        "--allow-urls", action="store_true", help="programs may name files by http addresses"
    )
    parser.add_argument(
        "--allow-reference",
        action="store_true",
        help="visitors may speak in anybody's voice, of a recording that they upload once they "
        "have said that its speaker agrees (default: only in their own, once they have read a "
        "text)",
    )
    parser.add_argument(
        "--transcripts",
        nargs="?",
        const="",
        metavar="NAME_OR_FOLDER",
        help="shows the words that a recogniser finds in speech and conversion: the installed one, "
        f"or a Moonshine of the hub (default: the installed one, with {TRANSCRIPT_CORES} cores)",
    )
    parser.add_argument(
        "--no-transcripts",
        dest="transcripts",
        action="store_const",
        const=None,
        help="shows no words under a conversion",
    )
    if cores() >= TRANSCRIPT_CORES:
        parser.set_defaults(transcripts="")
    parser.add_argument(
        "--judges",
        action="store_true",
        help="measures conversions side by side: words kept, and similarity and DNSMOS where "
        "resemblyzer and speechmos are installed",
    )
    parser.add_argument(
        "--delete-after",
        type=duration,
        metavar="TIME",
        help="deletes visitors' files within this time, such as 10m (default: 1h, in a booth 10m)",
    )
    # Read from the environment where they are used, for every process of ours needs them.
    parser.add_argument(
        "--signing-key",
        metavar="FILE",
        help="signs what is converted, an ES256 key in PEM (default: one made at the first start)",
    )
    parser.add_argument(
        "--signing-chain", metavar="FILE", help="certificates of that key, its own first, in PEM"
    )
    parser.add_argument(
        "--no-mark", action="store_true", help="leaves the mark out of the sound of what is made"
    )
    preset: list[str] = []
    several = "sound-model", "proxy"
    plain = (
        "host port device pipelines sound-model sounds index-backend max-queue live studies "
        "studies-key database proxy delete-after".split()
    )
    for name in plain:
        if value := environment.get("EARSHOT_" + name.upper().replace("-", "_")):
            preset += [f"--{name}", *(value.split() if name in several else [value])]
    for name in (
        "https",
        "share",
        "preload",
        "no-publish",
        "no-hub",
        "allow-urls",
        "allow-reference",
        "kiosk",
        "judges",
        "no-mark",
    ):
        variable = "EARSHOT_" + name.upper().replace("-", "_")
        if environment.get(variable, "").lower() in ON:
            preset.append(f"--{name}")
    recogniser = environment.get("EARSHOT_TRANSCRIPTS", "")
    if recogniser.lower() not in OFF:
        preset += ["--transcripts", "" if recogniser.lower() in ON else recogniser]
    elif recogniser:
        preset.append("--no-transcripts")
    chosen = parser.parse_args([*preset, *arguments])
    # In a booth, soon after a visitor has left, and not while they still listen to a result.
    chosen.delete_after = chosen.delete_after or (
        KIOSK_DELETE_AFTER if chosen.kiosk else DELETE_AFTER
    )
    return chosen


def duration(text: str) -> int:
    """Parse a time such as 90s, 10m or 1h into seconds."""
    number, unit = text[:-1], text[-1:]
    if unit not in UNITS or not number.isdecimal() or not int(number):
        raise argparse.ArgumentTypeError(f"{text} is no time, such as 90s, 10m or 1h")
    seconds = int(number) * UNITS[unit]
    if seconds > DELETE_AFTER:
        raise argparse.ArgumentTypeError("the page promises that files are deleted within 1h")
    return seconds
