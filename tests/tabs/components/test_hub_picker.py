"""The choice of models of the hub: which ids it takes, and what it keeps."""

from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import gradio as gr
import pytest
from safetensors import SafetensorError

from earshot.core.errors import InputError
from earshot.pretrained.hub import HubPermission
from earshot.tabs.components import hub_picker as picker
from earshot.tabs.components.hub_picker import HubModels, Kind, hub_picker

KIND = Kind(("clap",), {"lab/one": "1 GB", "lab/two": "1 GB", "lab/three": "2 GB"})


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was fetched, in order."""
    names: list[str] = []
    monkeypatch.setattr(picker, "fetch", lambda name, *_: names.append(name) or Path(name))
    return names


def models(permission: HubPermission = HubPermission()) -> HubModels[str]:  # noqa: B008  (frozen)
    return HubModels(KIND, permission, lambda name, folder: f"model {name}")


def test_hub_models_keep_last_two(loaded: list[str]) -> None:
    """They say which model is gone."""
    hub = models()
    for name in ("lab/one", "lab/two", "lab/two", "lab/three"):
        assert hub.load(name) == f"model {name}"
    assert loaded == ["lab/one", "lab/two", "lab/three"]
    assert hub("lab/two") == "model lab/two"
    with pytest.raises(InputError, match="lab/one is not loaded"):
        hub("lab/one")


def test_damaged_model_takes_no_place(loaded: list[str]) -> None:
    def load(name: str, folder: Path) -> str:
        if name == "lab/three":
            raise OSError
        return name

    hub = HubModels(KIND, HubPermission(), load)
    for name in ("lab/one", "lab/two"):
        hub.load(name)
    with pytest.raises(InputError, match="not whole"):
        hub.load("lab/three")
    assert hub("lab/one") == "lab/one"


def test_hub_models_take_only_permitted_ids(loaded: list[str]) -> None:
    assert models(HubPermission(any_id=True)).load("me/mine") == "model me/mine"
    with pytest.raises(InputError, match="one of these: lab/one, lab/two"):
        models().load("me/mine")
    with pytest.raises(InputError, match="switched off"):
        models(HubPermission("It is switched off.")).load("lab/one")
    assert loaded == ["me/mine"]


@pytest.mark.parametrize(
    "error", [OSError(), UnpicklingError(), SafetensorError(), TypeError(), RecursionError()]
)
def test_damaged_hub_models_say_so(loaded: list[str], error: Exception) -> None:
    def fail(name: str, folder: Path) -> str:
        raise error

    with pytest.raises(InputError, match="lab/one cannot be loaded: its files are not whole"):
        HubModels(KIND, HubPermission(), fail).load("lab/one")


@pytest.mark.parametrize("name", [5, None, [], {}, " "])
def test_hub_models_ask_for_missing_id(loaded: list[str], name: Any) -> None:
    with pytest.raises(InputError, match="Choose a model first"):
        models().load(name)


def test_hub_picker_lists_ours_first() -> None:
    """Where it is not offered, the page says why."""
    with gr.Blocks() as page:
        offered = hub_picker(models(), "Model", "Ours")
        assert hub_picker(models(HubPermission("There is no GPU.")), "Model") is None
    assert offered and offered.name.value == ""
    assert not offered.name.allow_custom_value
    assert "There is no GPU." in str(page.get_config_file())
