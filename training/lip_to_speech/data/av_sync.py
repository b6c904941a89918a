"""Bring the sound of the training films in step with their pictures.

In each film of GRID the sound is a little early or late, by another time in each: on validation its
deviation is 17 ms, and readers trained on halves of the films agree on it to 2 ms (r = 0.99). Who
learns from such films draws every edge of speech blurred.

Shapes: S mel frames of 10 ms, M mel bands.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor

from media.audio import features
from media.audio.load import to_int16
from training.lip_to_speech.data.batches import Clips
from training.lip_to_speech.data.prepare import voiced_pitch
from training.lip_to_speech.evaluate.metrics import earlier
from training.lip_to_speech.train.reader import load_reader, load_voices
from training.lip_to_speech.train.stoi_loss import frames_apart

MOST: Final = 8  # frames by which sound is late or early
FINE: Final = 0.25  # frames


@torch.inference_mode()
def sync(run: Path, name: str, readers: Sequence[str]) -> None:
    """Write run/name.npz: the training films of run/clips.npz, the sound of each moved to where it
    goes best with what a reader draws of the pictures.

    readers: one, or two that learned from every second film, the first of them from the first film:
    then each film is drawn by the one that does not know by heart when its sound came.
    """
    networks, voices = [load_reader(run / f"{each}.pt") for each in readers], load_voices(run).cpu()
    clips = Clips([run / "clips.npz"], "train")
    with np.load(run / "clips.npz") as file:
        arrays = {key: file[key][file["split"] == "train"] for key in file.files}
    late = np.zeros(len(clips), int)  # samples
    for row in range(len(clips)):
        batch = clips.rows(row, row + 1)
        reader = networks[(row + 1) % len(networks)]
        states, words = reader.watch(batch.crops, batch.points)
        drawn = reader.draw(states, words, voices(batch.log_mel), batch.log_mel.shape[1])
        late[row] = round(delay(drawn.log_mel, batch.log_mel) * features.HOP_LENGTH)
        moved = earlier(arrays["waveform"][row].astype(np.float32) / 2**15, late[row])
        arrays["waveform"][row] = to_int16(moved)
        arrays["log_mel"][row] = features.log_mel(moved)
        arrays["pitch"][row] = voiced_pitch(moved)
    arrays["spoken"] -= late[:, None, None] / np.float32(features.SAMPLE_RATE)
    np.savez(run / f"{name}.npz", **arrays)  # type: ignore[arg-type]
    milliseconds = 1000 * late / features.SAMPLE_RATE
    print(f"late by {milliseconds.mean():.1f} ± {milliseconds.std():.1f} ms", flush=True)


def delay(drawn: Tensor, real: Tensor) -> float:
    """Frames by which what is real comes after what was drawn: (1, S, M) each."""
    whole = np.arange(-MOST, MOST + 1.0)
    near = _best(drawn, real, whole)
    return _best(drawn, real, near + np.arange(-1 + FINE, 1, FINE))


def _best(drawn: Tensor, real: Tensor, shifts: np.ndarray) -> float:
    apart = [frames_apart(_later(drawn, shift), real).item() for shift in shifts]
    return float(shifts[int(np.argmin(apart))])


def _later(frames: Tensor, shift: float) -> Tensor:
    """(B, S, M), so many frames later, linear between two; the first and last frame stand still."""
    last = frames.shape[1] - 1
    places = (torch.arange(last + 1) - shift).clamp(0, last)
    before = places.long().clamp(max=last - 1)
    return torch.lerp(frames[:, before], frames[:, before + 1], (places - before)[:, None])
