"""What several systems made of one source, at one loudness: on a Timeline, in a table, and as items
of a listening test.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from markupsafe import Markup

from earshot.provenance.manifest import encode_video
from earshot.study.design.draft import DraftItem
from earshot.tabs.components.lanes import Lane
from earshot.tabs.components.timeline import File, SoundLanes, TimelineSpec, wav
from earshot.tabs.shared.html import render

if TYPE_CHECKING:
    from earshot.media.audio.speech import Speech

TABLE: Final = "components/side_by_side.html"


@dataclass(frozen=True)
class Take:
    """What a system made of a source. label: what the menu calls the system; speech: the sound;
    settings: how it was made, by name; lanes: of more than its sound; notices: sentences about it;
    measures: what judges say of it, by what a table calls that; stale: whether its lanes show what
    its sound is not of any more.
    """

    label: str
    speech: "Speech"
    settings: dict[str, str]
    lanes: Sequence[Lane] = ()
    notices: Sequence[str] = ()
    measures: Mapping[str, str] = field(default_factory=dict)
    stale: bool = False

    @property
    def seconds(self) -> float:
        """Return how long its sound is, in seconds."""
        return len(self.speech.waveform) / self.speech.sample_rate

    def bare(self) -> "Take":
        """Leave out of its sound what made it."""
        return replace(self, speech=replace(self.speech, origin=None))

    def row(self) -> dict[str, Any]:
        """List what a table says of it."""
        computed = self.speech.compute_seconds
        return {
            "system": self.label,
            "settings": ", ".join(self.settings.values()),
            "computed": f"{computed:.1f}",
            "factor": f"{computed / self.seconds:.2f}",
            "seconds": f"{self.seconds:.1f}",
            "measures": self.measures,
        }


@dataclass(frozen=True)
class Source:
    """What systems are given. content: the file or text of a listening test; lanes: that show it;
    track: plays it, where it has a sound; silent: the frames of a video, MP4, which go with what
    the systems make."""

    content: bytes | str
    lanes: Sequence[Lane]
    track: File | None = None
    silent: bytes | None = None


@dataclass(frozen=True)
class Comparison:
    """The takes of several systems on one source, at one loudness, and a sentence on each that
    failed."""

    source: Source
    takes: Sequence[Take]
    faults: Sequence[str] = ()

    @property
    def ending(self) -> str:
        """Return the ending of a file with the sound of a take."""
        return "mp4" if self.source.silent else "wav"

    @property
    def stimulus(self) -> str:
        """Return a name of the source."""
        return DraftItem("", b"", self.source.content, {}).stimulus

    def timeline(self) -> TimelineSpec:
        """Lay out the source and each take on one time axis."""
        lanes = list(self.source.lanes)
        tracks = []
        for place, take in enumerate(self.takes, 1):
            sound = SoundLanes.of(take.speech)
            note = " · edited, not spoken yet" if take.stale else ""
            lanes += [*take.lanes, *sound.lanes(f"{place} · {take.label}{note}", take.stale)]
            tracks.append(File(take.label, f"{place}.{self.ending}", self.content(take), True))
        tracks += [self.source.track] if self.source.track else []
        return TimelineSpec("The source and each system on one time axis", lanes, tracks)

    def content(self, take: Take) -> bytes:
        """Write the sound of a take, with the frames of the video where there are any."""
        silent = self.source.silent
        return encode_video(silent, take.speech) if silent else wav(take.speech)

    def table(self) -> Markup:
        """Write what was measured, and what went wrong, as HTML."""
        notices = [notice for take in self.takes for notice in take.notices]
        rows = [take.row() for take in self.takes]
        columns = [*dict.fromkeys(name for take in self.takes for name in take.measures)]
        return render(TABLE, rows=rows, columns=columns, notices=notices, faults=self.faults)

    def draft_items(self) -> list[DraftItem]:
        """Make items of a listening test, one a system, of the one source."""
        return [
            DraftItem(
                " ".join([take.label, *take.settings.values()]),
                self.content(take),
                self.source.content,
                {"system": take.label, **take.settings},
                video=self.source.silent is not None,
            )
            for take in self.takes
        ]


def at_one_loudness(takes: Sequence[Take]) -> list[Take]:
    """Bring the takes to the loudness of the one that can be the least loud without clipping."""
    from earshot.media.audio.load import equally_loud  # late, for it loads SciPy

    sounds = [(take.speech.waveform, take.speech.sample_rate) for take in takes]
    return [
        replace(take, speech=replace(take.speech, waveform=waveform))
        for take, waveform in zip(takes, equally_loud(sounds), strict=True)
    ]
