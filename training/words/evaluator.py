"""Every metric of a word embedding system.

acoustic_ap: average precision of same-word detection over all pairs of test recordings. Suffixes:
_across: pairs of different speakers; _en, _ar, _zh: pairs within a language; _trained: words that
are trained on, _across_trained: of these, pairs of different speakers; _20db, _10db, _0db: in
environmental noise at this signal-to-noise ratio; _far: at a far microphone (conditions.far).
cross_view_ap: the same over all pairs of a recording and a written word of the corpora. The suffix
of a language selects recordings, compared with all written words; _trained selects both.
recognition_ap: the same of the probabilities of the written words, a softmax of a recording's
cosines. Unlike a cosine, a probability depends on which other words there are.
p_at_1: share of recordings whose best written word is the right one.
unseen_…: the same for all recordings of the zero-shot words, compared with all written words.
near_homophones: share of recordings of a near-homophone that are nearer to their own written form
than to the other; a tie is an error. calibration_error: of the probability of the best word.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from training.common.zero_shot import PARSERS
from training.words.calibration import calibration_error, probabilities
from training.words.metrics import average_precision, pairs, precisions
from training.words.systems import System
from training.words.test_set import TestSet, WordType, far, in_noise

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


class Evaluator:
    """An evaluator of systems on recordings and written words."""

    def __init__(self, test_set: TestSet, noises: Sequence[np.ndarray]) -> None:
        """Keep recordings and noises: (T,) each; without any, nothing is measured in noise."""
        self._test_set = test_set
        self._noises = noises
        self._languages = sorted(set(test_set.languages))

    def measure(self, system: System) -> tuple[Row, Curves]:
        """Measure all metrics that apply to the system, and its precision–recall curves without
        noise.
        """
        row: Row = {"system": system.name, "shipped": system.shipped}
        chosen = np.flatnonzero(self._test_set.test)
        if system.max_recordings and len(chosen) > system.max_recordings:
            row["note"] = f"{system.max_recordings:,} of {len(chosen):,} recordings"
            chosen = np.sort(np.random.default_rng(0).permutation(chosen)[: system.max_recordings])
        labels, vocabulary = self._test_set.labels, self._test_set.vocabulary
        encoded = system.encode(self._waveforms(chosen))
        similarity = system.similarity(encoded)
        to_written = system.similarity_to_written(encoded, vocabulary)
        row |= self._acoustic(similarity, chosen)
        curves = {"acoustic": _curve(*pairs(similarity, labels[chosen]))}
        if to_written is not None:
            row |= self._written(to_written, chosen, system.temperature)
            row |= self._near_homophones(to_written, chosen)
            curves["written"] = _curve(*_split(to_written, labels[chosen]))
            if system.temperature:
                error = calibration_error(to_written, labels[chosen], system.temperature)
                row["calibration_error"] = error
            row |= self._unseen(system)
        for suffix, degraded in self._conditions(chosen):
            encoded = system.encode(degraded)
            row |= _ap(f"acoustic_ap_{suffix}", *pairs(system.similarity(encoded), labels[chosen]))
            to_written = system.similarity_to_written(encoded, vocabulary)
            if to_written is not None:
                row |= _cross_view(to_written, labels[chosen], system.temperature, f"_{suffix}")
        return row, curves

    def _acoustic(self, similarity: np.ndarray, chosen: np.ndarray) -> Row:
        labels, speakers = self._test_set.labels[chosen], self._test_set.speakers[chosen]
        row = _ap("acoustic_ap", *pairs(similarity, labels))
        row |= _ap("acoustic_ap_across", *pairs(similarity, labels, speakers))
        for suffix, part in self._parts(chosen).items():
            own = similarity[np.ix_(part, part)]
            row |= _ap(f"acoustic_ap_{suffix}", *pairs(own, labels[part]))
            if suffix == "trained":
                across = pairs(own, labels[part], speakers[part])
                row |= _ap("acoustic_ap_across_trained", *across)
        return row

    def _written(
        self, to_written: np.ndarray, chosen: np.ndarray, temperature: float | None
    ) -> Row:
        labels, trained = self._test_set.labels[chosen], ~self._test_set.zero_shot
        row = _cross_view(to_written, labels, temperature)
        row |= _p_at_1("p_at_1", to_written, labels)
        for suffix, part in self._parts(chosen).items():
            fits, own = to_written[part], labels[part]
            if suffix == "trained":
                fits, own = fits[:, trained], (np.cumsum(trained) - 1)[own]
            row |= _cross_view(fits, own, temperature, f"_{suffix}")
            row |= _p_at_1(f"p_at_1_{suffix}", fits, own)
        return row

    def _unseen(self, system: System) -> Row:
        chosen = np.flatnonzero(self._test_set.of_zero_shot)
        if not len(chosen):
            return {}
        encoded = system.encode(self._waveforms(chosen))
        to_written = system.similarity_to_written(encoded, self._test_set.vocabulary)
        assert to_written is not None
        parts = {"": np.ones(len(chosen), bool)}
        parts |= {
            f"_{language}": self._test_set.languages[chosen] == language
            for language in self._languages
        }
        row: Row = {}
        for suffix, part in parts.items():
            labels = self._test_set.labels[chosen][part]
            figures = _cross_view(to_written[part], labels, system.temperature, suffix)
            figures |= _p_at_1(f"p_at_1{suffix}", to_written[part], labels)
            row |= {f"unseen_{metric}": value for metric, value in figures.items()}
        return row

    def _near_homophones(self, to_written: np.ndarray, chosen: np.ndarray) -> Row:
        labels, row, right = self._test_set.labels[chosen], {}, []
        for name, (language, *phones) in NEAR_HOMOPHONES.items():
            both = [WordType(language, PARSERS[language](phone)) for phone in phones]
            if not set(both) <= set(self._test_set.vocabulary):
                continue
            one, other = map(self._test_set.vocabulary.index, both)
            lead = to_written[:, one] - to_written[:, other]
            nearer = np.concatenate([lead[labels == one] > 0, lead[labels == other] < 0])
            if len(nearer):
                row[f"near_homophones_{name}"] = float(nearer.mean())
                right.append(nearer)
        return row | ({"near_homophones": float(np.concatenate(right).mean())} if right else {})

    def _conditions(self, chosen: np.ndarray) -> Iterator[tuple[str, list[np.ndarray]]]:
        """Yield the suffix of each condition, and the recordings under it. The noise of a recording
        does not depend on which others are chosen.
        """
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
        """Make masks (len(chosen),) of each language, and of the words that are trained on."""
        languages = self._test_set.languages[chosen]
        parts = {language: languages == language for language in self._languages}
        return parts | {"trained": ~self._test_set.zero_shot[self._test_set.labels[chosen]]}

    def _waveforms(self, chosen: np.ndarray) -> list[np.ndarray]:
        return [self._test_set.recordings[i].waveform for i in chosen]


def _split(to_written: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Split similarities (N, M) into those of recordings with their own word (N,), and the
    others.
    """
    own = labels[:, None] == np.arange(to_written.shape[1])
    return to_written[own], to_written[~own]


def _ap(name: str, matching: np.ndarray, others: np.ndarray) -> Row:
    """Compute an average precision; nothing where there are no matching pairs, or no others."""
    both = len(matching) and len(others)
    return {name: average_precision(matching, others)} if both else {}


def _cross_view(
    to_written: np.ndarray, labels: np.ndarray, temperature: float | None, suffix: str = ""
) -> Row:
    """Compute the average precision of similarities (N, M), and of their probabilities."""
    row = _ap(f"cross_view_ap{suffix}", *_split(to_written, labels))
    if temperature:
        shares = probabilities(to_written, temperature)
        row |= _ap(f"recognition_ap{suffix}", *_split(shares, labels))
    return row


def _p_at_1(name: str, to_written: np.ndarray, labels: np.ndarray) -> Row:
    return {name: float((to_written.argmax(axis=1) == labels).mean())} if len(labels) else {}


def _curve(matching: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Compute the precision (POINTS,) at recalls from 1 / POINTS to 1; NaN without matching
    pairs.
    """
    if not len(matching):
        return np.full(POINTS, np.nan)
    places = np.ceil(np.linspace(0, len(matching), POINTS + 1)[1:]).astype(int) - 1
    return precisions(matching, others)[places]
