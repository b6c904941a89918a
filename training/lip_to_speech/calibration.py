"""Calibrate the confidence of words for speakers outside of the training set.

The shipped readers know all training speakers. As many readers of words that were trained without
four of them (``recipe.CALIBRATION_READERS``) read these: the temperature of the CTC scores, and
slope and intercept of the words' posteriors, are fitted on what they get right and wrong (Platt
1999; Guo et al., On calibration of modern neural networks, 2017). No test video takes part.

Shapes: B videos, N frames of 40 ms, H side of a crop, W words and the CTC blank, K words.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from scipy.special import logit
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import LeaveOneGroupOut, cross_val_predict
from torch import Tensor

from earshot.media.text.grammar import GRID_WORDS
from earshot.models.lip_to_speech import WordReader
from earshot.pretrained.checkpoint import read_config
from earshot.systems.lip_to_speech.caption import Calibration, SpokenWord, caption
from earshot.systems.lip_to_speech.weights import LipNetworks, averaged, current_config
from training.common.checkpoints import update_metrics
from training.lip_to_speech.augment import centre_crop
from training.lip_to_speech.batches import Clips
from training.lip_to_speech.readers import load_word_reader
from training.lip_to_speech.recipe import CALIBRATION_READERS, NEW_SPEAKERS

BINS: Final = 10  # of confidence, for the calibration error
TEMPERATURES: Final = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0)
BACKWARDS: Final = 0.75  # share of the videos shown backwards whose captions get a notice


class CaptionWords(NamedTuple):
    """The words of the captions: confidence (K,) from 0 to 1 of each; correct (K,): is it right?"""

    confidence: np.ndarray
    correct: np.ndarray

    @classmethod
    def of(
        cls, captions: Sequence[Sequence[SpokenWord]], references: Sequence[Sequence[str]]
    ) -> "CaptionWords":
        """Compare the words of captions with their references."""
        pairs = [
            (word.confidence, word.text == expected)
            for read, reference in zip(captions, references, strict=True)
            for word, expected in zip(read, reference, strict=False)
        ]
        confidence, correct = zip(*pairs, strict=True) if pairs else ((), ())
        return cls(np.array(confidence, float), np.array(correct, bool))

    @property
    def calibration_error(self) -> float:
        """Compute the expected calibration error over BINS equal bins (Guo et al. 2017, Eq.
        (3)).
        """
        bins = np.minimum((self.confidence * BINS).astype(int), BINS - 1)
        gaps = [
            abs(self.confidence[bins == b].sum() - self.correct[bins == b].sum())
            for b in range(BINS)
        ]
        return float(np.sum(gaps) / len(bins))

    @property
    def brier_score(self) -> float:
        """Average the squared difference of confidence and correctness."""
        return float(np.square(self.confidence - self.correct).mean())


@torch.inference_mode()
def ctc_outputs(readers: Sequence[WordReader], crops: Tensor) -> list[np.ndarray]:
    """Compute CTC log probabilities (N, W) of each video by all readers, given crops (B, N, H, H)
    from 0 to 1."""
    return [
        averaged([reader.encode(video[None])[1][0] for reader in readers]).numpy()
        for video in crops
    ]


def words_of(
    outputs: Sequence[np.ndarray], references: Sequence[Sequence[str]], calibration: Calibration
) -> CaptionWords:
    """Read the words of the captions from CTC log probabilities (N, W), with their references."""
    return CaptionWords.of([caption(output, calibration) for output in outputs], references)


def fit(
    outputs: Sequence[np.ndarray], references: Sequence[Sequence[str]], speakers: np.ndarray
) -> tuple[Calibration, CaptionWords]:
    """Find the calibration of the lowest Brier score, each speaker's words having been predicted by
    the others'. speakers: one a video. Returns the calibration by all, and the words of the
    captions with the confidence that the other speakers give them.
    """
    tried = []
    for temperature in TEMPERATURES:
        captions = [caption(output, Calibration(temperature)) for output in outputs]
        words = CaptionWords.of(captions, references)
        counts = [min(len(c), len(r)) for c, r in zip(captions, references, strict=True)]
        logits = logit(words.confidence)[:, None]
        model: Any = LogisticRegression(C=np.inf)
        predicted = cross_val_predict(
            model,
            logits,
            words.correct,
            groups=np.repeat(speakers, counts),
            cv=LeaveOneGroupOut(),
            method="predict_proba",
        )
        model.fit(logits, words.correct)
        calibration = Calibration(
            temperature, round(float(model.coef_[0, 0]), 4), round(float(model.intercept_[0]), 4)
        )
        tried.append((calibration, words._replace(confidence=np.asarray(predicted)[:, 1])))
    return min(tried, key=lambda each: each[1].brier_score)


def calibrate(
    left_out: Sequence[WordReader], new: Clips, readers: Sequence[WordReader], training_clips: Clips
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Measure the numbers for the config, and what metrics.json reports.

    left_out: readers that do not know the speakers of the videos ``new``; readers: the shipped
    ones; known: validation videos.
    """
    outputs = ctc_outputs(left_out, _crops(new))
    calibration, words = fit(outputs, _sentences(new), new.arrays["speaker"])
    backwards = ctc_outputs(readers, _crops(training_clips).flip(1))
    captions = [caption(output, calibration) for output in backwards]
    means = [np.mean([word.confidence for word in words] or [0.0]) for words in captions]
    config = {
        "calibration": asdict(calibration),
        "min_confidence": round(float(np.quantile(means, BACKWARDS)), 4),
    }
    seen = words_of(
        ctc_outputs(readers, _crops(training_clips)), _sentences(training_clips), calibration
    )
    return config, {
        "speakers left out, by two readers trained without them": _measured(words),
        "speakers of the training set (validation)": _measured(seen),
    }


def _measured(words: CaptionWords) -> dict[str, float]:
    return {
        "words": len(words.correct),
        "wrong": float(1 - words.correct.mean()),
        "mean_confidence": float(words.confidence.mean()),
        "calibration_error": words.calibration_error,
    }


def _crops(clips: Clips) -> Tensor:
    return centre_crop(torch.from_numpy(clips.arrays["crops"]).float() / 255)


def _sentences(clips: Clips) -> list[list[str]]:
    return [[GRID_WORDS[index] for index in row] for row in clips.arrays["words"]]


def calibrate_checkpoint(run: Path, folder: Path) -> None:
    """Calibrate the checkpoint in a folder by the readers of a run: write its config.json and
    metrics.json."""
    new = Clips([run / "clips.npz"], "train")
    new.keep(np.isin(new.arrays["speaker"], NEW_SPEAKERS))
    training_clips = Clips([run / "clips.npz"], "val")
    left_out = [load_word_reader(run / f"{name}.pt") for name in CALIBRATION_READERS]
    saved = read_config(folder)
    networks = LipNetworks.load(folder, current_config(saved), torch.device("cpu"))
    readers = [networks.reader, *networks.word_readers]
    config, measured = calibrate(left_out, new, readers, training_clips)
    (folder / "config.json").write_text(json.dumps(saved | config, indent=2) + "\n")
    update_metrics(folder, {"calibration": measured})
    print(config, measured)
