"""The encoder of sound search, by the name of its checkpoint or hub model."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from transformers import PreTrainedConfig

from earshot.core.paths import CHECKPOINTS
from earshot.pipelines.sound_search.encoders.clap import ClapEncoder
from earshot.pipelines.sound_search.encoders.encoder import EarshotEncoder, SoundEncoder

ENSEMBLE: Final = tuple(CHECKPOINTS / name for name in ("sound-cnn", "sound-passt"))
DEFAULT_MODEL: Final = ENSEMBLE[:1]  # as good as the ensemble on validation, and faster


def load_encoder(
    model: str | Path | Sequence[str | Path] = DEFAULT_MODEL, device: str = "auto"
) -> SoundEncoder:
    """Load our checkpoints (several form an ensemble) or one CLAP model: names of shipped ones,
    folders or hub ids.

    Raises OSError where there is no such model, CheckpointError for a checkpoint of another task.
    """
    names = [model] if isinstance(model, str | Path) else list(model)
    if len(names) == 1 and _is_clap(names[0]):
        return ClapEncoder.from_pretrained(names[0], device)
    return EarshotEncoder.from_pretrained(names, device)


def _is_clap(name: str | Path) -> bool:
    folder = Path(name)
    if not (folder / "config.json").exists() and (CHECKPOINTS / folder / "config.json").exists():
        return False  # one that is shipped
    if len(folder.parts) == 3 and not folder.exists():
        return False  # USER/REPO/NAME: a folder of a hub repository, which only ours have
    config, _ = PreTrainedConfig.get_config_dict(name)
    return config.get("model_type") == "clap"
