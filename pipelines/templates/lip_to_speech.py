"""A system of lip to speech: a tone that is as loud as the picture moves."""

import numpy as np

from earshot.systems.registry import system

RATE = 16_000


# The task, a name for programs and folders, and what menus call it; the rest is what its card says.
@system("lip_to_speech", "NAME", "LABEL", paper="", licence="", trained_on="")
class NewSystem:
    def __init__(self, device: str) -> None:
        """Load the model here. It is made when it is first chosen, and shared by all visitors."""

    def __call__(self, frames: np.ndarray, fps: float) -> tuple[np.ndarray, int]:
        """Speak what is said in images of a face, uint8 (N, H, W, 3) in RGB, so many a second."""
        moves = np.abs(np.diff(frames.astype(np.float32).mean(axis=3), axis=0)).mean(axis=(1, 2))
        time = np.arange(round(len(frames) / fps * RATE)) / RATE
        level = np.interp(time * fps, np.arange(len(moves)), moves / max(moves.max(), 1e-6))
        return (0.2 * level * np.sin(2 * np.pi * 150 * time)).astype(np.float32), RATE

    # It may also have this; what it has not is not offered.
    #
    # def caption(self, frames, fps):                    what it reads, and how sure it is, 0 to 1
    #     return "place blue at f two now", 0.8
