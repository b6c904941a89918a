"""Whether a file was made here: what its signed metadata and the mark in its sound say, in words,
and what they cannot say."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from earshot.media.audio.speech import FACE, MADE_BY, NOBODY, OWN, REFERENCE, SHIPPED, Speech
from earshot.media.constants import SAMPLE_RATE
from earshot.provenance import manifest
from earshot.provenance.keys import installation_number
from earshot.provenance.manifest import ManifestReport
from earshot.provenance.mark import MarkReport, find_mark

MAX_SECONDS: Final = 600.0
MIN_SECONDS: Final = 3.0  # in which a mark is found reliably
HERE, ELSEWHERE, CLAIMED, NOTHING = "here", "elsewhere", "claimed", "nothing"
VERDICTS: Final = {
    HERE: "Yes: this voice was changed here.",
    ELSEWHERE: "Not here, but by another installation of Earshot.",
    CLAIMED: "Perhaps: it says so, and nothing proves it.",
    NOTHING: "Nothing says so. That does not prove that it is a recording.",
}
METADATA: Final = {
    manifest.OWN: "Signed by this installation{when}{what}.",
    manifest.OTHER: "Signed{when} with a key that calls itself Earshot’s and is not of this "
    "installation{what}. It may be another Earshot’s, or of anybody who says so.",
    manifest.STRANGER: "Signed{when} by {generator}, whose key this installation does not know.",
    manifest.INVALID: "Its signed metadata does not fit it: the file was changed after it was "
    "signed, or the signature is forged.",
    manifest.UNREADABLE: "It has signed metadata that cannot be read: it is damaged.",
    manifest.UNKNOWN: "It may have signed metadata, which this installation cannot verify: "
    "c2pa-python is not installed.",
    manifest.NONE: "It has no signed metadata. Files lose it when they are sent, edited or "
    "recorded again.",
}
COMMENT: Final = f"A note in it says “{MADE_BY}”, which anybody can write."
ORIGIN: Final = ": by the model {}, in {}"
VOICES: Final = {
    SHIPPED: "a voice of Earshot’s",
    NOBODY: "a voice that is nobody’s",
    OWN: "the speaker’s own voice",
    REFERENCE: "the voice of a recording",
    FACE: "the voice that a face suggests",
}
OWN_MARK: Final = (
    "Its sound carries the mark of this installation, a number that it shares with one in 65,536."
)
OTHER_MARK: Final = "Its sound carries the mark of another installation of Earshot, number {}."
NAMELESS_MARK: Final = (
    "Its sound carries the mark of an installation of Earshot, without a number that can be read."
)
NO_MARK: Final = "No mark found in its sound"
NO_PROOF: Final = ": that does not prove that it is a recording"
TOO_SHORT: Final = " It lasts {:.1f} s, and in less than 3 s a mark is often not found."
DISAGREE: Final = "The two disagree: "
SIGNED_ALONE: Final = (
    "the metadata says that Earshot made it, and its sound carries no mark. The installation may "
    "put in none, or its sound was exchanged before it was signed."
)
OTHER_SIGNER: Final = (
    "the metadata is of one installation, and the mark of another. A conversion may have been "
    "converted again."
)
STRANGE_SIGNER: Final = "{} signed a sound that Earshot had made."
INPUT_MARK: Final = (
    "This recording carries the mark of Earshot: it is a conversion itself. The result is marked "
    "as well."
)


@dataclass(frozen=True)
class Detection:
    """A search for where a file was made.

    manifest: its signed metadata; mark: in its sound, of so many seconds; own: the number of this
    installation, 0 where it has none; verdict: one of VERDICTS.
    """

    manifest: ManifestReport
    mark: MarkReport
    seconds: float
    own: int

    @property
    def verdict(self) -> str:
        """Say which of VERDICTS holds: the surer layer counts."""
        if self.manifest.state == manifest.OWN or self._own_mark:
            return HERE
        if self.mark.present:
            return ELSEWHERE
        claims = self.manifest.state == manifest.OTHER or self.manifest.comment == MADE_BY
        return CLAIMED if claims else NOTHING

    @property
    def answers(self) -> tuple[str, ...]:
        """Say what each layer says, and where the two disagree."""
        report = self.manifest
        facts = dict(report.facts)
        what = ORIGIN.format(facts["model"], VOICES[facts["voice"]]) if _plain(facts) else ""
        metadata = METADATA[report.state].format(
            when=_date(report.when), what=what, generator=report.generator or "another program"
        )
        comments = [COMMENT] if report.state == manifest.NONE and report.comment == MADE_BY else []
        return (metadata, *comments, self._mark(), *self._disagreement())

    def document(self) -> dict[str, Any]:
        """Write it as JSON has it, for programs."""
        report, mark = self.manifest, self.mark
        return {
            "verdict": self.verdict,
            "sentence": VERDICTS[self.verdict],
            "answers": list(self.answers),
            "metadata": {
                "state": report.state,
                "generator": report.generator,
                "signer": report.signer,
                "when": report.when,
                "facts": dict(report.facts),
                "comment": report.comment,
            },
            "mark": {
                "present": mark.present,
                "score": round(mark.score, 2),
                "installation": mark.installation,
                "this_installation": self.own or None,
            },
            "seconds": round(self.seconds, 3),
        }

    @property
    def _own_mark(self) -> bool:
        return bool(self.mark.present and self.own and self.mark.installation == self.own)

    def _mark(self) -> str:
        if self._own_mark:
            return OWN_MARK
        if self.mark.present:
            number = self.mark.installation
            return OTHER_MARK.format(number) if number else NAMELESS_MARK
        proof = NO_PROOF * (self.verdict in (CLAIMED, NOTHING))
        return f"{NO_MARK}{proof}." + TOO_SHORT.format(self.seconds) * (self.seconds < MIN_SECONDS)

    def _disagreement(self) -> tuple[str, ...]:
        state, marked = self.manifest.state, self.mark.present
        signed = state in (manifest.OWN, manifest.OTHER)
        if signed and not marked and self.seconds >= MIN_SECONDS:
            return (DISAGREE + SIGNED_ALONE,)
        legible = self.mark.installation is not None
        if signed and legible and (state == manifest.OWN) != self._own_mark:
            return (DISAGREE + OTHER_SIGNER,)
        if state == manifest.STRANGER and marked:
            return (DISAGREE + STRANGE_SIGNER.format(self.manifest.generator or "Another program"),)
        return ()


def detect(source: str | Path | bytes) -> Detection:
    """Look for signed metadata and a mark in a file, of sound or of video with sound.

    Raises InputError for a file whose sound cannot be used.
    """
    from earshot.media.audio.load import load  # late, for it loads SciPy

    recording = load(source, SAMPLE_RATE, MAX_SECONDS)
    mark = find_mark(recording.waveform, SAMPLE_RATE)
    return Detection(manifest.read(source), mark, recording.seconds, installation_number())


def notices_of_mark(source: Speech) -> tuple[str, ...]:
    """Report a mark in what is converted. It takes longer than to convert it."""
    return (INPUT_MARK,) if find_mark(source.waveform, source.sample_rate).present else ()


def _plain(facts: dict[str, str]) -> bool:
    """Whether facts, which anybody can sign, are such as we write."""
    return bool(facts.get("model")) and facts.get("voice") in VOICES


def _date(when: str) -> str:
    """Write a time as it is read, " on 2 December 2026 at 14:05 UTC"; "" where it is none."""
    try:
        time = datetime.fromisoformat(when)
    except ValueError:
        return ""
    return f" on {time.day} {time:%B %Y at %H:%M} UTC"
