"""List the scripts and styles of Gradio's frontend that the first page asks for, in their order.

Run as `python -m scripts.list_frontend` when Gradio or the page's components change; needs Debian's
Chromium. The page asks the browser for these at once, in place of one after the other.
"""

from pathlib import Path
from typing import Final

from benchmarks.start import page_of
from benchmarks.support.served import Served
from earshot.app import front_page

SECONDS: Final = 15  # until everything has come
FILE: Final = Path(front_page.__file__).with_name("first_files.txt")


def main() -> None:
    server, names = Served("app.py"), dict[str, None]()
    try:
        with page_of() as page:
            page.on("request", lambda request: names.setdefault(Path(request.url).name))
            page.goto(server.address)
            page.wait_for_timeout(1000 * SECONDS)
    finally:
        server.kill()
    files = [name for name in names if front_page.HASHED.fullmatch(name)]
    FILE.write_text("\n".join(files) + "\n")


if __name__ == "__main__":
    main()
