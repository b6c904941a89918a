"""Fit linear-vc: a matrix for each shipped voice, in closed form.

States of sources are matched with those of the target as in kNN-VC (Baas, van Niekerk and Kamper
2023, arXiv:2305.18975): the mean of the four nearest by cosine. Then least squares, as in LinearVC
(earshot/systems/voice_conversion/linear.py). A voice stands on two minutes of its training speech,
the sources on twelve seconds at most of every fourth LibriSpeech training speaker. Nothing of
another split is read.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from earshot.core.paths import CHECKPOINTS
from earshot.media.constants import HOP_LENGTH, SAMPLE_RATE
from earshot.pretrained.recogniser import load_states
from earshot.pretrained.voice import pitch_statistics
from earshot.systems.voice_conversion.linear import Analysis, LinearVC, Matrices, least_squares
from training.common.checkpoints import update_metrics, write_weights
from training.common.corpora import Item, speech_items, waveforms
from training.common.zero_shot import has_zero_shot_word
from training.voice_conversion.conversion import VOCODER, shipped_vocoder
from training.voice_conversion.export import SHIPPED
from training.voice_conversion.prepare import heart
from training.voice_conversion.speech import HEART

NAME: Final = "linear-vc"
LAYERS: Final = (3, 6)  # of the recogniser, as any-voice has them
SOURCES: Final = "librispeech_251"
EVERY: Final = 4  # of its speakers, one is a source
SECONDS: Final = (0.5, 12.0)  # of a recording: shorter ones are left out, longer ones cut
MAX_TARGET: Final = 120.0  # seconds of a voice
FITTED: Final = 1000 * 16  # states of sources that a matrix is fitted to
NEIGHBOURS: Final = 4  # states of the target whose mean is matched
RIDGE: Final = 0.01  # added to the variance of each input, which is about 1
CHUNK: Final = 1024  # states matched at once


def fit_linear(data: Path, out: Path = CHECKPOINTS) -> None:
    """Fit the matrices on the training split of ``data``; write out/linear-vc, without its card.

    A shipped voice of which there is no speech here is left out.
    """
    torch.set_num_threads(1)
    items = [i for i in speech_items(data) if i.split == "train" and not has_zero_shot_word(i)]
    recogniser = load_states(LAYERS, device="cpu")
    plain = LinearVC(recogniser, Matrices(recogniser.width, 0), shipped_vocoder())
    sources = [item for item in items if item.corpus == SOURCES][::EVERY]
    states = torch.cat([each.states for each in _analyses(plain, _read(sources))])
    voices = {}
    for speaker, name in SHIPPED.items():
        own = _read([item for item in items if item.speaker == speaker])
        if target := joined(_analyses(plain, heart(data) if speaker == HEART else own)):
            voices[name] = target
    export(plain, states, voices, out)


def export(plain: LinearVC, sources: Tensor, voices: Mapping[str, Analysis], out: Path) -> None:
    """Fit matrices from states of sources (N, D) to the speech of voices, none standardised; write
    out/linear-vc."""
    torch.manual_seed(0)
    sources = sources[torch.randperm(len(sources))[:FITTED]]
    matrices = Matrices(sources.shape[1], len(voices))
    matrices.mean.copy_(sources.mean(dim=0))
    matrices.std.copy_(sources.std(dim=0))
    sources = matrices.standardise(sources)
    for row, target in enumerate(voices.values()):
        states = matrices.standardise(target.states)
        rows = matched(sources, states)
        inputs = plain.inputs(states, target.pitch)[:, rows].mean(dim=2)
        inputs[..., : sources.shape[1]] = sources
        outputs = target.mel[rows].mean(dim=1).transpose(0, 1)
        matrices.matrix[row].copy_(least_squares(inputs, outputs, RIDGE))
        mean, std = pitch_statistics(target.pitch.flatten().numpy())
        matrices.pitch_mean[row], matrices.pitch_std[row] = mean, std
    config = {"layers": LAYERS, "voices": list(voices), "vocoder": VOCODER}
    write_weights(out / NAME, config, matrices.state_dict())
    seconds = {name: round(len(target.waveform) / SAMPLE_RATE) for name, target in voices.items()}
    update_metrics(out / NAME, {"training": {"seconds": seconds, "states": len(sources)}})


def matched(sources: Tensor, target: Tensor) -> Tensor:
    """Find the NEIGHBOURS states of the target (U, D) with the highest cosine to each state of the
    sources (N, D): (N, NEIGHBOURS)."""
    unit = F.normalize(target, dim=1)
    parts = [F.normalize(part, dim=1) @ unit.T for part in sources.split(CHUNK)]
    return torch.cat([part.topk(NEIGHBOURS, dim=1).indices for part in parts])


def joined(analyses: Iterable[Analysis]) -> Analysis | None:
    """Join analyses until there are MAX_TARGET seconds; None where there is none."""
    parts: list[Analysis] = []
    for each in analyses:
        parts.append(each)
        if sum(len(part.waveform) for part in parts) >= MAX_TARGET * SAMPLE_RATE:
            break
    if not parts:
        return None
    columns = [[getattr(p, name) for p in parts] for name in ("states", "mel", "pitch")]
    return Analysis(np.concatenate([p.waveform for p in parts]), *map(torch.cat, columns))


def _analyses(system: LinearVC, speech: Iterable[np.ndarray]) -> Iterator[Analysis]:
    """Analyse recordings (T,) one by one, cut to whole multiples of 40 ms."""
    shortest, longest = (round(seconds * SAMPLE_RATE) for seconds in SECONDS)
    for waveform in speech:
        cut = waveform[: len(waveform) // (4 * HOP_LENGTH) * 4 * HOP_LENGTH][:longest]
        if len(cut) >= shortest:
            yield system.analyse(cut)


def _read(items: list[Item]) -> Iterator[np.ndarray]:
    return (waveform for _, waveform in waveforms(items))
