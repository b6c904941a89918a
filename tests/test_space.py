"""What a Hugging Face Space is told, and whether it could install what it needs.

`make space-check` does the rest, with a browser.
"""

import re

import pytest
from PIL import Image

from earshot.core.paths import ROOT
from scripts import space_check

NO_INDEX = re.compile("Failed to fetch|error sending request|dns error", re.I)
MATTER = space_check.front_matter(ROOT / "README.md")


def test_front_matter_is_what_spaces_know(capsys: pytest.CaptureFixture[str]) -> None:
    space_check.check_front_matter(MATTER)
    space_check.check_files()
    assert "none over 10 MB" in capsys.readouterr().out


def test_thumbnail_has_shape_of_link() -> None:
    """The thumbnail takes the name of the Space."""
    address = space_check.THUMBNAIL.fullmatch(MATTER["thumbnail"])
    assert address
    with Image.open(ROOT / address[1]) as picture:
        assert picture.size == (1200, 630)
    sync = (ROOT / ".github" / "workflows" / "hub-sync.yml").read_text()
    (placeholder,) = re.findall(r"/\^thumbnail:/s\|(.+?)\|\$SPACE\|", sync)
    assert f"/spaces/{placeholder}/" in MATTER["thumbnail"]


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("python_version", "3.11", "python_version is none of"),
        ("sdk_version", "5.0.0", "sdk_version is not the pinned gradio"),
        ("thumbnail", "assets/screenshots/thumbnail.png", "thumbnail is no address"),
    ],
)
def test_wrong_front_matter_is_refused(name: str, value: str, sentence: str) -> None:
    """A Space would not take the value."""
    with pytest.raises(SystemExit, match=sentence):
        space_check.check_front_matter(MATTER | {name: value})


@pytest.mark.slow
@pytest.mark.parametrize("torch", space_check.TORCHES)
def test_requirements_fit_zero_gpu(torch: str) -> None:
    """Requirements fit the Python and the torch of ZeroGPU."""
    try:
        versions = space_check.resolve(space_check.find_uv(), MATTER["sdk_version"], torch)
    except SystemExit as error:
        if NO_INDEX.search(str(error)):
            pytest.skip("needs the package index")
        raise
    assert {f"torch=={torch}", f"gradio=={MATTER['sdk_version']}"} <= set(versions)
