"""Bring the sound of the training films in step with their pictures.

In each film of GRID the sound is a little early or late, by another time in each: the reader and
the eigenlips baseline, trained apart, agree on it (r = 0.91 on validation, 18 ms of deviation).
Who learns from such films draws every edge of speech blurred.
"""

from pathlib import Path

import numpy as np
import torch

from media import features
from media.audio import to_int16
from training.lip_to_speech.data import Clips
from training.lip_to_speech.ear import Ear
from training.lip_to_speech.metrics import earlier, lateness
from training.lip_to_speech.prepare import voiced_pitch
from training.lip_to_speech.reader import load_reader, load_voices


@torch.inference_mode()
def sync(run: Path, name: str, reader_name: str, vocoder: str) -> None:
    """Write run/name.npz: the training films of run/clips.npz, the sound of each moved to where it
    goes best with what the reader draws of the pictures, as the vocoder says it."""
    reader, ear = load_reader(run / f"{reader_name}.pt"), Ear(run / f"{vocoder}.pt")
    voices = load_voices(run).cpu()
    clips = Clips([run / "clips.npz"], "train")
    with np.load(run / "clips.npz") as file:
        arrays = {key: file[key][file["split"] == "train"] for key in file.files}
    late = np.zeros(len(clips), int)  # samples
    for row in range(len(clips)):
        batch = clips.rows(row, row + 1)
        states, words = reader.watch(batch.crops, batch.points)
        drawn = reader.draw(states, words, voices(batch.log_mel), batch.log_mel.shape[1])
        real = arrays["waveform"][row].astype(np.float32) / 2**15
        late[row] = lateness(ear.sound(drawn, batch)[0].numpy(), real)
        moved = earlier(real, -late[row])
        arrays["waveform"][row] = to_int16(moved)
        arrays["log_mel"][row] = features.log_mel(moved)
        arrays["pitch"][row] = voiced_pitch(moved)
    arrays["spoken"] += late[:, None, None] / np.float32(features.SAMPLE_RATE)
    np.savez(run / f"{name}.npz", **arrays)  # type: ignore[arg-type]
    milliseconds = 1000 * late / features.SAMPLE_RATE
    print(f"moved by {milliseconds.mean():.1f} ± {milliseconds.std():.1f} ms", flush=True)
