"""Write the checkpoints as a repository of the Hugging Face hub has them, or upload them.

    python -m training.publish --to FOLDER
    python -m training.publish --to USER/REPO    # with a token: hf auth login, or $HF_TOKEN

What exists is a folder; of the rest, USER/REPO is a repository and all else a new folder. Each
checkpoint is a folder of the repository: VoiceConversion.from_pretrained("USER/REPO/vqvae-512").
"""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from huggingface_hub import HfApi, ModelCard
from huggingface_hub.errors import HfHubHTTPError, LocalTokenNotFoundError

from earshot.core.paths import CHECKPOINTS
from earshot.pretrained.checkpoint import weight_files
from training.common.hub_card import LIBRARY, hub_card, metadata

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
