"""The systems that files register, and the offers of tabs."""

from pathlib import Path

import pytest

from earshot.app import site
from earshot.core.errors import InputError
from earshot.systems.registry import TASKS, load_board, system
from earshot.systems.voice_conversion import settings

PLUG_IN = """
from earshot.systems.registry import system

@system("words", "mine", "My words")
class Mine:
    pass
"""


def test_every_task_offers_a_system(tiny_checkpoints: Path) -> None:
    board = load_board()
    assert all(board.offer(task) for task in TASKS)
    assert all(board.offer(task, tiny_checkpoints) for task in TASKS)


def test_shipped_names_are_those_of_the_library(tiny_checkpoints: Path) -> None:
    offer = load_board().offer("voice_conversion", tiny_checkpoints)
    assert [*offer.labels] == [*settings.MODELS]


def test_systems_without_checkpoints_are_not_offered(tmp_path: Path) -> None:
    assert not any(load_board().offer(task, tmp_path) for task in TASKS)


def test_each_system_loads_once(tiny_checkpoints: Path) -> None:
    """A model is loaded on first use; models of one checkpoint share its networks."""
    offer = load_board().offer("voice_conversion", tiny_checkpoints, "cpu")
    assert offer("vqvae-64") is offer("vqvae-64")
    assert offer() is offer("continuous")
    assert offer("units-64").networks is offer("continuous").networks
    with pytest.raises(InputError, match="no model 'vqvae-65' here, only continuous"):
        offer("vqvae-65")


def test_named_model_replaces_the_shipped_one(tmp_path: Path) -> None:
    other = site._named_sound_search([str(tmp_path / "nowhere")], "cpu")
    assert other
    with pytest.raises(OSError, match="nowhere"):
        other()


def test_files_of_a_folder_are_run_in_order(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(PLUG_IN)
    (tmp_path / "b.py").write_text(PLUG_IN.replace("My words", "Again"))
    (tmp_path / "notes.txt").write_text("no Python")
    offer = load_board(tmp_path).offer("words")
    assert offer.plugged == {"mine": "Again"}
    assert not offer and offer.any("mine").label == "Again"


def test_system_of_unknown_task_is_refused() -> None:
    with pytest.raises(ValueError, match="no task 'word': choose one of voice_conversion, words"):
        system("word", "mine")


def test_decorator_leaves_what_it_decorates() -> None:
    """Outside of the app, a file can be imported and its classes used."""
    assert system("words", "mine")(dict) is dict
