"""The encoder of sound search, by the name of its checkpoint or hub model."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from transformers import PreTrainedConfig

from earshot.core.paths import CHECKPOINTS
from earshot.pretrained.checkpoint import is_hub_id, local, read_config
from earshot.sound_index.embedding import SoundEncoder
from earshot.systems.sound_search.encoders.clap import ClapEncoder
from earshot.systems.sound_search.encoders.encoder import EarshotEncoder

DEFAULT_MODEL: Final = tuple(CHECKPOINTS / name for name in ("sound-cnn", "sound-effects"))


def load_encoder(
    model: str | Path | Sequence[str | Path] = DEFAULT_MODEL, device: str = "auto"
) -> SoundEncoder:
    """Load our checkpoints (several form an ensemble) or one CLAP model: names of shipped ones,
    folders or hub ids.

    Raises FileNotFoundError where there is no such model, CheckpointError for a checkpoint of
    another task.
    """
    names = [model] if isinstance(model, str | Path) else list(model)
    if len(names) == 1 and _is_clap(names[0]):
        return ClapEncoder.from_pretrained(names[0], device)
    return EarshotEncoder.from_pretrained(names, device)


def _is_clap(name: str | Path) -> bool:
    if folder := local(name):
        return read_config(folder).get("model_type") == "clap"
    if not is_hub_id(name) or len(Path(name).parts) == 3:
        return False  # USER/REPO/NAME: a folder of a hub repository, which only ours have
    try:
        config, _ = PreTrainedConfig.get_config_dict(name)
    except OSError as error:
        message = f"{name} is neither a checkpoint folder nor a hub id that can be reached."
        raise FileNotFoundError(message) from error
    return config.get("model_type") == "clap"
