"""other_files.py CHECKPOINTS INDEX OPTIONS: the app with other checkpoints and another index."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from earshot.app import launch, site
from earshot.tabs.shared.services import Services
from earshot.tabs.shared.sessions import temporary_folder

if __name__ == "__main__":
    checkpoints, index, *arguments = sys.argv[1:]
    with temporary_folder():
        page = site.build(Services(device="cpu"), Path(checkpoints), index=Path(index))
        launch.launch(page, launch.options(arguments, os.environ))
