"""shifted_clock.py FILE OPTIONS: the app with a clock that is wrong by the days that FILE holds."""

import sys
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from typing import Self

sys.path.insert(0, str(Path(__file__).parents[2]))

from earshot.study import publishing
from earshot.study.storage import tables

FILE = Path(sys.argv.pop(1))


class Shifted(datetime):
    """A clock that tells the wrong time of day."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Self:
        return super().now(tz) + timedelta(days=int(FILE.read_text() or 0))


if __name__ == "__main__":
    for module in (tables, publishing):
        vars(module)["datetime"] = Shifted
    from earshot.app import launch

    launch.main()
