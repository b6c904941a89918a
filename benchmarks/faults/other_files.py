"""other_files.py CHECKPOINTS INDEX OPTIONS: the app with other checkpoints and another index."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import app
from tabs.shared.temporary import temporary_folder

if __name__ == "__main__":
    checkpoints, index, *arguments = sys.argv[1:]
    with temporary_folder():
        page = app.build("cpu", Path(checkpoints), index=Path(index))
        app.launch(page, app.options(arguments, os.environ))
