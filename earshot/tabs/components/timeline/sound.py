"""A sound of a result, as lanes and as a file of the timeline."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from earshot.tabs.components.timeline.lanes import Lane, Spectrogram, Waveform
from earshot.tabs.components.timeline.timeline import File

if TYPE_CHECKING:
    from earshot.media.audio.speech import Speech


@dataclass(frozen=True)
class SoundLanes:
    """A sound and its images: content is a WAV or Ogg file, seconds its duration."""

    content: bytes
    suffix: str
    seconds: float
    picture: str
    peaks: tuple[float, ...]

    @classmethod
    def of(cls, speech: "Speech") -> "SoundLanes":
        seconds = len(speech.waveform) / speech.sample_rate
        return cls(
            wav(speech),
            "wav",
            seconds,
            Spectrogram.of("", speech.log_mel, seconds).picture,
            Waveform.of("", speech.waveform, speech.sample_rate).peaks,
        )

    def lanes(self, label: str, stale: bool = False) -> list[Lane]:
        return [
            Waveform(label, self.peaks, self.seconds, stale),
            Spectrogram(label, self.picture, self.seconds, stale),
        ]

    def file(self, name: str, stem: str) -> File:
        return File(name, f"{stem}.{self.suffix}", self.content)


def wav(speech: "Speech") -> bytes:
    """Write the sound as a WAV file that says who made it."""
    from earshot.media.encode import encode_audio  # late, for it loads scipy and FFmpeg

    return encode_audio(speech.waveform, speech.sample_rate, ".wav")
