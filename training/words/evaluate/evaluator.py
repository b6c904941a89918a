"""Every measure of a system of word embeddings.

acoustic_ap: average precision of "the same word", by similarity, over all pairs of recordings of
the chosen speakers; _across: only pairs of different speakers; _en, _ar, _zh: only pairs within
the language; _trained: only words that are trained on, _across_trained: by different speakers;
_20db, _10db, _0db: in everyday noise at this signal-to-noise ratio; _far: at a far microphone
(conditions.far).
cross_view_ap: over all pairs of a recording and a written word of the corpora, with the same
endings; of a language are the recordings, against all written words; _trained: of both.
p_at_1: recordings whose best written word is the right one.
unseen_…: the same, where the recordings are all there are of words never trained on, and the
written words are all.
near_homophones: recordings of words that are hardly apart that are nearer to their own written
form than to the other's; a tie is an error. calibration_error: of the probability of the best word.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from training.words.data.zero_shot import READERS
from training.words.evaluate.calibration import calibration_error
from training.words.evaluate.conditions import far, in_noise
from training.words.evaluate.material import Material, WordType
from training.words.evaluate.metrics import average_precision, pairs, precisions
from training.words.evaluate.systems import System

NEAR_HOMOPHONES: Final = {
    "语音/语言": ("zh", "yu3 yin1", "yu3 yan2"),
    "北京/背景": ("zh", "bei3 jing1", "bei4 jing3"),
    "中国/总工": ("zh", "zhong1 guo2", "zong3 gong1"),
    "复旦/饭店": ("zh", "fu4 dan4", "fan4 dian4"),
    "tree/three": ("en", "T R IY", "TH R IY"),
}
SNRS: Final = (20, 10, 0)  # dB
POINTS: Final = 200  # of a precision–recall curve

Row = dict[str, Any]
Curves = dict[str, np.ndarray]  # measure → precision (POINTS,) at recalls from 1/POINTS to 1


class Bench:
    """Recordings and written words, and how well systems put them together."""

    def __init__(self, material: Material, noises: Sequence[np.ndarray]) -> None:
        """noises: (T,) each; where there are none, nothing is measured in noise."""
        self._material = material
        self._noises = noises
        self._languages = sorted(set(material.languages))

    def measure(self, system: System) -> tuple[Row, Curves]:
        """Every measure that the system has, and its precision–recall curves in quiet."""
        row: Row = {"system": system.name, "shipped": system.shipped}
        chosen = np.flatnonzero(self._material.main)
        if system.most and len(chosen) > system.most:
            row["note"] = f"{system.most:,} of {len(chosen):,} recordings"
            chosen = np.sort(np.random.default_rng(0).permutation(chosen)[: system.most])
        labels, vocabulary = self._material.labels, self._material.vocabulary
        heard = system.hear(self._waveforms(chosen))
        similarity, spelt = system.similarity(heard), system.spell(heard, vocabulary)
        row |= self._acoustic(similarity, chosen)
        curves = {"acoustic": _curve(*pairs(similarity, labels[chosen]))}
        if spelt is not None:
            row |= self._written(spelt, chosen) | self._near_homophones(spelt, chosen)
            curves["written"] = _curve(*_split(spelt, labels[chosen]))
            if system.temperature:
                error = calibration_error(spelt, labels[chosen], system.temperature)
                row["calibration_error"] = error
            row |= self._unseen(system)
        for ending, disturbed in self._conditions(chosen):
            heard = system.hear(disturbed)
            row |= _ap(f"acoustic_ap_{ending}", *pairs(system.similarity(heard), labels[chosen]))
            spelt = system.spell(heard, vocabulary)
            if spelt is not None:
                row |= _ap(f"cross_view_ap_{ending}", *_split(spelt, labels[chosen]))
        return row, curves

    def _acoustic(self, similarity: np.ndarray, chosen: np.ndarray) -> Row:
        labels, speakers = self._material.labels[chosen], self._material.speakers[chosen]
        row = _ap("acoustic_ap", *pairs(similarity, labels))
        row |= _ap("acoustic_ap_across", *pairs(similarity, labels, speakers))
        for ending, kept in self._parts(chosen).items():
            own = similarity[np.ix_(kept, kept)]
            row |= _ap(f"acoustic_ap_{ending}", *pairs(own, labels[kept]))
            if ending == "trained":
                apart = pairs(own, labels[kept], speakers[kept])
                row |= _ap("acoustic_ap_across_trained", *apart)
        return row

    def _written(self, spelt: np.ndarray, chosen: np.ndarray) -> Row:
        labels, trained = self._material.labels[chosen], ~self._material.untrained
        row = _ap("cross_view_ap", *_split(spelt, labels)) | _p_at_1("p_at_1", spelt, labels)
        for ending, kept in self._parts(chosen).items():
            fits, own = spelt[kept], labels[kept]
            if ending == "trained":
                fits, own = fits[:, trained], (np.cumsum(trained) - 1)[own]
            row |= _ap(f"cross_view_ap_{ending}", *_split(fits, own))
            row |= _p_at_1(f"p_at_1_{ending}", fits, own)
        return row

    def _unseen(self, system: System) -> Row:
        chosen = np.flatnonzero(self._material.unseen)
        if not len(chosen):
            return {}
        spelt = system.spell(system.hear(self._waveforms(chosen)), self._material.vocabulary)
        assert spelt is not None
        parts = {"": np.ones(len(chosen), bool)}
        parts |= {
            f"_{language}": self._material.languages[chosen] == language
            for language in self._languages
        }
        row: Row = {}
        for ending, kept in parts.items():
            labels = self._material.labels[chosen][kept]
            row |= _ap(f"unseen_cross_view_ap{ending}", *_split(spelt[kept], labels))
            row |= _p_at_1(f"unseen_p_at_1{ending}", spelt[kept], labels)
        return row

    def _near_homophones(self, spelt: np.ndarray, chosen: np.ndarray) -> Row:
        labels, row, right = self._material.labels[chosen], {}, []
        for name, (language, *phones) in NEAR_HOMOPHONES.items():
            both = [WordType(language, READERS[language](phone)) for phone in phones]
            if not set(both) <= set(self._material.vocabulary):
                continue
            one, other = map(self._material.vocabulary.index, both)
            lead = spelt[:, one] - spelt[:, other]
            nearer = np.concatenate([lead[labels == one] > 0, lead[labels == other] < 0])
            if len(nearer):
                row[f"near_homophones_{name}"] = float(nearer.mean())
                right.append(nearer)
        return row | ({"near_homophones": float(np.concatenate(right).mean())} if right else {})

    def _conditions(self, chosen: np.ndarray) -> Iterator[tuple[str, list[np.ndarray]]]:
        """Each condition's name with the recordings under it; a recording's noise is always the
        same, whichever others are chosen."""
        waveforms = self._waveforms(chosen)
        if self._noises:
            draws = [np.random.default_rng((0, i)).random(2) for i in chosen]
            noises = [self._noises[int(draw * len(self._noises))] for draw, _ in draws]
            for snr in SNRS:
                yield (
                    f"{snr}db",
                    [
                        in_noise(waveform, noise, snr, start)
                        for waveform, noise, (_, start) in zip(
                            waveforms, noises, draws, strict=True
                        )
                    ],
                )
        rooms = (np.random.default_rng((1, i)) for i in chosen)
        yield "far", [far(w, rng) for w, rng in zip(waveforms, rooms, strict=True)]

    def _parts(self, chosen: np.ndarray) -> dict[str, np.ndarray]:
        """Those of each language, and of the words that are trained on: (len(chosen),) each."""
        languages = self._material.languages[chosen]
        parts = {language: languages == language for language in self._languages}
        return parts | {"trained": ~self._material.untrained[self._material.labels[chosen]]}

    def _waveforms(self, chosen: np.ndarray) -> list[np.ndarray]:
        return [self._material.recordings[i].waveform for i in chosen]


def _split(spelt: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How well recordings fit their own word (N,), and the others: (N, M) → (N,), (N (M − 1),)."""
    own = labels[:, None] == np.arange(spelt.shape[1])
    return spelt[own], spelt[~own]


def _ap(name: str, matching: np.ndarray, others: np.ndarray) -> Row:
    """Nothing where there is nothing to find, or nothing else."""
    both = len(matching) and len(others)
    return {name: average_precision(matching, others)} if both else {}


def _p_at_1(name: str, spelt: np.ndarray, labels: np.ndarray) -> Row:
    return {name: float((spelt.argmax(axis=1) == labels).mean())} if len(labels) else {}


def _curve(matching: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Precision (POINTS,) at recalls from 1 / POINTS to 1; NaN where there is nothing to find."""
    if not len(matching):
        return np.full(POINTS, np.nan)
    places = np.ceil(np.linspace(0, len(matching), POINTS + 1)[1:]).astype(int) - 1
    return precisions(matching, others)[places]
