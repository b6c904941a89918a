"""Make a page of samples for a paper from the sounds of a comparison.

earshot page OUT -o site/
earshot page OUT -o site/ --anonymous    # for review

OUT has one folder for each system, in which the same sentence has the same file name. OUT/page.yaml
says, where there is one, title, authors, abstract, links, bibtex, and which systems and sentences
are on the page.
"""

import argparse
import sys
from collections.abc import Sequence

from earshot.cli.files import Bar
from earshot.core.console import explained, typed_path
from earshot.core.paths import as_stored


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the page of the folder that the command line names."""
    parser = argparse.ArgumentParser(
        prog="earshot page",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", type=typed_path, metavar="OUT", help="a folder with one a system")
    parser.add_argument(
        "-o", "--out", type=typed_path, required=True, metavar="SITE", help="a folder"
    )
    parser.add_argument(
        "--anonymous", action="store_true", help="without authors, links and names of files"
    )
    parser.add_argument(
        "--overwrite", action="store_true", help="replace files of other people's in SITE, too"
    )
    options = parser.parse_args(arguments)
    with explained():
        from earshot.exports.page import write_page  # late: it loads librosa and FFmpeg

        folder = as_stored(options.folder)
        notices = write_page(folder, options.out, options.anonymous, options.overwrite, Bar())
        for notice in notices:
            print(f"{folder}/{notice}", file=sys.stderr)
        print(options.out / "index.html")
        if notices:
            sys.exit(f"{len(notices)} sounds are missing on the page.")


if __name__ == "__main__":
    main()
