"""CLAP models of the Hugging Face hub: sounds and sentences in one space."""

from earshot.systems.adapters import Transformers
from earshot.systems.registry import system

MODELS = {
    "laion/clap-htsat-unfused": "CLAP · downloads 0.6 GB",
    "laion/larger_clap_general": "CLAP, larger · downloads 0.8 GB",
    "laion/larger_clap_music_and_speech": "CLAP, music and speech · downloads 0.8 GB",
}

for identifier, label in MODELS.items():

    @system("sound_search", identifier.rpartition("/")[2], label, hub=True, licence="Apache-2.0")
    def clap(device: str, name: str = identifier) -> Transformers:
        """Load a model by its id."""
        return Transformers(name, device)
