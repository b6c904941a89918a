"""Audio, video and text in and out: decoding, resampling, loudness, features, face tracking."""
