"""Write the checkpoints as a repository of the Hugging Face hub has them, or upload them.

    python -m training.publish --to FOLDER
    python -m training.publish --to USER/REPO    # with a token: hf auth login, or $HF_TOKEN

What exists is a folder; of the rest, USER/REPO is a repository and all else a new folder. Each
checkpoint is a folder of the repository: VoiceConversion.from_pretrained("USER/REPO/vqvae-512").
Its card is as the hub reads it: the written card, with metadata that follows from its kind and from
metrics.json.
"""

import argparse
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

from huggingface_hub import EvalResult, HfApi, ModelCard, ModelCardData
from huggingface_hub.errors import HfHubHTTPError, LocalTokenNotFoundError

from earshot.core.paths import CHECKPOINTS
from earshot.pretrained.checkpoint import weight_files
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
HELD_OUT: Final = ("held-out-speech", "recordings that were not trained on")
FILES: Final = ("config.json", "metrics.json")  # and those of the weights
CARD: Final = """\
---
library_name: {library}
license: other
license_name: by-folder
license_link: LICENSES.md
tags: [voice-conversion, acoustic-word-embeddings, audio-retrieval, lip-to-speech]
---
# Earshot: speech systems to hear, take apart and try

Each folder is a checkpoint with its card, its licence, and what was measured. They load with what
they need, each file checked against its hash:

    from earshot import LipToSpeech, SoundSearch, VoiceConversion, Words

    VoiceConversion.from_pretrained("{repository}/vqvae-512")
    Words.from_pretrained("{repository}/words")
    SoundSearch.from_pretrained("{repository}/sound-cnn")
    LipToSpeech.from_pretrained("{repository}/lip-to-speech")

| checkpoint | what it is | licence |
|---|---|---|
{rows}
"""


class Kind(NamedTuple):
    """A kind of checkpoint: what it does (a pipeline tag of the hub), what it learned from, what it
    was measured on (an identifier, and in words), and the metrics that its card names.
    """

    task: str
    datasets: tuple[str, ...]
    measured_on: tuple[str, str]
    metrics: tuple[str, ...]


# By the beginning of a checkpoint's name; the first that fits.
KINDS: Final = {
    "any-voice": Kind("audio-to-audio", (*SPEECH, "librispeech"), HELD_OUT, ("wer", "mcd")),
    "linear": Kind("audio-to-audio", (*SPEECH, "librispeech"), HELD_OUT, ("wer", "mcd")),
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
    """Whether a row of results is about the checkpoint, alone or through a vocoder.

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


def write(folder: Path, repository: str, checkpoints: Path = CHECKPOINTS) -> list[str]:
    """Write every checkpoint with its card, and a card of them all → the checkpoints' names."""
    sources = [path.parent for path in sorted(checkpoints.glob("*/config.json"))]
    rows, licences = [], []
    for source in sources:
        target = folder / source.name
        target.mkdir(parents=True, exist_ok=True)
        for name in (*FILES, *(path.name for path in weight_files(source))):
            shutil.copyfile(source / name, target / name)
        card = hub_card(source, repository)
        card.save(target / "README.md")
        licence = metadata(card).license
        title = (
            card.text.strip().splitlines()[0].removeprefix("# ").removeprefix(f"{source.name}: ")
        )
        rows.append(f"| [{source.name}]({source.name}) | {title} | {licence} |")
        licences.append(f"- {source.name}: {licence}")
    about = CARD.format(library=LIBRARY, repository=repository, rows="\n".join(rows))
    ModelCard(about).save(folder / "README.md")
    (folder / "LICENSES.md").write_text(
        "\n".join(["# Licences of the weights\n", *licences]) + "\n"
    )
    return [source.name for source in sources]


def upload(repository: str, checkpoints: Path = CHECKPOINTS) -> str:
    """Create the repository where there is none, and upload all → the address of the commit."""
    api = HfApi()
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), repository, checkpoints)
        api.create_repo(repository, exist_ok=True)
        commit = api.upload_folder(
            repo_id=repository, folder_path=folder, commit_message="Publish the checkpoints"
        )
    return commit.commit_url


def main(arguments: Sequence[str] | None = None) -> None:
    """Write or upload the checkpoints, as the command line asks."""
    parser = argparse.ArgumentParser(
        prog="python -m training.publish",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--to", required=True, metavar="FOLDER|USER/REPO")
    place = Path(parser.parse_args(arguments).to)
    if place.exists() or place.is_absolute() or len(place.parts) != 2 or place.parts[0] == "..":
        names = write(place, "USER/REPO")
        print(f"{place}: {', '.join(names)}")
        return
    try:
        print(upload(str(place)))
    except (HfHubHTTPError, LocalTokenNotFoundError, ConnectionError) as error:
        sys.exit(f"{place} could not be published: {error}")


if __name__ == "__main__":
    main()
