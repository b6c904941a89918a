"""List the scripts and styles of Gradio's frontend that the page asks for, in their order.

Run as `python -m scripts.list_frontend` when Gradio or the page's components change; needs Debian's
Chromium. The page asks the browser for the first ones at once, in place of one after the other, and
for those of other tabs when a pointer is over the tabs.
"""

from pathlib import Path
from typing import Final

from benchmarks.start import page_of
from benchmarks.support.served import Served
from earshot.app import front_page

SECONDS: Final = 15  # until everything has come
TAB_SECONDS: Final = 4
FOLDER: Final = Path(front_page.__file__).parent


def main() -> None:
    for name in ("first_files.txt", "later_files.txt"):
        (FOLDER / name).write_text("")  # or all that they name would be asked for again
    server, names = Served("app.py"), dict[str, None]()
    try:
        with page_of() as page:
            page.on("request", lambda request: names.setdefault(Path(request.url).name))
            page.goto(server.address)
            page.wait_for_timeout(1000 * SECONDS)
            first = list(names)
            for tab in page.get_by_role("tab").all():
                if tab.is_visible():
                    tab.click()
                    page.wait_for_timeout(1000 * TAB_SECONDS)
    finally:
        server.kill()
    for name, files in (("first_files.txt", first), ("later_files.txt", list(names)[len(first) :])):
        listed = [file for file in files if front_page.HASHED.fullmatch(file)]
        (FOLDER / name).write_text("\n".join(listed) + "\n")


if __name__ == "__main__":
    main()
