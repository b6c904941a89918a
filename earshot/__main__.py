"""The command ``earshot``: the app, or one of its systems for files and folders.

earshot                 serves the app (earshot --help)
earshot convert         speech to another voice
earshot live            the same while you speak, from device to device
earshot words           the words that sound like a recording
earshot sounds          searches a folder of sounds
earshot lips            reads the lips of videos
earshot study           listening tests
earshot compare         systems on a folder: results, measures, a listening test
earshot detect          whether files were made here
earshot page            a page of samples for a paper
earshot new-system      begins a file of a system of one's own
earshot check-system    runs such a file, and says what is wrong
earshot doctor          what this machine has of what is needed, and what to do about the rest
"""

import os
import sys
from importlib import import_module
from typing import Final

from earshot.core.console import open_streams

COMMANDS: Final = {
    "convert": "earshot.cli.convert",
    "live": "earshot.cli.live",
    "words": "earshot.cli.words",
    "sounds": "earshot.cli.sounds",
    "lips": "earshot.cli.lips",
    "study": "earshot.study.__main__",
    "compare": "earshot.cli.compare",
    "detect": "earshot.cli.detect",
    "page": "earshot.cli.page",
    "new-system": "earshot.cli.own_system:new",
    "check-system": "earshot.cli.own_system:check",
    "doctor": "earshot.cli.doctor",
}


def main() -> None:
    """Run the command that the first argument names; without one, serve the app."""
    open_streams()
    command, *arguments = sys.argv[1:] or [""]
    if command in COMMANDS:
        # Loading takes a second: its bars would stand among what a command says.
        os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
        module, _, function = COMMANDS[command].partition(":")
        getattr(import_module(module), function or "main")(arguments)
        return
    if command and not command.startswith("-"):
        sys.exit(f"There is no command {command}, only {', '.join(COMMANDS)}.")
    if command in ("-h", "--help"):
        print(__doc__)
    from earshot import app  # late, for a command needs no Gradio

    app.main()


if __name__ == "__main__":
    main()
