"""Models of the Hugging Face hub: who may choose which, their download, and how they are loaded."""

import json
import re
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from earshot.core import cancellation
from earshot.core.errors import InputError
from earshot.core.json_limits import check_json
from earshot.pretrained.accelerator import ZERO_GPU

if TYPE_CHECKING:
    import torch

GB: Final = 1_000_000_000
MAX_MODEL_BYTES: Final = 3 * GB  # half a GPU of 16 GB in single precision, with room to run
MIN_FREE_BYTES: Final = 5 * GB  # of the disk, after a download
# The largest in a config.json, by the end of its key: large models have half as much.
MAX_SIZES: Final = {
    "layers": 100,
    "depths": 100,
    "kernel": 1_000,
    "stride": 1_000,
    "vocab_size": 500_000,
    "size": 10_000,
    "dim": 10_000,
}
MAX_NUMBER: Final = 1_000_000
ID: Final = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}")
SETTINGS: Final = re.compile(r"[\w.-]+\.(json|txt|model)")
# Safetensors hold numbers only; old models have the others, read by torch with weights_only.
WEIGHTS: Final = (r"model[\w.-]*\.safetensors", r"pytorch_model[\w.-]*\.bin")
GPU: Final = Path("/dev/nvidia0")  # that of a Space with a GPU of its own
NO_SUCH_MODEL: Final = (401, 403, 404)  # answers of the hub

Report = Callable[[int, int], None]  # bytes that are here, and of all


@dataclass(frozen=True)
class HubPermission:
    """A server's permission of models of the hub: refusal is why visitors may load none, "" where
    they may.
    """

    refusal: str = ""

    @classmethod
    def of(cls, off: bool, environment: Mapping[str, str]) -> "HubPermission":
        """Decide for a server whether visitors may load models. On a Space without a GPU these
        models are too slow for its visitors.
        """
        if off:
            return cls("Whoever runs this server has switched off models of the hub.")
        if "SPACE_ID" in environment and not ZERO_GPU and not GPU.exists():
            return cls(
                "Models of the hub are offered where there is a GPU, and this Space has none. "
                "Run Earshot on a machine of your own to hear them."
            )
        return cls()


def fetch(name: str, kinds: Collection[str], report: Report = lambda done, total: None) -> Path:
    """Fetch the folder of a model by its hub id: downloaded, or from the hub's cache when offline.

    Configuration and weights only, never code. kinds: the model types of transformers that will do.
    Raises InputError, before any weights are fetched, for what is no id, no such model or of
    another kind, for one that is too large for MAX_MODEL_BYTES or for the disk; and when offline.
    """
    if not ID.fullmatch(name):
        raise InputError(f"“{name[:100]}” is no id of a model. They look like user/model-name.")
    # Late, for they take a moment.
    from huggingface_hub import HfApi, constants, hf_hub_download
    from huggingface_hub.errors import (
        HfHubHTTPError,
        HTTPError,
    )

    api = HfApi()
    try:
        info = api.model_info(name, files_metadata=True, timeout=10, token=False)
        get = partial(hf_hub_download, name, revision=info.sha, token=False, endpoint=api.endpoint)
        sizes = {file.rfilename: file.size or 0 for file in info.siblings or ()}
        files = needed_files(sizes)
        config = Path(get("config.json"))
        _check_config(name, config, kinds)
        total, done = sum(sizes[file] for file in files), 0
        _check_size(name, total, Path(constants.HF_HUB_CACHE))
        for file in files:
            get(file, tqdm_class=_reporter(report, done, total))
            done += sizes[file]
            report(done, total)
        return config.parent
    except HfHubHTTPError as error:
        if error.response.status_code not in NO_SUCH_MODEL:
            return _cached(name, kinds, error)
        raise InputError(
            f"The hub has no open model {name}. Check its spelling, and that it needs no login."
        ) from error
    except (HTTPError, OSError) as error:
        return _cached(name, kinds, error)


def fetch_from_dataset(name: str, file: str) -> Path:
    """Fetch a file of a data set of ours to name, never a visitor's. Raises InputError when
    offline.
    """
    from huggingface_hub import HfApi, hf_hub_download
    from huggingface_hub.errors import HTTPError

    endpoint = HfApi().endpoint
    try:
        path = hf_hub_download(name, file, repo_type="dataset", token=False, endpoint=endpoint)
    except (HTTPError, OSError) as error:
        raise InputError(f"{file} of {name} cannot be downloaded. Check the network.") from error
    return Path(path)


def load_model(kind: Any, name: str | Path, **options: Any) -> Any:
    """Load a model, or what prepares its input, from a folder or by its hub id (offline: from the
    hub's cache). kind: a class of transformers, or one of its Auto classes.

    Raises FileNotFoundError, with a sentence, where there is none of that kind.
    """
    try:
        return kind.from_pretrained(name, trust_remote_code=False, **options)
    except (OSError, ValueError, KeyError) as error:
        raise FileNotFoundError(
            f"{name} cannot be loaded: it is no folder with such a model, and no model of the hub "
            "that can be reached. Check its name and the network."
        ) from error


def precision(device: "torch.device") -> "torch.dtype":
    """Choose half precision on a GPU, single elsewhere."""
    import torch  # late, for tabs import this module

    return torch.float16 if device.type == "cuda" else torch.float32


def needed_files(sizes: Mapping[str, int]) -> list[str]:
    """List the files of a repository that a model of transformers is loaded from.

    Raises InputError where there are no weights, or where their sizes are unknown.
    """
    kinds = [[name for name in sizes if re.fullmatch(kind, name)] for kind in WEIGHTS]
    weights = next(filter(None, kinds), [])
    if "config.json" not in sizes or not weights or any(not sizes[name] for name in weights):
        raise InputError("This is no model of transformers: it has no config.json, or no weights.")
    settings = [name for name in sizes if SETTINGS.fullmatch(name) and name not in weights]
    return [*settings, *weights]


def _check_config(name: str, path: Path, kinds: Collection[str]) -> None:
    """Raise InputError for a model of another kind, and for one whose layers no machine of ours
    could make, however small its weights are."""
    try:
        text = path.read_bytes()
        check_json(text)
        config = json.loads(text)
        kind = config.get("model_type")
    except (ValueError, AttributeError):
        config, kind = {}, None
    if not isinstance(kind, str) or kind not in kinds:
        raise InputError(f"{name} is of the kind {kind}; here it takes {' or '.join(kinds)}.")
    if any(_is_too_large(key, number) for key, number in _numbers("", config)):
        raise InputError(f"{name} has more layers, or wider ones, than a model of its kind may.")


def _numbers(key: str, value: Any) -> Iterator[tuple[str, float]]:
    """Yield all numbers in a config, each by the key that it, or its list, has."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _numbers(name, each)
    elif isinstance(value, list):
        for each in value:
            yield from _numbers(key, each)
    elif isinstance(value, int | float):
        yield key, value


def _is_too_large(key: str, number: float) -> bool:
    limit = next((size for ending, size in MAX_SIZES.items() if key.endswith(ending)), MAX_NUMBER)
    return not abs(number) <= limit  # nor what is no number


def _check_size(name: str, total: int, cache: Path) -> None:
    if total > MAX_MODEL_BYTES:
        raise InputError(
            f"{name} is {total / GB:.1f} GB to download. Choose one of at most "
            f"{MAX_MODEL_BYTES / GB:.0f} GB."
        )
    cache.mkdir(parents=True, exist_ok=True)
    if shutil.disk_usage(cache).free - total < MIN_FREE_BYTES:
        raise InputError(f"This machine's disk has no room for {name} ({total / GB:.1f} GB).")


def _reporter(report: Report, before: int, total: int) -> type:
    """Make a progress bar for the hub's client that reports bytes, and stops with the running
    job.
    """
    from tqdm import tqdm

    class Reporter(tqdm):
        def __init__(self, *args: Any, name: str = "", **kwargs: Any) -> None:
            self.bytes = int(kwargs.get("initial") or 0)
            super().__init__(*args, **kwargs | {"disable": True})

        def update(self, n: float | None = 1) -> None:
            cancellation.check()
            self.bytes += int(n or 0)
            report(min(before + self.bytes, total), total)

    return Reporter


def _cached(name: str, kinds: Collection[str], error: Exception) -> Path:
    """Find a whole model in the hub's cache. Raises InputError where there is none."""
    from huggingface_hub import constants

    snapshots = Path(constants.HF_HUB_CACHE) / f"models--{name.replace('/', '--')}" / "snapshots"
    for config in snapshots.glob("*/config.json"):
        if any(re.fullmatch(k, path.name) for k in WEIGHTS for path in config.parent.iterdir()):
            _check_config(name, config, kinds)
            return config.parent
    raise InputError(
        f"The hub cannot be reached, and {name} was not downloaded before. Check the network."
    ) from error
