"""Every measure of a system, by how well the talkers are known: a row for each group of them.

stoi, estoi: intelligibility, from 0 to 1; pesq: wide-band PESQ as MOS-LQO, from 1.04 to 4.64; all
three of speech as it is, and _aligned: moved by up to 80 ms to where it fits best (see metrics.py).
wer: words in % that our recogniser gets wrong by the grammar of GRID, _sphinx: pocketsphinx, and
_caption: that the system itself writes wrongly. The recognisers hear what is said from 0.2 s before
the real words to 0.2 s after them; films whose words nobody noted do not count.
Of unseen talkers also voice_rank: the share of the other talkers whose voices are nearer to what is
said than the right one's, and pitch_error: semitones between the median pitches. Nothing of these
talkers was trained on: what is right about their voices, a system has from their faces.
A film that a system refuses counts as silence with no words.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from media.errors import InputError
from media.text.grammar import GRID
from training.evaluators.evaluator import EvaluationModels
from training.evaluators.metrics import word_error_rate
from training.evaluators.sphinx import Sphinx
from training.lip_to_speech.data.prepare import voiced_pitch
from training.lip_to_speech.evaluate.material import GROUPS, Clip
from training.lip_to_speech.evaluate.metrics import (
    comparable,
    earlier,
    lateness,
    mean_quality,
    pitch_error,
    quality,
    voice_ranks,
)
from training.lip_to_speech.evaluate.systems import Spoken, System

Row = dict[str, Any]

REFUSED: Final = Spoken(np.zeros(0, np.float32))


class Bench:
    """Films, and the judges that all systems share."""

    def __init__(self, clips: Sequence[Clip]) -> None:
        """Raises FileNotFoundError where the judges have not been trained."""
        self._clips = clips
        self._judges = EvaluationModels.load()
        self._sphinx = Sphinx(word for slot in GRID for word in slot.items())
        self._pitches = {c.film: voiced_pitch(c.sound) for c in clips if c.group == "unseen"}
        self._talkers = sorted({clip.talker for clip in clips})
        embed = self._judges.speaker_encoder.embed
        voices = [
            embed([clip.sound for clip in clips if clip.talker == talker]).mean(axis=0)
            for talker in self._talkers
        ]
        self._voices = np.stack([voice / np.linalg.norm(voice) for voice in voices])

    def measure(self, system: System) -> list[Row]:
        """A row of all measures for each group of talkers that there are films of."""
        rows: list[Row] = []
        for group in GROUPS:
            clips = [clip for clip in self._clips if clip.group == group]
            if not clips:
                continue
            row: Row = {"system": system.name, "shipped": system.shipped, "group": group}
            spoken = [_speak(system, clip) for clip in clips]
            refused = sum(one is REFUSED for one in spoken)
            row |= {"films": len(clips)} | ({"refused": refused} if refused else {})
            said = [
                comparable(one.waveform, clip.sound)
                for one, clip in zip(spoken, clips, strict=True)
            ]
            row |= _likeness(said, clips) | self._intelligibility(spoken, said, clips)
            if group == "unseen":
                row |= self._likeness_of_voice(said, clips)
            rows.append(row)
        return rows

    def _intelligibility(
        self, spoken: Sequence[Spoken], said: Sequence[np.ndarray], clips: Sequence[Clip]
    ) -> Row:
        """Word errors in % by both recognisers, and of the captions where any are written."""
        noted = [i for i, clip in enumerate(clips) if clip.words]
        if not noted:
            return {}
        words = [clips[i].words for i in noted]
        # The recognisers expect little but the sentence: what is around it misleads them.
        sentences = [clips[i].sentence(said[i]) for i in noted]
        heard = self._judges.recogniser.words(sentences, GRID)
        by_sphinx = [self._sphinx.words(one, GRID) for one in sentences]
        row = {
            "wer": word_error_rate(words, heard),
            "wer_sphinx": word_error_rate(words, by_sphinx),
        }
        captions = [spoken[i].caption for i in noted]
        if any(caption is not None for caption in captions):
            written = [caption or [] for caption in captions]
            row["wer_caption"] = word_error_rate(words, written)
        return row

    def _likeness_of_voice(self, said: list[np.ndarray], clips: Sequence[Clip]) -> Row:
        right = np.array([self._talkers.index(clip.talker) for clip in clips])
        vectors = self._judges.speaker_encoder.embed(said)
        row: Row = {"voice_rank": float(voice_ranks(vectors, self._voices, right).mean())}
        errors = [
            pitch_error(voiced_pitch(one), self._pitches[clip.film])
            for one, clip in zip(said, clips, strict=True)
        ]
        voiced = [error for error in errors if error is not None]
        return row | ({"pitch_error": float(np.mean(voiced))} if voiced else {})


def _speak(system: System, clip: Clip) -> Spoken:
    try:
        return system.speak(clip.film)
    except InputError as error:
        print(f"{system.name} refuses {clip.film}: {error}")
        return REFUSED


def _likeness(said: Sequence[np.ndarray], clips: Sequence[Clip]) -> Row:
    """The mean qualities of what is said as it is, and aligned with what was really said."""
    pairs = [(one, clip.sound) for one, clip in zip(said, clips, strict=True)]
    raw = mean_quality([quality(one, real) for one, real in pairs])
    moved = [(earlier(one, lateness(one, real)), real) for one, real in pairs]
    aligned = mean_quality([quality(one, real) for one, real in moved])
    return raw | {f"{name}_aligned": score for name, score in aligned.items()}
