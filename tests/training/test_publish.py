"""A hub repository of the checkpoints: cards that the hub reads, and weights that load again."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from huggingface_hub import EvalResult, ModelCard

from earshot.core.paths import CHECKPOINTS, ROOT
from earshot.systems.voice_conversion import VoiceConversion
from tests.support.hub_server import serve
from training import publish
from training.publish import hub_card, metadata

FOLDERS = sorted(path.parent for path in CHECKPOINTS.glob("*/config.json"))


def of(name: str) -> list[EvalResult]:
    """The results on the card of a checkpoint."""
    return metadata(hub_card(CHECKPOINTS / name, "someone/earshot")).eval_results or []


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_hub_card_has_what_hub_asks(folder: Path) -> None:
    card = hub_card(folder, "someone/earshot")
    card_results, written = metadata(card), metadata(ModelCard.load(folder / "README.md"))
    assert card_results.library_name == "earshot"
    assert card_results.pipeline_tag and card_results.datasets
    assert (card_results.license, card_results.tags) == (written.license, written.tags)
    assert "](../../" not in card.text
    assert '"checkpoints/' not in card.text
    reread = ModelCard(str(card))  # the model index is parsed again
    assert reread.data.to_dict() == card.data.to_dict()


def test_hub_card_tells_own_results_alone() -> None:
    """A card tells the results of its own checkpoint alone."""
    card_results = {
        (result.metric_type, result.metric_name): result.metric_value for result in of("vqvae-512")
    }
    assert card_results["wer", "WER %, vqvae-512, griffin-lim"] == pytest.approx(26.11, abs=0.01)
    (words,) = [result for result in of("words-bottleneck") if result.metric_type == "acoustic_ap"]
    metrics = json.loads((CHECKPOINTS / "words-bottleneck" / "metrics.json").read_text())
    published = {row["system"]: row["acoustic_ap"] for row in metrics["results"]}
    assert words.metric_value == pytest.approx(published["words-bottleneck"], abs=1e-4)
    assert words.metric_value != pytest.approx(published["words"], abs=1e-4)


def test_publish_to_folder_writes_loadable_checkpoints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # so that nothing is found in the repository
    publish.main(["--to", str(tmp_path / "hub")])
    names = {path.parent.name for path in (tmp_path / "hub").glob("*/README.md")}
    assert names == {folder.name for folder in FOLDERS}
    about = (tmp_path / "hub" / "README.md").read_text()
    assert "| [vqvae-512](vqvae-512) | 512 discovered units, 50 a second | cc-by-sa-4.0 |" in about
    assert "- g2p: bsd-2-clause" in (tmp_path / "hub" / "LICENSES.md").read_text()
    assert VoiceConversion.from_pretrained(tmp_path / "hub" / "vqvae-64", "cpu").codebook_size == 64


@pytest.mark.slow
def test_published_repository_can_be_downloaded(tmp_path: Path) -> None:
    """Uploaded to a hub on this machine. Large files go another way there than to the real one."""
    script = (
        "import sys; from pathlib import Path; from training.publish import upload;"
        "print(upload('someone/earshot', Path(sys.argv[1])))"
    )
    load = (
        "from earshot import VoiceConversion;"
        "VoiceConversion.from_pretrained('someone/earshot/vqvae-64', 'cpu')"
    )
    chosen = tmp_path / "checkpoints"
    for name in ("vqvae-64", "vocoder"):
        shutil.copytree(CHECKPOINTS / name, chosen / name)
    (tmp_path / "hub").mkdir()
    with serve("someone/earshot", tmp_path / "hub") as address:
        environment = {
            "HF_HOME": str(tmp_path / "cache"),
            "HF_ENDPOINT": address,
            "HF_TOKEN": "hf_nobody",
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT),
            "OMP_NUM_THREADS": "1",  # others would wait for each other by spinning
        }
        for command in ([sys.executable, "-c", script, str(chosen)], [sys.executable, "-c", load]):
            subprocess.run(command, cwd=tmp_path, env=environment, check=True)
    assert "someone/earshot/vqvae-512" in (tmp_path / "hub" / "README.md").read_text()
