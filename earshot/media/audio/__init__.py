"""Audio in and out: decoding, resampling, loudness, features."""
