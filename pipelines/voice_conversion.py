"""Voice conversion: the systems that the tab offers, the default first.

The first seven stand on one checkpoint, ``any-voice``, whose networks are loaded once: content over
the states of a recogniser, as it is or in units of so many codebook vectors, spoken in any voice.
Each of the others is a VQ-VAE that discovered its units without text (Tjandra et al. 2020), with an
inverter to five voices.
"""

from pathlib import Path

import earshot
from earshot.systems.registry import system
from earshot.systems.voice_conversion.settings import MODELS

LABELS = {  # what the tab's menu shows, by the name of a model
    "continuous": "Continuous · keeps every word best",
    "units-512x3": "512 units, refined twice · 1350 bit/s",
    "units-512x2": "512 units, refined once · 900 bit/s",
    "units-512": "512 units, 50 a second · 450 bit/s",
    "units-256": "256 units, 50 a second · 400 bit/s",
    "units-128": "128 units, 50 a second · 350 bit/s",
    "units-64": "64 units, 50 a second · 300 bit/s",
    "vqvae-512": "Without text: 512 units, 450 bit/s, 5 voices",
    "vqvae-256": "Without text: 256 units, 200 bit/s, 5 voices",
    "vqvae-128": "Without text: 128 units, 175 bit/s, 5 voices",
    "vqvae-64": "Without text: 64 units, 150 bit/s, 5 voices",
}

for name, label in LABELS.items():

    @system("voice_conversion", name, label, needs=[MODELS[name]])
    def conversion(
        checkpoints: Path, device: str, model: str = name
    ) -> "earshot.systems.voice_conversion.Converter":
        """Load a model by its name; those of one checkpoint share its networks."""
        return earshot.VoiceConversion.from_pretrained(model, device, checkpoints)


@system(
    "voice_conversion",
    "linear",
    "LinearVC · a matrix",
    needs=["linear-vc", "any-voice-vocoder"],
    plug_in=True,
    paper="Kamper et al. 2025, arXiv:2506.01510",
    licence="CC BY-SA 4.0",
    trained_on="two minutes of each voice, in closed form",
)
def linear(checkpoints: Path, device: str) -> "earshot.systems.voice_conversion.linear.LinearVC":
    """Load a matrix a voice over the recogniser's states, and the vocoder."""
    from earshot.systems.voice_conversion.linear import LinearVC  # late, for it loads torch

    return LinearVC.load(checkpoints / "linear-vc", device)
