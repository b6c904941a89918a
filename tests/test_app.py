"""Options, import, and what the page does where models are missing."""

import subprocess
import sys
from pathlib import Path

import pytest

import app
from tabs import voice_conversion
from tabs.shared.page import model_cards

ROOT = Path(__file__).parent.parent


def test_defaults() -> None:
    chosen = app.options([], {})
    assert (chosen.host, chosen.port, chosen.device) == (None, None, "auto")
    assert not chosen.share and not chosen.preload
    assert chosen.max_queue == 20


def test_the_environment_stands_in_for_options() -> None:
    environment = {
        "EARSHOT_HOST": "0.0.0.0",
        "EARSHOT_PORT": "8000",
        "EARSHOT_DEVICE": "cpu",
        "EARSHOT_MAX_QUEUE": "3",
        "EARSHOT_SOUND_MODEL": "laion/clap-htsat-unfused",
        "EARSHOT_STUDIES": "/my tests",
        "EARSHOT_DATABASE": "postgresql+pg8000://me@here/answers",
        "EARSHOT_SHARE": "1",
        "EARSHOT_PRELOAD": "true",
    }
    chosen = app.options([], environment)
    assert (chosen.host, chosen.port, chosen.device) == ("0.0.0.0", 8000, "cpu")
    assert chosen.share and chosen.preload and chosen.max_queue == 3
    assert chosen.sound_model == ["laion/clap-htsat-unfused"]
    assert chosen.studies == "/my tests" and chosen.database.endswith("/answers")
    assert app.options(["--port", "9000"], environment).port == 9000


@pytest.mark.parametrize("value", ["0", "false", ""])
def test_switches_can_be_off(value: str) -> None:
    assert not app.options([], {"EARSHOT_SHARE": value}).share


@pytest.mark.parametrize(("name", "value"), [("DEVICE", "tpu"), ("PORT", "http")])
def test_bad_values_in_the_environment_are_refused(name: str, value: str) -> None:
    with pytest.raises(SystemExit):
        app.options([], {f"EARSHOT_{name}": value})


def test_importing_the_app_loads_no_model_library() -> None:
    # How long it takes: benchmarks/start.py.
    script = (
        "import app, sys;"
        "print({'torch', 'librosa', 'scipy', 'matplotlib', 'mediapipe', 'av'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert (run.returncode, run.stdout.strip()) == (0, "set()"), run.stderr


def test_a_pipeline_is_loaded_once_and_when_asked_for(tiny_checkpoints: Path) -> None:
    get = app.pipelines(tiny_checkpoints, "cpu")
    assert get("vqvae-64") is get("vqvae-64")
    with pytest.raises(FileNotFoundError):
        get("vqvae-1")


def test_sounds_are_searched_by_our_models_or_one_that_is_named(
    tiny_checkpoints: Path, tmp_path: Path
) -> None:
    assert app.sounds(tmp_path, "cpu", None) is None
    get = app.sounds(tiny_checkpoints, "cpu", None)
    other = app.sounds(tmp_path, "cpu", [str(tmp_path / "nowhere")])
    assert get and other
    assert get() is get()
    assert get().encoder.name == "sound-cnn"
    with pytest.raises(OSError, match="."):
        other()


def test_only_models_that_are_there_are_offered(tiny_checkpoints: Path, tmp_path: Path) -> None:
    names = list(voice_conversion.MODELS)
    assert app.available(tiny_checkpoints, names) == names
    assert app.available(tmp_path, names) == []


def test_without_a_checkpoint_the_tab_says_how_to_get_one(tmp_path: Path) -> None:
    page = app.build("cpu", tmp_path)
    texts = " ".join(str(getattr(block, "value", "")) for block in page.blocks.values())
    assert "python -m training.voice_conversion train" in texts
    assert "python -m training.sound_search train" in texts
    assert "Earshot" in texts


def test_model_cards_lose_their_front_matter_and_rank(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "README.md").write_text("---\nlicense: cc-by-4.0\n---\n# Model A\n")
    assert model_cards(tmp_path) == "### Model A"
    assert "No model" in model_cards(tmp_path / "a")
