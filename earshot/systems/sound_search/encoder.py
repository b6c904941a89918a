"""Encoders of sounds and texts as unit vectors, whose inner product is their similarity: our
checkpoints, and CLAP models of transformers (such as laion/clap-htsat-unfused)."""

import hashlib
import json
import math
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from earshot.core.paths import CHECKPOINTS
from earshot.media.audio import effects_features, sound_features
from earshot.models.sound_search import effects_embedder
from earshot.models.sound_search.effects_embedder import EffectsEmbedder, EffectsEmbedderConfig
from earshot.models.sound_search.sound_embedder import (
    KINDS_SHARE,
    SoundEmbedder,
    SoundEmbedderConfig,
)
from earshot.pretrained.accelerator import choose_device, lent
from earshot.pretrained.checkpoint import (
    is_hub_id,
    kind_of,
    load_weights,
    local,
    locate,
    read_config,
    unusable,
)
from earshot.pretrained.sound_search import (
    EFFECTS_WHEEL,
    EffectsEncoder,
    SentenceEncoder,
    load_effects_cnn,
)
from earshot.sound_index.embedding import AudioEmbedding, SoundEncoder

if TYPE_CHECKING:
    from transformers import ClapModel, ClapProcessor

DEFAULT_MODEL: Final = tuple(CHECKPOINTS / name for name in ("sound-cnn", "sound-effects"))
BATCH: Final = 8  # segments
MAX_TOKENS: Final = 77  # of a text, as in CLAP's training
FRAMES_PER_SECOND: Final = sound_features.SAMPLE_RATE // sound_features.HOP_LENGTH
# The constants that vectors depend on, in the order and groups of fingerprints that indexes hold.
SOUND_FEATURES: Final = "FLOOR HOP_LENGTH MIN_SECONDS N_FFT N_MELS SAMPLE_RATE SEGMENT_SECONDS"
EFFECTS_FEATURES: Final = (
    "COMPRESSION HOP_LENGTH MAX_LEVEL N_FFT N_MELS SAMPLE_RATE THEIR_N_FFT THEIR_RATE"
)
EFFECTS_CNN: Final = "BLOCK BLOCK_HOP CHANNELS CLASSIFIERS N_OUTPUTS STEP"
EFFECTS_EMBEDDER: Final = (
    "CATEGORY_SCALE CATEGORY_SHARE CHANNELS CLASSIFIERS CODED GROUP_SCALE KINDS_SHARE "
    "MIN_PROBABILITY N_CATEGORIES N_OUTPUTS PHRASE_SCALE"
)


class LogMelMember:
    """A network over log-mel spectrograms."""

    def __init__(self, network: SoundEmbedder, device: torch.device) -> None:
        self.network, self._device = network, device

    def embed_audio(self, segments: np.ndarray) -> tuple[Tensor, Tensor]:
        """Embed segments (N, T'): unit vectors (N, D), and of each second (N, S, D)."""
        mel = torch.from_numpy(sound_features.log_mel(segments)).to(self._device)
        return self.network.embed_parts(mel, FRAMES_PER_SECOND)

    def fingerprint(self) -> bytes:
        """Name everything but the weights that vectors depend on."""
        # Indexes that were made when fields had other names remain valid.
        config = repr(self.network.config).replace("std=", "deviation=")
        return f"{config}{KINDS_SHARE if self.network.config.holds_kinds else ''}".encode()


class EffectsMember:
    """A network over a pretrained encoder of sound effects."""

    def __init__(self, network: EffectsEmbedder, device: torch.device) -> None:
        """Load the encoder too. Raises CheckpointError as load_effects_cnn does."""
        self.network, self._encode = network, EffectsEncoder(load_effects_cnn(str(device)), device)

    def embed_audio(self, segments: np.ndarray) -> tuple[Tensor, Tensor]:
        """Embed segments (N, T'): unit vectors (N, D), and of each second (N, S, D)."""
        whole, seconds = self._encode(segments)
        single = (each.flatten(0, 1)[:, None] for each in seconds)
        per_second = self.network.embed_blocks(*single)
        return self.network.embed_blocks(*whole), per_second.unflatten(0, seconds[0].shape[:2])

    def fingerprint(self) -> bytes:
        """Name everything but the weights that vectors depend on."""
        groups = (
            _constants(effects_features, EFFECTS_FEATURES),
            _constants(effects_embedder, EFFECTS_CNN),
            _constants(effects_embedder, EFFECTS_EMBEDDER),
        )
        constants = json.dumps(groups, sort_keys=True)
        return f"{self.network.config}{EFFECTS_WHEEL.sha256}{constants}".encode()


Member = LogMelMember | EffectsMember


class EarshotEncoder:
    """One or more of our checkpoints. Several form an ensemble (Primus et al. 2023, section 3):
    the inner product of their concatenated vectors is the mean of their scores. Where a sentence is
    like no kind that a member knows, the others count more."""

    sample_rate: int = sound_features.SAMPLE_RATE

    def __init__(
        self,
        members: dict[str, Member],
        sentences: SentenceEncoder,
        threshold: float,
        own_threshold: float,
    ) -> None:
        self.name = " + ".join(members)
        self.threshold, self.own_threshold = threshold, own_threshold
        self.dimension = sum(m.network.config.dimension for m in members.values())
        self.fingerprint = _fingerprint(members, sentences.name)
        self._members = list(members.values())
        self._sentences, self._device = sentences, sentences.device

    @classmethod
    def from_pretrained(
        cls, folders: str | Path | Sequence[str | Path], device: str = "auto"
    ) -> "EarshotEncoder":
        """Load one or more checkpoints: names of shipped ones, folders or hub ids.

        Raises FileNotFoundError where there is none, CheckpointError for one that is of another
        task or cannot be used, or whose encoder cannot be downloaded, ValueError when their
        sentence encoders differ.
        """
        names = [folders] if isinstance(folders, str | Path) else list(folders)
        target = choose_device(device)
        members, encoders, thresholds, own = {}, set(), [], []
        for folder in map(locate, names):
            config = read_config(folder)
            kind_of(folder, config, "sound search", ["sentence_encoder"])
            members[folder.name] = _member(folder, config["network"], target)
            encoders.add(config["sentence_encoder"])
            thresholds.append(config["threshold"])
            own += [config["own_threshold"]] if "own_threshold" in config else []
        if len(encoders) != 1:
            raise ValueError(f"An ensemble needs one sentence encoder, not {sorted(encoders)}.")
        sentences = SentenceEncoder(encoders.pop(), target)
        return cls(
            members, sentences, float(np.mean(thresholds)), float(np.mean(own or thresholds))
        )

    def segments(self, waveform: np.ndarray) -> np.ndarray:
        """Cut equal segments of at most 10 s that cover the peak-normalised sound: (T,) → (N,
        T').
        """
        return sound_features.split(waveform)

    @torch.inference_mode()
    def embed_audio(self, segments: np.ndarray) -> AudioEmbedding:
        """Embed segments (N, T') as `segments` gives them."""
        vectors, per_second = [], []
        for first in range(0, len(segments), BATCH):
            batch = segments[first : first + BATCH]
            whole, parts = zip(*(m.embed_audio(batch) for m in self._members), strict=True)
            vectors.append(_concatenated(whole))
            per_second.append(_concatenated(parts))
        return AudioEmbedding(np.concatenate(vectors), np.concatenate(per_second))

    def embed_sentences(self, texts: Sequence[str]) -> np.ndarray:
        """Embed n texts by the sentence encoder alone, to compare them with each other: unit
        vectors, float32 (n, width)."""
        return self._sentences(texts)

    @torch.inference_mode()
    def embed_text(self, texts: Sequence[str]) -> np.ndarray:
        """Embed n texts: (n, D)."""
        sentences = torch.from_numpy(self._sentences(texts)).to(self._device)
        networks = [member.network for member in self._members]
        weights = torch.stack([network.familiarity(sentences) for network in networks]).sqrt()
        vectors = [network.embed_sentences(sentences) for network in networks]
        joined = torch.cat([w * v for w, v in zip(weights, vectors, strict=True)], dim=-1)
        return F.normalize(joined, dim=-1).cpu().numpy()


def _member(folder: Path, config: dict[str, Any], device: torch.device) -> Member:
    """Load the network of a checkpoint, with its encoder. Raises CheckpointError."""
    try:
        if "n_groups" in config:
            network = EffectsEmbedder(EffectsEmbedderConfig(**config))
        else:
            network = SoundEmbedder(SoundEmbedderConfig.from_dict(config))
    except (TypeError, ValueError, KeyError, RuntimeError) as error:
        raise unusable(folder, "its config.json describes no network") from error
    load_weights(network, folder, device)
    if isinstance(network, EffectsEmbedder):
        return EffectsMember(network, device)
    return LogMelMember(network, device)


def _concatenated(vectors: Sequence[torch.Tensor]) -> np.ndarray:
    """Concatenate the members' unit vectors to one unit vector: (…, D) each → (…, sum of D)."""
    return torch.cat(list(vectors), dim=-1).div(len(vectors) ** 0.5).cpu().numpy()


def _constants(module: ModuleType, names: str) -> dict[str, Any]:
    """Collect constants of a module by their names."""
    return {name: getattr(module, name) for name in names.split()}


def _fingerprint(members: dict[str, Member], sentence_encoder: str) -> str:
    # Indexes that were made when constants had other names remain valid.
    constants = {
        name.replace("MIN_SECONDS", "SHORTEST_SECONDS"): value
        for name, value in _constants(sound_features, SOUND_FEATURES).items()
    }
    digest = hashlib.sha256(json.dumps([constants, sentence_encoder], sort_keys=True).encode())
    for member in members.values():
        digest.update(member.fingerprint())
        for weight in member.network.state_dict().values():
            digest.update(weight.cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()


class ClapEncoder:
    """A ClapModel as a SoundEncoder."""

    threshold: float = -1.0  # not calibrated: every query has a match
    own_threshold: float = -1.0

    def __init__(self, name: str, model: "ClapModel", processor: "ClapProcessor") -> None:
        self.name = name
        self._model = model
        self._features = processor.feature_extractor
        self._tokenizer = processor.tokenizer
        self.sample_rate: int = self._features.sampling_rate
        self.dimension: int = model.config.projection_dim
        self.fingerprint = self._fingerprint()
        self._embed_batch = lent(f"{self.fingerprint} sounds", self._embed)
        self._embed_texts = lent(f"{self.fingerprint} texts", self._encode)

    @classmethod
    def from_pretrained(cls, name: str | Path, device: str = "auto") -> "ClapEncoder":
        """Load a folder that transformers saved, or a hub id. Raises OSError when it is neither."""
        from transformers import ClapModel, ClapProcessor  # late, for they take seconds

        model = ClapModel.from_pretrained(name).eval()
        nn.Module.to(model, choose_device(device, large=True))
        return cls(Path(name).name, model, ClapProcessor.from_pretrained(name))

    def segments(self, waveform: np.ndarray) -> np.ndarray:
        """Cut equal segments, none longer than the model's input: (T,) → (N, T')."""
        n_segments = max(1, math.ceil(len(waveform) / self._features.nb_max_samples))
        length = max(math.ceil(len(waveform) / n_segments), self.sample_rate)
        padded = np.pad(waveform, (0, n_segments * length - len(waveform)))
        return padded.reshape(n_segments, length).astype(np.float32)

    def embed_audio(self, segments: np.ndarray) -> AudioEmbedding:
        """Embed segments (N, T') and their seconds, in one forward pass."""
        parts = [self._embed_batch(segments[i : i + BATCH]) for i in range(0, len(segments), BATCH)]
        vectors, per_second = (np.concatenate(part) for part in zip(*parts, strict=True))
        return AudioEmbedding(
            vectors, per_second[:, : math.ceil(segments.shape[1] / self.sample_rate)]
        )

    def embed_text(self, texts: Sequence[str]) -> np.ndarray:
        """Embed n texts: (n, D)."""
        return self._embed_texts(list(texts))

    @torch.inference_mode()
    def _encode(self, texts: list[str]) -> np.ndarray:
        tokens = self._tokenizer(
            texts,
            padding=True,
            truncation=True,
            max_length=MAX_TOKENS,
            return_tensors="pt",
        ).to(self._model.device)
        outputs = self._model.text_model(**tokens)
        return _unit(self._model.text_projection(outputs.pooler_output))

    @torch.inference_mode()
    def _embed(self, segments: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Embed segments (B, T') as unit vectors (B, D), and as (B, S, D) of every second of the
        model's input.
        """
        inputs = self._features(
            list(segments), sampling_rate=self.sample_rate, return_tensors="pt"
        ).to(self._model.device)
        # The extractor of fused models marks a random clip as longer than its input: none is.
        outputs = self._model.audio_model(
            inputs["input_features"], is_longer=torch.zeros_like(inputs["is_longer"])
        )
        states = outputs.last_hidden_state.mean(dim=2)  # over frequency: (B, C, steps)
        per_second = F.adaptive_avg_pool1d(states, self._features.max_length_s).transpose(1, 2)
        project = self._model.audio_projection
        return _unit(project(outputs.pooler_output)), _unit(project(per_second))

    def _fingerprint(self) -> str:
        digest = hashlib.sha256(self._features.to_json_string().encode())
        for name, weight in sorted(self._model.state_dict().items()):
            digest.update(name.encode())
            digest.update(weight.cpu().contiguous().numpy().tobytes())
        return digest.hexdigest()


def _unit(vectors: torch.Tensor) -> np.ndarray:
    return F.normalize(vectors.float(), dim=-1).cpu().numpy()


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
    from transformers import PreTrainedConfig  # late, for it takes seconds

    try:
        config, _ = PreTrainedConfig.get_config_dict(name)
    except OSError as error:
        message = f"{name} is neither a checkpoint folder nor a hub id that can be reached."
        raise FileNotFoundError(message) from error
    return config.get("model_type") == "clap"
