"""The numbers that speech is sampled and analysed by, each with its unit. Imports nothing.

Speech is analysed at 16 kHz, every 10 ms.
"""

from typing import Final

SAMPLE_RATE: Final = 16_000  # Hz
NYQUIST: Final = SAMPLE_RATE / 2  # Hz
HOP_LENGTH: Final = 160  # samples: 10 ms
FRAMES_PER_SECOND: Final = SAMPLE_RATE // HOP_LENGTH
FRAME_SECONDS: Final = HOP_LENGTH / SAMPLE_RATE

# The log-mel spectrogram that is shown, predicted and vocoded.
N_FFT: Final = 640  # samples: a 40 ms window
N_BINS: Final = N_FFT // 2 + 1  # of its linear spectrogram
N_MELS: Final = 80

# The MFCC that units and k-means are learned from.
MFCC_WINDOW: Final = 400  # samples: 25 ms
MFCC_N_FFT: Final = 512  # samples
MFCC_BANDS: Final = 40
MFCC_FLOOR: Final = 1e-5  # power: about 70 dB under speech at -23 LUFS
N_CEPSTRA: Final = 13
DELTA_WIDTH: Final = 9  # frames that Δ and ΔΔ are fitted to

# The log-F0 of a voice of which there are few frames yet.
LOG_F0_VARIANCE: Final = 0.05  # of most people's speech
LOG_F0_BELIEF: Final = 50.0  # frames' worth of belief in that

# General sounds, for sound search.
SOUND_SAMPLE_RATE: Final = 32_000  # Hz

# Videos of faces are tracked at their own rate, and resampled to this one.
VIDEO_RATE: Final = 25  # frames per second
