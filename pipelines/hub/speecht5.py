"""SpeechT5 of the Hugging Face hub: a Transformer from waveform to log-mel frames."""

from earshot.systems.adapters import Transformers
from earshot.systems.registry import system


@system(
    "voice_conversion",
    "speecht5",
    "SpeechT5 · downloads 0.7 GB",
    hub=True,
    paper="Ao et al. 2022, arXiv:2110.07205",
    licence="MIT",
    trained_on="CMU ARCTIC",
)
def speecht5(device: str) -> Transformers:
    """Load SpeechT5, its vocoder and four voices."""
    return Transformers("microsoft/speecht5_vc", device)
