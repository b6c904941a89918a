"""Where each phoneme of a recording is, by the best CTC path (Graves et al. 2006).

Shapes: B recordings, S steps, P phonemes of the inventory with 0 the blank, L phonemes of a
recording.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from training.words.data.concatenation import Word
from training.words.data.padding import padded

IMPOSSIBLE: Final = -1e9


@torch.inference_mode()
def spikes(log: Tensor, steps: Tensor, words: Sequence[Word]) -> Iterator[np.ndarray | None]:
    """Find the step of each phoneme on the best path of log posteriors (B, S, P) of lengths (B,):
    (L,) of each recording in turn; None where there are fewer steps than phonemes need.

    Phonemes are odd states, blanks even ones; a phoneme's step is the last in its state.
    """
    targets, sizes = padded(list(words))
    count, longest = targets.shape
    states = torch.zeros(count, 2 * longest + 1, dtype=torch.long)
    states[:, 1::2] = targets
    states = states.to(log.device)
    kept = torch.ones_like(states, dtype=torch.bool)  # no way past the blank between equal ones
    kept[:, 2:] = (states[:, 2:] == states[:, :-2]) | (states[:, 2:] == 0)
    emitted = log.gather(2, states[:, None].expand(-1, log.shape[1], -1))
    score = torch.full(states.shape, IMPOSSIBLE, device=log.device)
    score[:, :2] = emitted[:, 0, :2]
    back = torch.zeros(log.shape[1], *states.shape, dtype=torch.uint8, device=log.device)
    ends = torch.zeros_like(score)
    for t in range(log.shape[1]):
        if t:
            one = F.pad(score, (1, 0), value=IMPOSSIBLE)[:, :-1]
            two = F.pad(score, (2, 0), value=IMPOSSIBLE)[:, :-2].masked_fill(kept, IMPOSSIBLE)
            best = torch.stack([score, one, two]).max(dim=0)
            score, back[t] = best.values + emitted[:, t], best.indices.to(torch.uint8)
        ends = torch.where((steps == t + 1)[:, None], score, ends)
    arrays = back.cpu().numpy(), ends.cpu().numpy()
    for row, (size, length) in enumerate(zip(sizes.tolist(), steps.tolist(), strict=True)):
        yield _traced(arrays[0][:length, row], arrays[1][row], size)


def _traced(back: np.ndarray, ends: np.ndarray, size: int) -> np.ndarray | None:
    """Follow the path of one recording back: back (S, 2 L + 1), ends (2 L + 1,)."""
    last, blank = ends[2 * size - 1], ends[2 * size]
    if max(last, blank) < IMPOSSIBLE / 10:
        return None
    state = 2 * size - (1 if last > blank else 0)
    found = np.full(size, -1)
    for t in range(len(back) - 1, -1, -1):
        if state % 2 and found[state // 2] < 0:
            found[state // 2] = t
        state -= int(back[t, state])
    return found if (found >= 0).all() else None
