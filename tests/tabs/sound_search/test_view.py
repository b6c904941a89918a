"""What a search shows: cards, their files and votes, families, and text of visitors as text."""

import csv
import re
import shutil
from dataclasses import replace
from html import escape
from pathlib import Path

import pytest

from earshot.systems.sound_search import SoundSearch
from earshot.tabs.components.map import sound_map
from earshot.tabs.components.timeline import TEMPLATE
from earshot.tabs.shared.html import macro
from earshot.tabs.sound_search.catalogue import CATEGORIES, FAMILIES, OTHER_FAMILY, family
from earshot.tabs.sound_search.library import DemoLibrary, IndexedCatalogue, VisitorLibrary
from earshot.tabs.sound_search.query import PARTS, Search
from earshot.tabs.sound_search.view import ResultView, cards_value
from synthetic.sounds import RECIPES
from tests.support.sounds import CAPTIONS, write_library, write_sound

pytestmark = pytest.mark.slow


def test_every_library_kind_has_one_family() -> None:
    kinds = [kind for kinds in FAMILIES.values() for kind in kinds.split()]
    assert len(kinds) == len(set(kinds))
    # A scene is several sounds at once.
    assert {recipe.kind for recipe in RECIPES if family(recipe.kind) == OTHER_FAMILY} == {"scene"}
    assert family("no such kind") == OTHER_FAMILY and OTHER_FAMILY in CATEGORIES


def test_show_presses_buttons_of_votes(
    search: SoundSearch, library: IndexedCatalogue, view: ResultView
) -> None:
    """The votes are exported."""
    result = replace(search(library.index, "rain"), matched=True)
    liked = result.hits[1].sound.id
    query = Search("rain").voted(liked, 1)
    update = view.show(query, result, library)
    summary, best, rest = (update[part] for part in (view.summary, view.best, view.rest))
    chart, labels = update[view.chart], update[view.labels]
    assert "“rain”" in summary and f"<b>{len(CAPTIONS)}</b> sounds" in summary
    assert best["html"].count('class="card"') == 1 and rest["html"].count('class="card"') == 9
    card = rest["html"].split('class="card"')[1]
    assert liked in card and re.search('aria-pressed="true"[^>]*data-action="up"', card)
    assert best["html"].count("@file0") == 1 and len(rest["files"]) == 9
    assert "base64" not in re.sub(r"data:image/png;base64", "", best["html"])
    assert chart.constructor_args["value"]["html"].count('class="map-point"') == len(CAPTIONS)
    assert labels.constructor_args["visible"]
    rows = list(
        csv.DictReader(Path(labels.constructor_args["value"]).read_text("utf-8-sig").splitlines())
    )
    assert [(row["query"], row["grade"]) for row in rows] == [("rain", "1")]
    # The map is sent once.
    again = view.show(update[view.search], result, library)
    assert "value" not in again[view.chart].constructor_args


def test_show_without_match_says_so_and_shows_nearest(
    search: SoundSearch, library: IndexedCatalogue, view: ResultView
) -> None:
    result = search(library.index, "a <b>spaceship</b>", threshold=2.0)
    shipped = IndexedCatalogue(library.index, shipped=True)
    for catalogue in (library, shipped):
        update = view.show(Search("a <b>spaceship</b>"), result, catalogue)
        assert "Nothing here matches “a &lt;b&gt;spaceship" in update[view.summary]
        assert update[view.best]["html"].count('class="card"') == 1
        assert update[view.rest]["html"].count('class="card"') == 9
    assert library.threshold == search.encoder.own_threshold


def test_show_without_match_of_several_sounds_names_their_order(
    search: SoundSearch, library: IndexedCatalogue, view: ResultView
) -> None:
    for text, how in (("rain, then thunder", "in this order"), ("rain and a dog", "together")):
        result = search(library.index, text, threshold=2.0)
        update = view.show(Search(text), result, library)
        assert f"has all of it {how}" in update[view.summary]


def test_card_says_how_well_sound_and_words_fit(
    search: SoundSearch, library: IndexedCatalogue, view: ResultView
) -> None:
    result = search(library.index, "a dog barks")
    for matches in (True, False):
        hits = tuple(replace(hit, matches=matches) for hit in result.hits)
        update = view.show(Search("a dog barks"), replace(result, hits=hits), library)
        assert ("data-matches" in update[view.best]["html"]) is matches
    hit = replace(result.hits[0], score=0.2, words=0.7)
    result = replace(result, hits=(hit,), threshold=0.4)
    html = view.show(Search("a dog barks"), result, library)[view.best]["html"]
    assert "Sound: cosine 0.20" in html and "Words: cosine 0.70" in html
    assert "<span>some</span>" in html and "<span>a match</span>" in html


def test_show_lists_sound_without_its_file(
    search: SoundSearch, tmp_path: Path, view: ResultView
) -> None:
    library = DemoLibrary(write_library(tmp_path, search))(search)
    shutil.rmtree(tmp_path / "sounds")
    result = replace(search(library.index, "rain"), matched=True)
    best = view.show(Search("rain"), result, library)[view.best]
    assert "cannot be reached" in best["html"] and not best["files"]


@pytest.mark.parametrize("template", [TEMPLATE, sound_map("m").html_template])
def test_template_leaves_visitors_placeholders_alone(template: str) -> None:
    attribute, address = re.findall(r"replace\(/(.*?)/g", template)

    def filled(html: str) -> str:
        return re.sub(attribute, lambda m: m[1] + re.sub(address, r"\1/u\2", m[2]), html)

    texts = ["qqqq @file99 xx", "@file0", 'src="@file0', '" data-sound="@file1']
    for text in texts:
        for html in (f"<h3>{escape(text)}</h3>", f'<p title="{escape(text)}">'):
            assert filled(html) == html
    assert filled('<audio src="@file12">') == '<audio src="/u12">'
    assert filled('<b data-sounds="@file0 @file1">') == '<b data-sounds="/u0 /u1">'


def test_one_sound_is_counted_as_one() -> None:
    """A collection, or a visitor's library, may hold a single sound."""
    assert "<b>1</b> sound searched in" in macro(PARTS, "summary", "“rain”", "", 1, 3.0, "")
    assert "<b>2</b> sounds searched in" in macro(PARTS, "summary", "“rain”", "", 2, 3.0, "")
    assert macro(PARTS, "listing", "Favourites", 1, 1).endswith("<b>1</b> sound</p>")
    assert "<b>2</b> sounds, the most" in macro(PARTS, "listing", "Favourites", 2, 2)


def test_card_of_copied_file_says_so(search: SoundSearch, uploads: Path) -> None:
    own = VisitorLibrary(search)
    for folder in ("a", "b"):
        list(own.add([str(write_sound(uploads / folder / f"{folder}.wav", 1))]))
    result = search(own.index, "rain")
    html = cards_value(result, result.hits, own, Search("rain"))["html"]
    assert html.count("same file as 1 other") == 2
    own.clear()
