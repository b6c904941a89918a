"""Calibrate the confidence of words for speakers outside of the training set.

    python -m training.lip_to_speech.calibration --out OUT

The validation videos show training speakers, on whom the reader is nearly always right. Unseen
speakers are simulated: the scale, aspect, rotation and position of the mouth change per video,
about three times as far as in the augmentation of training, which comes after. The temperature of
the CTC scores is fitted on the words of these videos (Guo et al., On calibration of modern neural
networks, 2017, Section 4.2). No confidence exceeds the share of right words among the most
confident ones there. No test video takes part.

Shapes: B videos, N frames of 40 ms, H side of a crop, W words and the CTC blank, K words.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from earshot.core.paths import CHECKPOINTS
from earshot.media.text.grammar import GRID_WORDS
from earshot.models.lip_to_speech.face_encoder import FaceEncoder, FaceEncoderConfig
from earshot.models.lip_to_speech.lip_reader import LipReader, LipReaderConfig
from earshot.pipelines.checkpoint import load_weights, read_config
from earshot.pipelines.lip_to_speech.caption import caption
from earshot.pipelines.lip_to_speech.weights import WEIGHT_KEYS, current_config
from training.common.checkpoints import update_metrics
from training.lip_to_speech.data.augment import augment, centre_crop
from training.lip_to_speech.recipe import SHIPPED

TEMPERATURES: Final = (1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0)
VIEWS: Final = 2  # simulated speakers per video
STRETCH: Final = 0.25  # of width and height each, at most
ANGLE: Final = 0.25  # radians, at most
SHIFT: Final = 9.0  # pixels, at most
BINS: Final = 10  # of confidence, for the calibration error
CONFIDENT: Final = 0.9  # from which a word counts as one of the most confident
BACKWARDS: Final = 0.75  # share of the videos shown backwards whose captions get a notice


class CaptionWords(NamedTuple):
    """The words of the captions: confidence (K,) from 0 to 1 of each; correct (K,): is it right?"""

    confidence: np.ndarray
    correct: np.ndarray

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

    def limited(self, most: float) -> "CaptionWords":
        """Limit each confidence to ``most``."""
        return CaptionWords(np.minimum(self.confidence, most), self.correct)

    @property
    def brier_score(self) -> float:
        """Average the squared difference of confidence and correctness."""
        return float(np.square(self.confidence - self.correct).mean())


def simulated_speakers(crops: Tensor, rng: np.random.Generator) -> Tensor:
    """Change the mouth in the crops (B, N, 80, 80) of each video, from 0 to 1: (B, N, 64, 64)."""
    count, frames, side, _ = crops.shape
    width, height = np.exp(rng.uniform(-STRETCH, STRETCH, (2, count)))
    angle = rng.uniform(-ANGLE, ANGLE, count)
    shift = rng.uniform(-SHIFT, SHIFT, (2, count)) * 2 / side
    rows = np.array(
        [
            [np.cos(angle) * width, -np.sin(angle) * height, shift[0]],
            [np.sin(angle) * width, np.cos(angle) * height, shift[1]],
        ]
    ).transpose(2, 0, 1)
    grid = F.affine_grid(
        torch.from_numpy(rows).float(), [count, 1, side, side], align_corners=False
    )
    warped = F.grid_sample(crops, grid, padding_mode="border", align_corners=False)
    return augment(warped, rng)


@torch.inference_mode()
def ctc_outputs(reader: LipReader, crops: Tensor) -> list[np.ndarray]:
    """Compute CTC log probabilities (N, W) of each video, given crops (B, N, H, H) from 0 to 1."""
    logits = [reader.encode(video[None])[1][0] for video in crops]
    return [one.log_softmax(dim=-1).numpy() for one in logits]


def words_of(
    outputs: Sequence[np.ndarray], references: Sequence[Sequence[str]], temperature: float
) -> CaptionWords:
    """Read the words of the captions from CTC log probabilities (N, W), with their references."""
    confidence, correct = [], []
    for output, reference in zip(outputs, references, strict=True):
        for word, expected in zip(caption(output, temperature), reference, strict=False):
            confidence.append(word.confidence)
            correct.append(word.text == expected)
    return CaptionWords(np.array(confidence), np.array(correct))


def fit_temperature(outputs: Sequence[np.ndarray], references: Sequence[Sequence[str]]) -> float:
    """Find the temperature of the lowest Brier score."""
    scores = [words_of(outputs, references, each).brier_score for each in TEMPERATURES]
    return TEMPERATURES[int(np.argmin(scores))]


def calibrate(reader: LipReader, clips: dict[str, np.ndarray]) -> tuple[dict[str, Any], Any]:
    """Measure the numbers for the config, and what metrics.json reports.

    clips: crops (B, N, 80, 80) and words (B, 6) of the validation videos, see ``prepare``.
    """
    crops = torch.from_numpy(clips["crops"]).float() / 255
    references = [[GRID_WORDS[index] for index in row] for row in clips["words"]]
    rng = np.random.default_rng(0)
    views = [ctc_outputs(reader, simulated_speakers(crops, rng)) for _ in range(VIEWS)]
    outputs = [output for view in views for output in view]
    temperature = fit_temperature(outputs, references * VIEWS)
    simulated = words_of(outputs, references * VIEWS, temperature)
    confident = simulated.correct[simulated.confidence >= CONFIDENT]
    limit = round(float(confident.mean()), 3)
    backwards = ctc_outputs(reader, centre_crop(crops).flip(1))
    captions = [caption(output, temperature, limit) for output in backwards]
    means = [np.mean([word.confidence for word in words] or [0.0]) for words in captions]
    config = {
        "temperature": temperature,
        "max_confidence": limit,
        "min_confidence": round(float(np.quantile(means, BACKWARDS)), 4),
    }
    return config, {
        "simulated_speakers": {
            "temperature": temperature,
            "words": len(simulated.correct),
            "wrong": float(1 - simulated.correct.mean()),
            "calibration_error": simulated.limited(limit).calibration_error,
        }
    }


def main() -> None:
    """Calibrate the shipped checkpoint: write its config.json and metrics.json."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="the folder of prepare")
    folder = CHECKPOINTS / SHIPPED
    with np.load(parser.parse_args().out / "clips.npz") as file:
        val = file["split"] == "val"
        clips = {name: file[name][val] for name in ("crops", "words")}
    config, measured = calibrate(_shipped_reader(folder), clips)
    saved = {name: value for name, value in read_config(folder).items() if name != "sure"}
    (folder / "config.json").write_text(json.dumps(saved | config, indent=2) + "\n")
    metrics = json.loads((folder / "metrics.json").read_text())
    update_metrics(folder, {"calibration": metrics.get("calibration", {}) | measured})
    print(config, measured)


def _shipped_reader(folder: Path) -> LipReader:
    config = current_config(read_config(folder))
    reader = LipReader(LipReaderConfig(**config["reader"]))
    faces = FaceEncoder(FaceEncoderConfig(**config["faces"]))
    networks = nn.ModuleDict({"reader": reader, "faces": faces})
    load_weights(networks, folder, torch.device("cpu"), WEIGHT_KEYS)
    return reader


if __name__ == "__main__":
    main()
