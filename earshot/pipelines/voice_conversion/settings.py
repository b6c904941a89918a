"""What voice conversion offers and where its limits are; needs no torch, so that tabs can ask."""

from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Final

from earshot.media.constants import SAMPLE_RATE

CONTINUOUS: Final = "continuous"
ANY_VOICE: Final = "any-voice"  # the checkpoint of all models but those called vqvae


@dataclass(frozen=True)
class Model:
    """What a model is made of: checkpoint, its folder; unit_bits, bit/s of its units, infinite
    where it has content that is not quantised."""

    checkpoint: str
    unit_bits: float


# The default first, then ever fewer bits.
MODELS: Final = {
    CONTINUOUS: Model(ANY_VOICE, inf),
    "units-512x3": Model(ANY_VOICE, 1350.0),
    "units-512x2": Model(ANY_VOICE, 900.0),
    "units-512": Model(ANY_VOICE, 450.0),
    "units-256": Model(ANY_VOICE, 400.0),
    "units-128": Model(ANY_VOICE, 350.0),
    "units-64": Model(ANY_VOICE, 300.0),
    "vqvae-512": Model("vqvae-512", 450.0),
    "vqvae-256": Model("vqvae-256", 200.0),
    "vqvae-128": Model("vqvae-128", 175.0),
    "vqvae-64": Model("vqvae-64", 150.0),
}
LIVE: Final = (ANY_VOICE, "vqvae-512")  # checkpoints that convert live: the first that is there
# What configs name, for whoever must know before a model is loaded (tests/test_checkpoints.py).
VQVAE_VOICES: Final = ("SF1", "TF2", "SM1", "TM3", "S1")
VOICES: Final = (*VQVAE_VOICES, "Nell", "Odile", "Vera", "Heart")
DEFAULT_VOICE: Final = "TF2"
VOCODERS: Final = ("neural", "griffin-lim")  # the default first
INTONATIONS: Final = ("keep", "predicted")  # the default first
LOUDNESS: Final = ("level", "source")  # that of the model, or of the source
MAX_SECONDS: Final = 60.0
REFERENCE_SECONDS: Final = (10.0, 30.0)  # of a recording that a voice is made from
OF_RECORDING: Final = "the voice of a recording"  # what such a voice is called
PCM_BITS: Final = 16 * SAMPLE_RATE  # bit/s of 16-bit PCM, which the units are compared with
MUTED: Final = -1  # in place of a unit: silence for as long


def live_checkpoint(folder: Path) -> Path:
    """The checkpoint in a folder of them that converts live; where there is none, the first."""
    found = (folder / name for name in LIVE if (folder / name / "config.json").exists())
    return next(found, folder / LIVE[0])
