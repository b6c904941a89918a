"""Align the audio of the training videos with their frames.

In each GRID video the audio is a little early or late, by another offset in each: on validation the
offsets have a std of 17 ms, and readers trained on two halves of the videos agree on them to 2 ms
(r = 0.99). Trained on unaligned videos, a network predicts blurred onsets.

Shapes: S mel frames of 10 ms, M mel bands.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor

from earshot.media.audio import features
from earshot.media.audio.load import to_int16
from training.lip_to_speech.batches import Clips
from training.lip_to_speech.losses import stoi_loss_mel
from training.lip_to_speech.metrics import earlier
from training.lip_to_speech.prepare import voiced_pitch
from training.lip_to_speech.readers import load_reader, load_voices

MAX_OFFSET: Final = 8  # mel frames
STEP: Final = 0.25  # mel frames


@torch.inference_mode()
def av_sync(run: Path, name: str, readers: Sequence[str]) -> None:
    """Write run/name.npz: the training videos of run/clips.npz, the audio of each shifted by its
    offset to what a reader predicts from the frames.

    readers: one, or two that were trained on every second video, the first of them from the first
    video on: then each video is judged by the reader that was not trained on it.
    """
    networks, voices = [load_reader(run / f"{each}.pt") for each in readers], load_voices(run).cpu()
    clips = Clips([run / "clips.npz"], "train")
    with np.load(run / "clips.npz") as file:
        arrays = {key: file[key][file["split"] == "train"] for key in file.files}
    late = np.zeros(len(clips), int)  # samples
    for row in range(len(clips)):
        batch = clips.rows(row, row + 1)
        reader = networks[(row + 1) % len(networks)]
        states, ctc_logits = reader.encode(batch.crops)
        frames = batch.log_mel.shape[1]
        predicted = reader.decode(states, ctc_logits, voices(batch.log_mel), frames)
        late[row] = round(av_offset(predicted.log_mel, batch.log_mel) * features.HOP_LENGTH)
        shifted = earlier(arrays["waveform"][row].astype(np.float32) / 2**15, late[row])
        arrays["waveform"][row] = to_int16(shifted)
        arrays["log_mel"][row] = features.log_mel(shifted)
        arrays["pitch"][row] = voiced_pitch(shifted)
    arrays["spoken"] -= late[:, None, None] / np.float32(features.SAMPLE_RATE)
    np.savez(run / f"{name}.npz", **arrays)  # type: ignore[arg-type]
    milliseconds = 1000 * late / features.SAMPLE_RATE
    print(f"A/V offset {milliseconds.mean():.1f} ± {milliseconds.std():.1f} ms", flush=True)


def av_offset(predicted: Tensor, reference: Tensor) -> float:
    """Measure by how many mel frames the reference is later than the prediction: (1, S, M) each.

    The shift of lowest ``stoi_loss_mel``, by a coarse and then a fine grid search.
    """
    coarse = _best(predicted, reference, np.arange(-MAX_OFFSET, MAX_OFFSET + 1.0))
    return _best(predicted, reference, coarse + np.arange(-1 + STEP, 1, STEP))


def _best(predicted: Tensor, reference: Tensor, shifts: np.ndarray) -> float:
    losses = [stoi_loss_mel(_later(predicted, shift), reference).item() for shift in shifts]
    return float(shifts[int(np.argmin(losses))])


def _later(frames: Tensor, shift: float) -> Tensor:
    """Delay frames (B, S, M) by ``shift``, with linear interpolation; the edges are repeated."""
    last = frames.shape[1] - 1
    times = (torch.arange(last + 1) - shift).clamp(0, last)
    before = times.long().clamp(max=last - 1)
    return torch.lerp(frames[:, before], frames[:, before + 1], (times - before)[:, None])
