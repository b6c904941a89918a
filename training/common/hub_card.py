"""A checkpoint's card as the Hugging Face hub reads it: the written card, with metadata that
follows from its kind and from metrics.json."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

from huggingface_hub import EvalResult, ModelCard, ModelCardData

from training.common.report import COLUMNS

LIBRARY: Final = "earshot"
SPEECH: Final = (
    "npvcc2016",
    "grid",
    "speech_commands",
    "arabic_speech_commands",
    "dspspeech-20",
    "picovoice",
    "free_spoken_digit_dataset",
)
WORDS: Final = (*(name for name in SPEECH if name != "npvcc2016"), "esc50")
SOUNDS: Final = ("esc50", "opensfx", "audiocaps")
FACES: Final = ("grid",)
PHONES: Final = {"per": "phone errors %", "wer": "words with an error %"}
LIPS: Final = {"wer": "WER %", "wer_caption": "caption WER %", "estoi_aligned": "ESTOI, aligned"}
COPIES: Final = {"vocoder": "copy synthesis, neural"}  # what a vocoder is measured by
OUTSIDE: Final = re.compile(r"\[([^\]]+)\]\(\.\./\.\./[^)]*\)")  # links to files not on the hub


class Kind(NamedTuple):
    """A kind of checkpoint: what it does (a pipeline tag of the hub), what it learned from, what it
    was measured on (an identifier, and in words), and the metrics that its card names.
    """

    task: str
    datasets: tuple[str, ...]
    measured_on: tuple[str, str]
    metrics: tuple[str, ...]


HELD_OUT: Final = ("held-out-speech", "recordings that were not trained on")
# By the beginning of a checkpoint's name; the first that fits.
KINDS: Final = {
    "any-voice": Kind("audio-to-audio", (*SPEECH, "librispeech"), HELD_OUT, ("wer", "mcd")),
    "vqvae": Kind("audio-to-audio", SPEECH, HELD_OUT, ("wer", "abx_across", "bitrate", "mcd")),
    "vocoder-lips": Kind("audio-to-audio", FACES, HELD_OUT, ()),
    "vocoder": Kind(
        "audio-to-audio", ("npvcc2016", "grid", "librispeech"), HELD_OUT, ("wer", "mcd")
    ),
    "words": Kind(
        "feature-extraction",
        WORDS,
        ("held-out-words", "spoken words by unseen speakers"),
        ("acoustic_ap", "cross_view_ap", "unseen_cross_view_ap", "p_at_1"),
    ),
    "sound": Kind(
        "feature-extraction",
        SOUNDS,
        ("esc50", "ESC-50, a validation fold"),
        ("mAP@10", "R@1", "R@10"),
    ),
    "lip-to-speech": Kind("other", FACES, ("grid", "GRID"), tuple(LIPS)),
    "g2p": Kind("other", ("cmudict",), ("cmudict", "CMUdict, test words"), tuple(PHONES)),
    "evaluation": Kind("automatic-speech-recognition", SPEECH, HELD_OUT, ()),
}


def hub_card(folder: Path, repository: str) -> ModelCard:
    """Write the card of the checkpoint in a folder, as it stands in a repository ("USER/REPO").

    Raises KeyError for a checkpoint of no known kind, and ValueError where its metadata is none.
    """
    name = folder.name
    kind = next(KINDS[start] for start in KINDS if name.startswith(start))
    card = ModelCard.load(folder / "README.md")
    data = metadata(card)
    data.library_name = LIBRARY
    data.pipeline_tag = kind.task
    data.datasets = list(kind.datasets)
    data.model_name = name
    data.eval_results = _results(folder, kind) or None
    card.text = OUTSIDE.sub(r"\1", card.text).replace('"checkpoints/', f'"{repository}/')
    return ModelCard(str(card))


def metadata(card: ModelCard) -> ModelCardData:
    """Write the front matter of a card."""
    return cast(ModelCardData, card.data)


def _results(folder: Path, kind: Kind) -> list[EvalResult]:
    metrics = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    return [
        EvalResult(
            task_type=kind.task,
            dataset_type=kind.measured_on[0],
            dataset_name=_measured_on(row, kind),
            metric_type=metric,
            metric_name=f"{_heading(metric, folder.name)}, {row['system']}",
            metric_value=round(row[metric], 4),
        )
        for row in metrics.get("results", [])
        if _is_of(row["system"], folder.name)
        for metric in kind.metrics
        if metric in row
    ]


def _is_of(system: str, name: str) -> bool:
    """Say whether a row of results is about the checkpoint, alone or through a vocoder.

    The rows of any-voice bear the names of its bottlenecks.
    """
    return (
        name == "any-voice"
        or system == name
        or system.startswith(f"{name}, ")
        or system == COPIES.get(name)
    )


def _measured_on(row: Mapping[str, Any], kind: Kind) -> str:
    _, name = kind.measured_on
    return f"{name}, {row['group']} speakers" if "group" in row else name


def _heading(metric: str, name: str) -> str:
    own = PHONES if name == "g2p" else LIPS if name == "lip-to-speech" else {}
    return own[metric] if metric in own else COLUMNS[metric][0]
