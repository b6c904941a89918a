"""Places of a word as files: CSV, and TextGrid for Praat (Boersma & Weenink)."""

from collections.abc import Iterable
from itertools import zip_longest

from earshot.media.text.table import csv_text
from earshot.systems.words.word_search import Place


def places_csv(places: Iterable[Place], word: str) -> str:
    """Write a CSV with a header: word, start and end in seconds, score."""
    rows = (
        (word, f"{place.start:.3f}", f"{place.end:.3f}", f"{place.score:.4f}")
        for place in sorted(places, key=lambda place: place.start)
    )
    return csv_text([("word", "start", "end", "score"), *rows])


def text_grid(places: Iterable[Place], word: str, seconds: float) -> str:
    """Write a TextGrid with one interval tier, in Praat's long text format.

    Intervals must not overlap: two places that do meet in the middle of what they share.
    """
    intervals: list[tuple[float, float, str]] = []
    reached = 0.0
    chosen = sorted(places, key=lambda place: place.start)
    for place, following in zip_longest(chosen, chosen[1:]):
        end = min(place.end, seconds)
        if following and following.start < end:
            end = (following.start + end) / 2
        start = max(place.start, reached)
        if start > reached:
            intervals.append((reached, start, ""))
        intervals.append((start, end, f"{word} {place.score:.2f}"))
        reached = end
    if reached < seconds:
        intervals.append((reached, seconds, ""))
    tier = "".join(
        f"        intervals [{number}]:\n            xmin = {start:.4f}\n"
        f'            xmax = {end:.4f}\n            text = "{_quoted(label)}"\n'
        for number, (start, end, label) in enumerate(intervals, start=1)
    )
    return (
        'File type = "ooTextFile"\nObject class = "TextGrid"\n\n'
        f"xmin = 0\nxmax = {seconds:.4f}\ntiers? <exists>\nsize = 1\nitem []:\n    item [1]:\n"
        f'        class = "IntervalTier"\n        name = "{_quoted(word)}"\n        xmin = 0\n'
        f"        xmax = {seconds:.4f}\n        intervals: size = {len(intervals)}\n{tier}"
    )


def _quoted(text: str) -> str:
    """Escape a string for Praat, in which a quotation mark is doubled, and a line ends it."""
    return " ".join(text.split()).replace('"', '""')
