"""Pretrained speech models of the Hugging Face hub, never trained on single words: the mean of a
layer's states over a word, by default of the one at three quarters of the depth.
"""

from earshot.systems.adapters import Transformers
from earshot.systems.registry import system

PAPER = "a mean of states: Sanabria, Tang and Goldwater 2022, arXiv:2210.16043"
MODELS = {
    "facebook/hubert-base-ls960": ("HuBERT base · downloads 0.4 GB", "Apache-2.0"),
    "microsoft/wavlm-base-plus": ("WavLM base+ · downloads 0.4 GB", "CC BY-SA 3.0"),
    "facebook/wav2vec2-base": ("wav2vec 2.0 base · downloads 0.4 GB", "Apache-2.0"),
    "UsefulSensors/moonshine-tiny": ("Moonshine tiny · downloads 0.1 GB", "MIT"),
}

for identifier, (label, licence) in MODELS.items():

    @system("words", identifier.rpartition("/")[2], label, hub=True, licence=licence, paper=PAPER)
    def speech_model(device: str, name: str = identifier) -> Transformers:
        """Load a model by its id."""
        return Transformers(name, device)
