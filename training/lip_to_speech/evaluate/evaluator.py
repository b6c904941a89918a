"""All metrics of a system, one row for each group of speakers by how well they are known.

stoi, estoi: intelligibility, from 0 to 1; pesq: wide-band PESQ as MOS-LQO, from 1.04 to 4.64; each
of the speech as it is, and _aligned: shifted by up to 80 ms to the best fit (see metrics.py). wer:
word error rate in % of our recogniser under the grammar of GRID, _sphinx: of pocketsphinx, and
_caption: of the caption that the system writes, and of its words the mean confidence and the
expected calibration error; dnsmos: how natural it sounds, from 1 to 5, where
speechmos is installed. The recognisers are given the sentence with 0.2 s
on either side; videos without a transcript do not count.
For unseen speakers also voice_rank: the share of the other speakers whose voices are nearer to the
prediction than the right one's, and pitch_error: semitones between the median F0s. Nothing of these
speakers is in the training set: what is right about their voices comes from their faces.
A video that a system refuses counts as silence with no words.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from earshot.core.errors import InputError
from earshot.media.text.grammar import GRID
from training.judges import naturalness
from training.judges.evaluator import EvaluationModels
from training.judges.metrics import word_error_rate
from training.judges.pretrained.judges import Judges
from training.judges.sphinx import Sphinx
from training.lip_to_speech.data.prepare import voiced_pitch
from training.lip_to_speech.evaluate.caption_words import CaptionWords
from training.lip_to_speech.evaluate.metrics import (
    comparable,
    earlier,
    lateness,
    mean_quality,
    pitch_error,
    quality,
    voice_ranks,
)
from training.lip_to_speech.evaluate.systems import Output, System
from training.lip_to_speech.evaluate.test_set import GROUPS, Clip

Row = dict[str, Any]

REFUSED: Final = Output(np.zeros(0, np.float32))


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
            if naturalness.available():
                row["dnsmos"] = naturalness.dnsmos(estimates)["dnsmos"]
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
            told = CaptionWords.of([caption or () for caption in captions], words)
            if len(told.correct):
                row["confidence"] = float(told.confidence.mean())
                row["calibration_error"] = told.calibration_error
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
