"""Embed files on the machines of a Ray cluster, an optional extra.

The machines see the files under the same names, or fetch them from a bucket.
"""

import io
import math
import os
from collections.abc import Callable, Collection
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import numpy as np

from earshot.core.errors import InputError
from earshot.core.files import file_hash, replacing
from earshot.sound_index.address import UnreachableError
from earshot.sound_index.embedding import SoundEncoder, embed_file
from earshot.sound_index.files import Hashes, fetched
from earshot.sound_index.index import SoundIndex

BATCH: Final = 16  # files that a worker takes at once, and that are lost when its machine is
COLUMNS: Final = ("item", "digest", "entry", "lost")  # of what a worker returns
MISSING: Final = (
    "Ray is not installed here. Install it with: pip install -r requirements-scale.txt, or the "
    "wheel with its extra [scale]."
)


class Workers:
    """Workers that embed on a cluster what an index does not know yet, and keep it where a scan
    looks.

    address: of the cluster, "auto" for that of this machine; "local" starts one here.
    encoder: makes the same model on each worker.
    """

    def __init__(self, address: str, encoder: Callable[[], SoundEncoder]) -> None:
        """Connect to the cluster. Raises InputError where Ray is not installed, or no cluster runs
        at the address.
        """
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # no reports of use to Ray's makers
        try:
            ray = import_module("ray")
        except ModuleNotFoundError as error:
            raise InputError(MISSING) from error
        try:
            ray.init(address, ignore_reinit_error=True, include_dashboard=False)
        except ConnectionError as error:
            raise InputError(f"There is no Ray cluster at “{address}”: {error}") from error
        self._encoder = encoder

    def __call__(self, index: SoundIndex, files: list[Path], cache: Path, hashes: Hashes) -> None:
        """Write an entry to the cache for each file whose content neither of them holds, and all
        hashes. Files that cannot be used are left to the scan, which says why. Raises
        UnreachableError for a bucket that a worker cannot read."""
        ray, data = import_module("ray"), import_module("ray.data")
        cache.mkdir(parents=True, exist_ok=True)
        digests = {bytes.fromhex(path.stem) for path in cache.glob("*.npz")}
        digests |= {bytes.fromhex(sound.content_hash) for sound in index.sounds}
        files = [path for path in files if not _is_in(digests, hashes.get(path))]
        if not files:
            return
        # A block is what is computed again when a machine is lost.
        blocks = max(1, math.ceil(len(files) / BATCH))
        paths = data.from_items([str(path) for path in files], override_num_blocks=blocks)
        cores = max(1, int(ray.cluster_resources().get("CPU", 1)))
        done = paths.map_batches(
            _Worker,
            fn_constructor_args=(self._encoder, ray.put(frozenset(digests))),
            batch_size=BATCH,
            batch_format="numpy",
            compute=data.ActorPoolStrategy(min_size=1, max_size=cores),
            num_cpus=1,
        )
        for batch in done.iter_batches(batch_size=None, batch_format="numpy"):
            rows = zip(*(batch[column] for column in COLUMNS), strict=True)
            for name, digest, packed, lost in rows:
                if lost:
                    raise UnreachableError(lost)
                if packed:
                    with replacing(cache / f"{digest}.npz") as file:
                        file.write(packed)
                if digest:
                    hashes[Path(name)] = digest


class _Worker:
    """A process of the cluster, with a model of its own."""

    def __init__(self, encoder: Callable[[], SoundEncoder], embedded: Any) -> None:
        """Load the model. embedded: a reference to the hashes of what need not be embedded."""
        self._encoder, self._embedded = encoder(), import_module("ray").get(embedded)

    def __call__(self, batch: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Embed a batch. item: paths → the hash of each file's content, its entry, empty where it
        is known or cannot be used, and why its bucket cannot be read, if so.
        """
        done = [(name, *self._embed(Path(name))) for name in batch["item"]]
        columns = zip(*done, strict=True)
        return {
            column: np.array(values, object)
            for column, values in zip(COLUMNS, columns, strict=True)
        }

    def _embed(self, path: Path) -> tuple[str, bytes, str]:
        try:
            with fetched(path) as file:
                digest = file_hash(file)
                if _is_in(self._embedded, digest):
                    return digest, b"", ""
                return digest, _packed(self._encoder, file, digest), ""
        except UnreachableError as error:
            return "", b"", str(error)
        except (InputError, OSError):
            return "", b"", ""


def _is_in(digests: Collection[bytes], digest: str | None) -> bool:
    return digest is not None and bytes.fromhex(digest) in digests


def _packed(encoder: SoundEncoder, path: Path, digest: str) -> bytes:
    buffer = io.BytesIO()
    embed_file(encoder, path, digest)[0].pack(buffer)
    return buffer.getvalue()
