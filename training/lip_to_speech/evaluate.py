"""All metrics of a system, one row for each group of speakers by how well they are known, and their
tables.

stoi, estoi: intelligibility, from 0 to 1; pesq: wide-band PESQ as MOS-LQO, from 1.04 to 4.64; each
of the speech as it is, and _aligned: shifted by up to 80 ms to the best fit (see metrics.py). wer:
word error rate in % of our recogniser under the grammar of GRID, _sphinx: of pocketsphinx, and
_caption: of the caption that the system writes, and of its words the mean confidence and the
expected calibration error; dnsmos: how natural it sounds, from 1 to 5, where speechmos is
installed. The recognisers are given the sentence with 0.2 s on either side; videos without a
transcript do not count.
For unseen speakers also voice_rank: the share of the other speakers whose voices are nearer to the
prediction than the right one's, and pitch_error: semitones between the median F0s. Nothing of these
speakers is in the training set: what is right about their voices comes from their faces.
A video that a system refuses counts as silence with no words.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from earshot.core.errors import InputError
from earshot.media.text.grammar import GRID
from earshot.pretrained.judges import dnsmos, has_dnsmos
from training.common.checkpoints import update_metrics
from training.common.report import markdown, write_card
from training.judges.evaluator import EvaluationModels
from training.judges.hub import Judges
from training.judges.metrics import word_error_rate
from training.judges.sphinx import Sphinx
from training.lip_to_speech.calibration import CaptionWords
from training.lip_to_speech.metrics import (
    PESQ_INSTALLED,
    comparable,
    earlier,
    lateness,
    mean_quality,
    pitch_error,
    quality,
    voice_ranks,
)
from training.lip_to_speech.prepare import voiced_pitch
from training.lip_to_speech.recipe import SHIPPED, VOCODER
from training.lip_to_speech.systems import GROUPS, Clip, Output, System, choose, summary, systems

Row = dict[str, Any]

REFUSED: Final = Output(np.zeros(0, np.float32))
GROUP: Final = {"group": ("speakers", "s"), "videos": ("videos", "d")}
COLUMNS: Final = {  # metric → heading, format
    **GROUP,
    "refused": ("refused", "d"),
    "stoi": ("STOI", ".3f"),
    "estoi": ("ESTOI", ".3f"),
    "stoi_aligned": ("STOI aligned", ".3f"),
    "estoi_aligned": ("ESTOI aligned", ".3f"),
    "pesq": ("PESQ", ".2f"),
    "dnsmos": ("DNSMOS", ".2f"),
    "wer": ("WER %", ".1f"),
    "wer_sphinx": ("WER sphinx %", ".1f"),
    "wer_asr": ("WER Whisper %", ".1f"),
    "wer_caption": ("WER caption %", ".1f"),
}
DETAILS: Final = {
    "Confidence of captions": {
        "confidence": ("mean confidence", ".3f"),
        "calibration_error": ("expected calibration error", ".3f"),
    },
    "Voices of unseen speakers": {
        "voice_rank": ("share of other voices that are nearer", ".2f"),
        "pitch_error": ("F0 error, semitones", ".1f"),
    },
}
MAX_QUICK: Final = 4  # videos of each group at most


class LipEvaluator:
    """The test clips, and the recognisers and speaker encoder that all systems share."""

    def __init__(self, clips: Sequence[Clip], judges: Judges) -> None:
        """Load the evaluators. Raises FileNotFoundError where they have not been trained."""
        self._clips = clips
        self._evaluator = EvaluationModels.load()
        self._sphinx = Sphinx(word for slot in GRID for word in slot.items())
        self._pitches = {c.video: voiced_pitch(c.audio) for c in clips if c.group == "unseen"}
        self._speakers = sorted({clip.speaker for clip in clips})
        self._asr = judges.asr
        self._embed = embed = (judges.speakers or self._evaluator.speaker_encoder).embed
        voices = [
            embed([clip.audio for clip in clips if clip.speaker == speaker]).mean(axis=0)
            for speaker in self._speakers
        ]
        self._voices = np.stack([voice / np.linalg.norm(voice) for voice in voices])

    def measure(self, system: System) -> list[Row]:
        """Measure a row of all metrics for each group of speakers with videos."""
        rows: list[Row] = []
        for group in GROUPS:
            clips = [clip for clip in self._clips if clip.group == group]
            if not clips:
                continue
            row: Row = {"system": system.name, "shipped": system.shipped, "group": group}
            outputs = [_synthesise(system, clip) for clip in clips]
            refused = sum(one is REFUSED for one in outputs)
            row |= {"videos": len(clips)} | ({"refused": refused} if refused else {})
            estimates = [
                comparable(one.waveform, clip.audio)
                for one, clip in zip(outputs, clips, strict=True)
            ]
            row |= _quality(estimates, clips) | self._intelligibility(outputs, estimates, clips)
            if has_dnsmos():
                row["dnsmos"] = dnsmos(estimates)["dnsmos"]
            if group == "unseen":
                row |= self._voice_similarity(estimates, clips)
            rows.append(row)
        return rows

    def _intelligibility(
        self, outputs: Sequence[Output], estimates: Sequence[np.ndarray], clips: Sequence[Clip]
    ) -> Row:
        """Measure word error rates in % of both recognisers, and of the captions where there are
        any.
        """
        transcribed = [i for i, clip in enumerate(clips) if clip.words]
        if not transcribed:
            return {}
        words = [clips[i].words for i in transcribed]
        # The recognisers expect little but the sentence.
        sentences = [clips[i].sentence(estimates[i]) for i in transcribed]
        recognised = self._evaluator.recogniser.words(sentences, GRID)
        asr, sphinx = self._asr, self._sphinx
        other = [asr.words(one) if asr else sphinx.words(one, GRID) for one in sentences]
        row = {
            "wer": word_error_rate(words, recognised),
            "wer_asr" if asr else "wer_sphinx": word_error_rate(words, other),
        }
        captions = [outputs[i].caption for i in transcribed]
        if any(caption is not None for caption in captions):
            written = [[word.text for word in caption or ()] for caption in captions]
            row["wer_caption"] = word_error_rate(words, written)
            caption_words = CaptionWords.of([caption or () for caption in captions], words)
            if len(caption_words.correct):
                row["confidence"] = float(caption_words.confidence.mean())
                row["calibration_error"] = caption_words.calibration_error
        return row

    def _voice_similarity(self, estimates: list[np.ndarray], clips: Sequence[Clip]) -> Row:
        right = np.array([self._speakers.index(clip.speaker) for clip in clips])
        vectors = self._embed(estimates)
        row: Row = {"voice_rank": float(voice_ranks(vectors, self._voices, right).mean())}
        errors = [
            pitch_error(voiced_pitch(one), self._pitches[clip.video])
            for one, clip in zip(estimates, clips, strict=True)
        ]
        voiced = [error for error in errors if error is not None]
        return row | ({"pitch_error": float(np.mean(voiced))} if voiced else {})


def _synthesise(system: System, clip: Clip) -> Output:
    try:
        return system.speak(clip.video)
    except InputError as error:
        print(f"{system.name} refuses {clip.video}: {error}")
        return REFUSED


def _quality(estimates: Sequence[np.ndarray], clips: Sequence[Clip]) -> Row:
    """Measure the mean quality of the estimates as they are, and aligned with their references."""
    pairs = [(one, clip.audio) for one, clip in zip(estimates, clips, strict=True)]
    raw = mean_quality([quality(one, reference) for one, reference in pairs])
    shifted = [(earlier(one, lateness(one, reference)), reference) for one, reference in pairs]
    aligned = mean_quality([quality(one, reference) for one, reference in shifted])
    return raw | {f"{name}_aligned": score for name, score in aligned.items()}


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Write the main metrics of every row in Markdown."""
    return markdown(rows, COLUMNS)


def details(rows: Sequence[Mapping[str, Any]]) -> str:
    """Write the other tables in Markdown, of the rows that have any of their metrics."""
    parts = []
    for title, columns in DETAILS.items():
        measured = [row for row in rows if columns.keys() & row.keys()]
        if measured:
            parts.append(f"{title}:\n\n{markdown(measured, GROUP | columns)}")
    return "\n\n".join(parts)


def evaluate(
    data: Path,
    vocoder: Path,
    folders: Sequence[Path],
    split: str = "test",
    json_out: Path | None = None,
    quick: bool = False,
    judges: Judges = Judges(),  # noqa: B008  (frozen)
    only: Collection[str] = (),
) -> list[Row]:
    """Evaluate every system, see evaluator.py; print and return the rows of the table.

    vocoder, folders: checkpoints; folders that do not exist are left out. split: see
    test_set.choose. quick: a seeded sample. judges: of the hub, instead of ours.
    only: the systems to measure, by name; all where there are none.
    Raises SystemExit where there is nothing to measure, FileNotFoundError without
    the trained evaluators.
    """
    clips = choose(data, split, MAX_QUICK if quick else None)
    print(summary(clips))
    if not PESQ_INSTALLED:
        print("The package pesq is not installed: PESQ is left out.")
    evaluator = LipEvaluator(clips, judges)
    measured = systems(data, clips, vocoder, folders)
    chosen = [system for system in measured if not only or system.name in only]
    rows = [row for system in chosen for row in evaluator.measure(system)]
    rows.sort(key=lambda row: GROUPS.index(row["group"]))
    print(table(rows), details(rows), sep="\n\n")
    if json_out:
        json_out.write_text(json.dumps({"rows": rows}, indent=2) + "\n", encoding="utf-8")
    return rows


def publish(rows: list[dict[str, Any]], checkpoints: Path) -> list[dict[str, Any]]:
    """Write the rows into the metrics of the shipped checkpoint, its card and its vocoder's.

    Rows of systems that were not measured now stay as they were printed. Returns all rows.
    """
    folder = checkpoints / SHIPPED
    measured = {row["system"] for row in rows}
    printed = json.loads((folder / "metrics.json").read_text()).get("results", [])
    rows = [*(row for row in printed if row["system"] not in measured), *rows]
    rows.sort(key=lambda row: GROUPS.index(row["group"]))
    update_metrics(folder, {"results": rows})
    write_cards(checkpoints)
    return rows


def write_cards(checkpoints: Path) -> None:
    """Write the cards of the shipped checkpoint and its vocoder from their metrics."""
    write_card(checkpoints / SHIPPED, **card_tables(checkpoints / SHIPPED))
    write_card(checkpoints / VOCODER)


def card_tables(folder: Path) -> dict[str, str]:
    """Return the tables of results that the card of a checkpoint shows besides its metrics."""
    rows = json.loads((folder / "metrics.json").read_text())["results"]
    return {"table": table(rows), "details": details(rows)}
