"""Acoustic features: frames, frequencies and inverses."""

import numpy as np
import pytest

from earshot.media.audio import features
from earshot.media.audio.pitch import track_pitch


def tone(hz: float, seconds: float = 1.0) -> np.ndarray:
    time = np.arange(round(seconds * features.SAMPLE_RATE)) / features.SAMPLE_RATE
    return (0.3 * np.sin(2 * np.pi * hz * time)).astype(np.float32)


def test_features_have_rows_of_ten_milliseconds() -> None:
    waveform = tone(440, 1.234)
    rows = round(1.234 * features.SAMPLE_RATE) // features.HOP_LENGTH
    assert features.linear_magnitude(waveform).shape == (rows, 321)
    assert features.log_mel(waveform).shape == (rows, 80)
    assert features.mfcc(waveform).shape == (rows, 39)


def test_linear_magnitude_peaks_in_tones_bin() -> None:
    magnitude = features.linear_magnitude(tone(1000))
    bin_hz = features.SAMPLE_RATE / features.N_FFT
    assert magnitude[50].argmax() * bin_hz == pytest.approx(1000, abs=bin_hz / 2)


def test_linear_magnitude_peaks_in_clicks_frame() -> None:
    waveform = np.zeros(16_000, np.float32)
    waveform[30 * features.HOP_LENGTH] = 1.0
    assert features.linear_magnitude(waveform).sum(axis=1).argmax() == 30


def test_level_changes_first_mfcc_only() -> None:
    noise = np.random.default_rng(0).normal(size=16_000).astype(np.float32)
    loud, soft = features.mfcc(0.2 * noise), features.mfcc(0.1 * noise)
    assert np.abs(loud - soft)[:, 1:13].max() < 0.01
    assert (loud - soft)[:, 0] == pytest.approx(np.log(4) * np.sqrt(features.MFCC_BANDS), abs=0.01)


def test_mfcc_deltas_are_slopes() -> None:
    """Noise whose level rises by a constant number of nepers a frame."""
    noise = np.random.default_rng(0).normal(size=32_000)
    rising = noise * np.exp(np.arange(32_000) / features.HOP_LENGTH * 0.01) * 0.01
    slope = 2 * 0.01 * np.sqrt(features.MFCC_BANDS)  # of log power, through the DCT
    assert features.mfcc(rising.astype(np.float32))[20:-20, 13].mean() == pytest.approx(
        slope, rel=0.15
    )


def test_griffin_lim_restores_the_spectrogram() -> None:
    waveform = tone(300) + tone(1700)
    magnitude = features.linear_magnitude(waveform)
    again = features.linear_magnitude(features.griffin_lim(magnitude))
    assert np.linalg.norm(again - magnitude) < 0.2 * np.linalg.norm(magnitude)


def test_griffin_lim_of_mel_keeps_tone() -> None:
    magnitude = features.linear_from_log_mel(features.log_mel(tone(500)))
    waveform = features.griffin_lim(magnitude)
    assert len(waveform) == 16_000
    spectrum = np.abs(np.fft.rfft(waveform))
    assert spectrum.argmax() == pytest.approx(500, abs=25)


def test_filtered_noise_takes_spectrogram_of_tone() -> None:
    """The tone stops, and with it what is left of the noise."""
    target = np.concatenate([tone(500), np.zeros(8000, np.float32)])
    noise = 0.1 * np.random.default_rng(0).standard_normal(len(target)).astype(np.float32)
    mel = features.log_mel(target)
    output = features.filtered(noise, mel, np.zeros(len(mel)))
    assert output.shape == noise.shape
    assert np.abs(output[18_000:]).max() < 0.01 * np.abs(noise).max()
    before, after = (np.abs(features.log_mel(one) - mel)[5:95].mean() for one in (noise, output))
    assert after < 0.4 * before


def test_filtered_with_own_spectrogram_changes_nothing() -> None:
    sound = tone(500) + 0.1 * np.random.default_rng(0).standard_normal(16_000).astype(np.float32)
    mel = features.log_mel(sound)
    assert np.allclose(features.filtered(sound, mel, np.zeros(len(mel))), sound, atol=1e-3)


@pytest.mark.parametrize("hertz", [80.0, 180.0, 250.0])
def test_filtered_voice_takes_formant_not_harmonics(hertz: float) -> None:
    """The target has a formant at 700 Hz, and the harmonics of another voice."""
    time = np.arange(16_000) / features.SAMPLE_RATE
    hiss = 0.001 * np.random.default_rng(0).standard_normal(16_000)

    def voice(pitch: float, formant: float) -> np.ndarray:
        harmonics = pitch * np.arange(1, int(4000 / pitch))
        loud = np.exp(-0.5 * ((harmonics - formant) / 300) ** 2)
        tones = loud[:, None] * np.sin(2 * np.pi * harmonics[:, None] * time)
        return (0.1 * tones.sum(axis=0) + hiss).astype(np.float32)

    source, target = voice(hertz, 1500), features.log_mel(voice(105, 700))
    output = features.filtered(source, target, np.full(100, hertz))
    f0 = track_pitch(output)[10:90]
    assert np.median(f0) == pytest.approx(hertz, rel=0.03)
    spectrum = features.linear_magnitude(output)[10:90].mean(axis=0)
    at = np.arange(len(spectrum)) * features.SAMPLE_RATE / features.N_FFT
    assert (at * spectrum).sum() / spectrum.sum() == pytest.approx(700, abs=200)


def test_silence_has_flat_and_finite_features() -> None:
    silence = np.zeros(16_000, np.float32)
    assert np.isfinite(features.mfcc(silence)).all()
    assert np.ptp(features.log_mel(silence)) == 0


def test_log_mel_below_one_hop_raises() -> None:
    with pytest.raises(ValueError, match="160 samples"):
        features.log_mel(np.zeros(100, np.float32))
