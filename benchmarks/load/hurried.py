"""hurried.py OPTIONS: the app, which deletes visitors' files after a minute, not an hour."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from earshot.app import launch, site

if __name__ == "__main__":
    site.DELETE = (5, 60)  # type: ignore[misc]
    launch.main()
