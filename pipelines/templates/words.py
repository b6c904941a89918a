"""A system of words: the mean spectrum of a word, as a vector."""

import librosa
import numpy as np

from earshot.systems.registry import system


# The task, a name for programs and folders, and what menus call it; the rest is what its card says.
@system("words", "NAME", "LABEL", paper="", licence="", trained_on="")
class NewSystem:
    def __init__(self, device: str) -> None:
        """Load the model here. It is made when it is first chosen, and shared by all visitors."""

    def embed_audio(self, waveform: np.ndarray, sample_rate: int) -> np.ndarray:
        """Embed a word (T,), float32 in [-1, 1], as a vector (D,); cosines compare them."""
        return librosa.feature.mfcc(y=waveform, sr=sample_rate, n_mfcc=20).mean(axis=1)

    # It may also have this; what it has not is not offered.
    #
    # def embed_text(self, text):                        a written word, in the space of the sounds
    #     return self.model.embed(text)
