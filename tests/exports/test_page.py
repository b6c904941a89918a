"""The page of samples: what is on it, what it never names, and whose files it leaves alone."""

import io
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Final

import av
import numpy as np
import pytest

from earshot.cli.page import main
from earshot.core.errors import InputError
from earshot.exports.measures import Measure, as_csv
from earshot.exports.page import INDEX, MANIFEST, write_page
from earshot.media.audio.load import load, wav_bytes

RATE: Final = 16_000
HOSTILE: Final = "<script>alert(1)</script> \"'`{{7*7}}ü😀"
PAGE: Final = """\
title: Voices & <b>units</b>
authors:
  - name: Ada Example
    affiliation: [Here, There]
    link: https://example.org/ada
  - Kofi Sample
abstract: We convert speech.
bibtex: "@misc{example2026}"
links: {Paper: "https://example.org/paper"}
systems: {theirs: Baseline, ours: Ours}
sentences:
  one: The birch canoe slid.
  two:
"""


def sound(seconds: float = 0.4, pitch: float = 220.0) -> np.ndarray:
    time = np.arange(round(seconds * RATE)) / RATE
    return (0.3 * np.sin(2 * np.pi * pitch * time)).astype(np.float32)


def comparison(folder: Path, *systems: str, names: tuple[str, ...] = ("one", "two")) -> Path:
    for place, system in enumerate(systems or ("source", "ours", "theirs")):
        (folder / system).mkdir(parents=True)
        for name in names:
            content = wav_bytes(sound(pitch=200.0 + 40 * place), RATE)
            (folder / system / f"{name}.wav").write_bytes(content)
    return folder


class Reader(HTMLParser):
    """The tags and the text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def addresses(self) -> list[str]:
        return [
            address
            for tag, attributes in self.tags
            if tag != "a"
            for name in ("src", "href", "srcset", "poster", "data")
            if (address := attributes.get(name))
        ]


def read(site: Path) -> Reader:
    return Reader((site / INDEX).read_text(encoding="utf-8"))


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return comparison(tmp_path / "out")


def test_page_has_every_sound_and_all_that_the_paper_says(out: Path, tmp_path: Path) -> None:
    (out / "page.yaml").write_text(PAGE)
    rows = [
        Measure("ours", name, "TF2", name, "words_kept", value, "Moonshine tiny", "1")
        for name, value in (("one", 0.9), ("two", 0.8))
    ]
    failure = Measure("theirs", "two", "TF2", "two", "", error="out of memory")
    (out / "measures.csv").write_bytes(as_csv([*rows, failure]))
    assert write_page(out, tmp_path / "site") == []
    page = read(tmp_path / "site")
    for text in ("Voices & <b>units</b>", "Ada Example", "There", "Kofi Sample", "We convert"):
        assert text in page.text
    for text in ("@misc{example2026}", "Paper", "The birch canoe slid.", "0.85", "Moonshine tiny"):
        assert text in page.text
    labels = re.findall(r"Source|Baseline|Ours", page.text)
    assert labels[:3] == ["Source", "Baseline", "Ours"]  # as page.yaml orders them
    sounds = [tag for tag, _ in page.tags if tag == "audio"]
    assert len(sounds) == 6
    addresses = page.addresses()
    assert all((tmp_path / "site" / each).is_file() for each in addresses if each != "data:,")
    assert not [each for each in addresses if "://" in each]


def test_sounds_load_only_when_they_are_played(out: Path, tmp_path: Path) -> None:
    write_page(out, tmp_path / "site")
    page = read(tmp_path / "site")
    assert {each["preload"] for tag, each in page.tags if tag == "audio"} == {"none"}
    assert {each["loading"] for tag, each in page.tags if tag == "img"} == {"lazy"}


@pytest.mark.parametrize("ending", ["opus", "mp3"])
def test_sound_of_page_is_that_of_folder(out: Path, tmp_path: Path, ending: str) -> None:
    write_page(out, tmp_path / "site")
    recording = load(tmp_path / "site" / "sounds" / f"001-02.{ending}", RATE)
    assert recording.seconds == pytest.approx(0.4, abs=0.03)
    spectrum = np.abs(np.fft.rfft(recording.waveform[1600:4800]))
    assert np.argmax(spectrum) * RATE / 3200 == pytest.approx(240, abs=6)
    assert np.abs(recording.waveform[1600:4800]).max() == pytest.approx(0.3, abs=0.03)


def test_anonymous_page_names_nobody_and_no_file(tmp_path: Path) -> None:
    out = comparison(tmp_path / "smith-lab", "source", "ours-of-smith", names=("s1-miller",))
    (out / "page.yaml").write_text(
        "title: Voices\nauthors: [{name: Ann Smith, affiliation: Smith Lab}]\n"
        "links: {Code: https://example.org/smith}\nbibtex: smith2026\n"
    )
    site = tmp_path / "site"
    write_page(out, site, anonymous=True)
    for path in site.rglob("*"):
        content = f"{path.relative_to(site)}".encode() + (
            path.read_bytes() if path.is_file() else b""
        )
        for word in (b"smith", b"miller", b"example.org", str(tmp_path).encode(), b"2026"):
            assert word not in content.lower(), path
        assert not re.search(rb"ID3|TSSE|Exif|Lav[cf]\d|encoder=", content), path
        if path.suffix in (".mp3", ".opus"):
            with av.open(io.BytesIO(path.read_bytes())) as container:
                assert not container.metadata and not container.streams[0].metadata
    assert "System 1" in read(site).text and "Sentence 1" in read(site).text


def test_anonymous_page_with_an_author_in_its_text_is_refused(out: Path, tmp_path: Path) -> None:
    author = "authors: [{name: Ada Lovelace, affiliation: Sound Lab}]\n"
    for text in ("As Lovelace wrote.", "We at Sound Lab did."):
        (out / "page.yaml").write_text(f"{author}abstract: {text}\n")
        with pytest.raises(InputError, match="The page would name (Lovelace|Sound Lab)"):
            write_page(out, tmp_path / "site", anonymous=True)
    write_page(out, tmp_path / "site")


def test_names_of_any_letters_are_text(tmp_path: Path) -> None:
    long = "x" * 200
    out = comparison(tmp_path / "out", "ours", long, HOSTILE.replace("/", ""), names=(long, "..ü"))
    (out / "page.yaml").write_text("title: '</title><script>'\n")
    write_page(out, tmp_path / "site")
    page = read(tmp_path / "site")
    assert len([tag for tag, _ in page.tags if tag == "script"]) == 2  # ours
    assert HOSTILE.replace("/", "") in page.text and long in page.text
    assert "49" not in page.text
    for path in (tmp_path / "site").rglob("*.*"):
        assert re.fullmatch(r"[a-z0-9.-]+", path.name)


def test_name_that_is_no_utf8_is_shown(tmp_path: Path) -> None:
    out = comparison(
        tmp_path / "out", "ours", names=(b"caf\xe9".decode("utf-8", "surrogateescape"),)
    )
    write_page(out, tmp_path / "site")
    assert "caf�" in read(tmp_path / "site").text


@pytest.mark.parametrize(
    ("yaml", "problem"),
    [
        ("titel: x", 'line 1: there is no "titel": did you mean "title"?'),
        ("title: x\nsystems: [ours, mine]", 'line 2: there is no folder of sounds called "mine"'),
        ("sentences:\n  one: x\n  tow: y", 'line 3: there is no sound called "tow"'),
        ("links: {Code: 'javascript:alert(1)'}", 'line 1: "Code" must be an address'),
        ("authors:\n- link: https://x.org", 'line 2: "name" is missing'),
        ("authors: Ada", 'line 1: "authors" must be a list'),
        ("- a", "line 1: a page begins with names and values"),
        ("title: [", "this is not YAML"),
        ("title: &a x\nabstract: *a", "line 2"),
    ],
)
def test_error_of_page_yaml_has_its_line(
    out: Path, tmp_path: Path, yaml: str, problem: str
) -> None:
    (out / "page.yaml").write_text(yaml)
    with pytest.raises(InputError, match=re.escape(problem)):
        write_page(out, tmp_path / "site")
    assert not (tmp_path / "site").exists()


def test_sound_that_cannot_be_used_is_a_gap(
    out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (out / "ours" / "one.wav").write_bytes(wav_bytes(np.zeros(0, np.float32), RATE))
    (out / "ours" / "two.wav").write_bytes(b"no sound at all")
    (out / "theirs" / "two.wav").unlink()
    with pytest.raises(SystemExit, match="3 sounds are missing"):
        main([str(out), "-o", str(tmp_path / "site")])
    assert "theirs/two: There is no such sound." in capsys.readouterr().err
    page = read(tmp_path / "site")
    assert page.text.count("No sound") == 3
    assert len([tag for tag, _ in page.tags if tag == "audio"]) == 3


def test_folder_without_sounds_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is no folder"):
        write_page(tmp_path / "nowhere", tmp_path / "site")
    with pytest.raises(InputError, match="There are no sounds"):
        write_page(tmp_path, tmp_path / "site")


def test_table_of_others_is_refused_with_its_row(out: Path, tmp_path: Path) -> None:
    (out / "measures.csv").write_text("system,measure,value\nours,words_kept,lots\n")
    with pytest.raises(InputError, match="measures.csv: Row 2: value is “lots”"):
        write_page(out, tmp_path / "site")


def test_strangers_files_stay(out: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    (site / "sounds").mkdir(parents=True)
    (site / "CNAME").write_text("example.org")
    (site / "sounds" / "001-09.mp3").write_bytes(b"theirs")
    write_page(out, site)
    assert (site / "CNAME").read_text() == "example.org"
    assert (site / "sounds" / "001-09.mp3").read_bytes() == b"theirs"
    (site / INDEX).write_text("changed by hand")
    with pytest.raises(InputError, match="was changed since"):
        write_page(out, site)
    assert (site / INDEX).read_text() == "changed by hand"
    write_page(out, site, overwrite=True)
    assert "<main>" in (site / INDEX).read_text()


def test_page_made_again_drops_what_it_no_longer_has(out: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    write_page(out, site)
    before = {path: path.read_bytes() for path in site.rglob("*.*")}
    write_page(out, site)
    assert {path: path.read_bytes() for path in site.rglob("*.*")} == before
    outside = tmp_path / "outside.mp3"
    outside.write_bytes(b"theirs")
    (site / MANIFEST).write_text(
        (site / MANIFEST).read_text().replace("{", '{"../outside.mp3": "",', 1)
    )
    (out / "page.yaml").write_text("systems: [ours]\nsentences: [two]\n")
    write_page(out, site)
    assert sorted(path.name for path in site.rglob("*.*")) == [
        "001-01.mp3", "001-01.opus", "001-01.svg", "001-02.mp3", "001-02.opus", "001-02.svg",
        "files.json", "index.html",
    ]  # fmt: skip
    assert outside.exists()


@pytest.mark.parametrize("place", ["out", "out/ours/one.wav"])
def test_page_lies_neither_in_its_sounds_nor_in_a_file(
    out: Path, tmp_path: Path, place: str
) -> None:
    with pytest.raises(InputError, match="name a"):
        write_page(out, tmp_path / place)


def test_command_prints_where_the_page_is(
    out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main([f"{out}/", "-o", f"{tmp_path}/site/"])
    assert Path(capsys.readouterr().out.strip()).read_text().startswith("<!DOCTYPE html>")
