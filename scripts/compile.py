"""python -m scripts.compile: compile what Numba compiles at its first call, and keeps for later
ones.

`make demo` runs it after installing: librosa alone takes 15 seconds, which else the first visitor
waits for.
"""

from typing import Final

import numpy as np

from earshot.media.audio import dtw, features
from earshot.media.audio.pitch import track_pitch
from earshot.systems.words.time_warping import TimeWarping
from earshot.systems.words.word_search import apart, keyword_paths

PHONEMES: Final = 8


def main() -> None:
    """Call everything that the app compiles, on a second of noise."""
    random = np.random.default_rng(0)
    noise = random.normal(0.0, 0.1, features.SAMPLE_RATE).astype(np.float32)
    mel = features.log_mel(noise)
    features.griffin_lim(features.linear_from_log_mel(mel), n_iter=1)
    track_pitch(noise)
    dtw.distance(mel, mel)
    TimeWarping().distances([mel], [mel])
    keyword_paths(random.normal(size=(len(mel), PHONEMES)).astype(np.float32), [1, 2])
    apart(np.zeros((1, 3)), 1)


if __name__ == "__main__":
    main()
