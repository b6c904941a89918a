"""The choices of voice conversion and its limits; needs no torch, so that tabs can ask."""

from pathlib import Path
from typing import Final

from earshot.media.constants import SAMPLE_RATE
from earshot.models.any_voice import CONTINUOUS as CONTINUOUS
from earshot.pretrained.voice import NAMES

ANY_VOICE: Final = "any-voice"  # the checkpoint of all models but those called vqvae

# The checkpoint of each model; the default first, then ever fewer bits.
MODELS: Final = {
    CONTINUOUS: ANY_VOICE,
    "units-512x3": ANY_VOICE,
    "units-512x2": ANY_VOICE,
    "units-512": ANY_VOICE,
    "units-256": ANY_VOICE,
    "units-128": ANY_VOICE,
    "units-64": ANY_VOICE,
    "vqvae-512": "vqvae-512",
    "vqvae-256": "vqvae-256",
    "vqvae-128": "vqvae-128",
    "vqvae-64": "vqvae-64",
}
LIVE: Final = (ANY_VOICE, "vqvae-512")  # checkpoints that convert live: the first that is there
# What configs name, for what needs them before a model is loaded (tests/test_checkpoints.py).
VQVAE_VOICES: Final = ("SF1", "TF2", "SM1", "TM3", "S1")
VOICES: Final = tuple(NAMES)
DEFAULT_VOICE: Final = "TF2"
VOCODERS: Final = ("neural", "griffin-lim")  # the default first
INTONATIONS: Final = ("keep", "predicted")  # the default first
LOUDNESS: Final = ("level", "source")  # that of the model, or of the source
NOBODY: Final = "nobody"  # a target that is drawn anew, of the models of ANY_VOICE
MAX_SECONDS: Final = 60.0
REFERENCE_SECONDS: Final = (10.0, 30.0)  # of a recording that a voice is made from
OF_RECORDING: Final = "the voice of a recording"  # what such a voice is called
PCM_BITS: Final = 16 * SAMPLE_RATE  # bit/s of 16-bit PCM, which the units are compared with
NO_SPEECH: Final = (
    "No speech was found in this recording: there is none in it, or other sounds cover it."
)
MUTED: Final = -1  # in place of a unit: silence for as long


def live_checkpoint(folder: Path) -> Path:
    """Find the checkpoint in a folder of them that converts live; where there is none, the
    first.
    """
    installed = (folder / name for name in LIVE if (folder / name / "config.json").exists())
    return next(installed, folder / LIVE[0])
