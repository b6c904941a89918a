"""What voice conversion offers and where its limits are; needs no torch, so that tabs can ask."""

from typing import Final

from media.constants import SAMPLE_RATE

# Checkpoints with their units and units per second; the default first.
MODELS: Final = {
    "vqvae-512": (512, 50),
    "vqvae-256": (256, 25),
    "vqvae-128": (128, 25),
    "vqvae-64": (64, 25),
}
VOICES: Final = ("SF1", "TF2", "SM1", "TM3", "S1")
DEFAULT_VOICE: Final = "TF2"
VOCODERS: Final = ("griffin-lim", "neural")  # the default first
MAX_SECONDS: Final = 60.0
PCM_BITS: Final = 16 * SAMPLE_RATE  # bit/s of 16-bit PCM, which the units are compared with
MUTED: Final = -1  # in place of a unit: silence for as long
