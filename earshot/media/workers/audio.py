"""Samples out of whatever a browser, phone or recorder writes, by PyAV. Runs in a worker."""

import io
import math
from collections.abc import Iterator
from typing import Any, BinaryIO, Final

import av
import numpy as np
import soxr
from av.container import InputContainer
from av.stream import Disposition

from earshot.core.errors import InputError
from earshot.media.samples import (
    SILENT_PEAK,
    Clipping,
    Mix,
    check_length,
    check_rate,
    check_values,
    to_float,
)
from earshot.media.workers.container import (
    DAMAGES,
    EMPTY,
    Budget,
    Timeline,
    is_picture,
    open_container,
)
from earshot.media.workers.structure import MAX_MISSING, ends_early, has_no_length, parts

# Playlists stay out: they can name other files and addresses.
FORMATS: Final = (
    "aac,ac3,aiff,amr,ape,asf,au,avi,caf,dsf,dts,eac3,flac,flv,loas,matroska,mov,mp3,mpeg,mpegts,"
    "nistsphere,ogg,tta,voc,w64,wav,wv"
)
# Formats whose header has a length that holds; that of others is an estimate.
WITH_LENGTH: Final = (
    *("aiff", "ape", "asf", "au", "avi", "caf", "dsf", "flac", "matroska", "mov", "nistsphere"),
    *("tta", "voc", "w64", "wav", "wv"),
)
# Formats in which time may pass without sound; a gap in any other is a loss.
WITH_GAPS: Final = ("asf", "avi", "flv", "matroska", "mov", "mpeg", "ogg")
MAX_JITTER: Final = 0.015  # seconds of silence between two frames that are no gap
MAX_PADDING: Final = 0.1  # seconds after the declared end that codecs fill up
MAX_SEARCH: Final = 5.0  # seconds of CPU time in which a track with sound is looked for
MIN_GAP: Final = 0.1  # seconds; what is shorter is filled without a word
BIG_ENDIAN: Final = b"RIFX"  # how a WAV begins whose numbers have their high byte first
TAGS: Final = (b"Xing", b"Info", b"ID3", b"TAG", b"APETAGEX")  # in packets of MP3 without sound
MESSAGE_VALUES: Final = 2**18  # samples that go into one message, about
MAX_PLANES: Final = (
    8  # PyAV counts the planes of a frame by a null that 8 of them leave no room for
)

UNREADABLE: Final = (
    "This file cannot be read as audio: it is damaged, cut off, or not audio at all. "
    "Use WAV, FLAC, MP3, M4A, OGG or WebM."
)
AMBIGUOUS: Final = (
    "This WAV has 24 bits in 32, and does not say whether they are whole numbers. Export it with "
    "16 or 24 bits."
)
Message = tuple[dict[str, Any], np.ndarray]


def decode_audio(
    file: BinaryIO, max_seconds: float, mono: bool, channel: int | None = None
) -> Iterator[Message]:
    """Decode the samples of a file in blocks, float32 (channels, T), mixed to one channel if mono;
    with a channel, that one alone. They lie in the file's time: silence where its sound begins
    late, has a gap, or ends before its pictures.

    Each header has the sample_rate (Hz). The last has the share of samples that are clipped,
    whether sound is lost (damaged), whether the codec is lossless, the seconds of all gaps, which
    track was taken of how many, the louder channel where the mean of all cancels, and the gain that
    makes up for channels without sound in it. Raises InputError for what is no audio, has none that
    can be decoded, or is longer than max_seconds or too large (found without decoding the rest).
    """
    if file.seek(0, io.SEEK_END) == 0:
        raise InputError(*EMPTY)
    track = _Track(max_seconds, mono, channel)
    for number, part in enumerate(parts(file)):
        try:
            yield from track.add(part)
        except InputError as error:
            if number == 0 or str(error) != UNREADABLE:
                raise
            track.damaged = True
    yield track.last()


class _Track:
    """The sound of a file, part by part, in its time."""

    def __init__(self, max_seconds: float, mono: bool, channel: int | None) -> None:
        self._max_seconds, self._mono = max_seconds, mono
        self._mix = Mix(channel)
        self._rate, self._channels = 0, 0
        self._samples = 0  # of a channel so far
        self._count = 0  # of all channels that are kept
        self._blocks: list[np.ndarray] = []  # that wait for a message: AAC gives 1,024 at a time
        self._size = 0  # of these blocks
        self._clipping = Clipping()
        self._tail: list[np.ndarray] = []  # what lies after the declared end
        self.damaged, self._gaps, self._lossless = False, 0.0, True
        self._track = self._tracks = 1
        self._budget, self._search = Budget(), Budget(MAX_SEARCH)  # of all parts together

    def add(self, file: BinaryIO) -> Iterator[Message]:
        """Decode a recording that begins where all before it end."""
        self.damaged |= ends_early(file)
        file.seek(0)
        index, tracks = _choose_track(file, self._search)
        self._track, self._tracks = max(self._track, index + 1), max(self._tracks, tracks)
        file.seek(0)
        big_endian = file.read(len(BIG_ENDIAN)) == BIG_ENDIAN
        endless = has_no_length(file)
        file.seek(0)
        with open_container(file, FORMATS, UNREADABLE) as container:
            begin, before = self.seconds, self._samples
            frames = _Frames(container, index, self._budget, big_endian)
            end = math.inf if endless else begin + _declared_end(container, index, frames.timeline)
            name = container.format.name
            self._lossless &= frames.lossless
            for time, rate, block in frames:
                block = self._like_first(block, rate)
                if frames.timeline.restarted:
                    end = math.inf
                gap = 0.0 if time is None else self._gap_before(begin + time, end)
                lead = self._samples == before
                if gap > (0 if lead else MAX_JITTER):
                    yield from self._silence(gap)
                    if not lead and gap > MIN_GAP:
                        self._gaps += gap
                        self.damaged |= not name.startswith(WITH_GAPS)
                yield from self._sound(block, frames.lossless, end)
            if self._samples == before and not self._tail:
                if frames.packets:
                    raise InputError(UNREADABLE)
                if not before:
                    raise InputError(*EMPTY)
                return  # a further recording that was ended as soon as it was begun
            self._tail = []
            pictures = min(begin + frames.end, self._max_seconds)
            if pictures > self.seconds:
                yield from self._silence(pictures - self.seconds)
            last = max(self.seconds, begin + frames.timeline.end)
            missing = end - last - 0.01 * (end - begin)
            short = name.startswith(WITH_LENGTH) and MAX_MISSING < missing < math.inf
            self.damaged |= short or frames.damaged

    def _like_first(self, block: np.ndarray, rate: int) -> np.ndarray:
        """Bring a block to the rate and the channels of the first."""
        check_rate(rate)
        self._rate = self._rate or rate
        if rate != self._rate:
            block = soxr.resample(block.T, rate, self._rate).T
        self._channels = self._channels or len(block)
        if len(block) == self._channels:
            return block
        # A mono part, such as speech, among stereo ones.
        return np.broadcast_to(block.mean(axis=0), (self._channels, block.shape[1]))

    def _gap_before(self, start: float, end: float) -> float:
        """Compute how long nothing came before a block that starts then; the sound ends at end."""
        if start > end + 1:  # no such time: a damaged stamp
            return 0.0
        read = self.seconds + sum(each.shape[1] for each in self._tail) / self._rate
        return start - read

    @property
    def seconds(self) -> float:
        return self._samples / max(self._rate, 1)

    def last(self) -> Message:
        """Return the message of what is left, with a header about all."""
        blocks = self._message()[1] if self._blocks else np.zeros((1, 0), np.float32)
        header = {
            "sample_rate": self._rate,
            "clipped": self._clipping.share,
            "damaged": self.damaged,
            "lossless": self._lossless,
            "gaps": self._gaps,
            "track": self._track,
            "tracks": self._tracks,
            "louder": self._mix.louder if self._mono else None,
            "gain": self._mix.gain if self._mono else 1.0,
        }
        return header, blocks

    def _sound(self, block: np.ndarray, lossless: bool, end: float) -> Iterator[Message]:
        """Keep a block; what lies after the declared end only if it is more than padding."""
        room = max(0, round((end - self.seconds) * self._rate)) if end < math.inf else None
        if room is not None and room < block.shape[1]:
            self._tail.append(block[:, room:])
            block = block[:, :room]
            if sum(b.shape[1] for b in self._tail) > MAX_PADDING * self._rate:
                block = np.concatenate([block, *self._tail], axis=1)
                self._tail = []
        if block.size:
            self._clipping.add(block, lossless)
            yield from self._keep(block)

    def _silence(self, seconds: float) -> Iterator[Message]:
        check_length(self.seconds + seconds, self._max_seconds)
        left = round(seconds * self._rate)
        while left > 0:
            count = min(left, MESSAGE_VALUES)
            yield from self._keep(np.zeros((self._channels or 1, count), np.float32))
            left -= count

    def _keep(self, block: np.ndarray) -> Iterator[Message]:
        self._samples += block.shape[1]
        check_length(self.seconds, self._max_seconds)
        self._blocks.append(self._mix(block) if self._mono else block)
        self._size += self._blocks[-1].size
        self._count += self._blocks[-1].size
        check_values(self._count, self._mono)
        if self._size >= MESSAGE_VALUES:
            yield self._message()

    def _message(self) -> Message:
        blocks = np.concatenate(self._blocks, axis=1)
        self._blocks, self._size = [], 0
        return {"sample_rate": self._rate}, blocks


class _Frames:
    """Decoded frames as (time in seconds or None, sample rate in Hz, float32 (channels, T)).

    At the end, damaged is whether some could not be decoded, packets how many there were, and end
    when the last picture, or sound, is over (s).
    """

    def __init__(
        self, container: InputContainer, index: int, budget: Budget, big_endian: bool = False
    ) -> None:
        """Open the stream. budget: of the file; big_endian: whether it is a WAV file whose numbers
        are, which FFmpeg reads as if they were not.
        """
        self._big_endian, self._budget = big_endian, budget
        self.damaged, self.packets, self.end = False, 0, 0.0
        self.timeline = Timeline(container)
        self._container = container
        self._stream = container.streams.audio[index]
        if self._stream.codec_context is None:  # a codec that FFmpeg does not know
            raise InputError(UNREADABLE)
        if self._stream.codec_context.name == "pcm_f24le":
            raise InputError(AMBIGUOUS)
        codec = self._stream.codec_context.codec
        self.lossless = codec.lossless and not codec.lossy
        self._packer = av.AudioResampler(format="flt")

    def __iter__(self) -> Iterator[tuple[float | None, int, np.ndarray]]:
        packets, decoder = self._container.demux(), self._decoder()
        undecoded = 0  # packets since the last that gave sound
        while True:
            self._budget.check()
            sound = None
            try:
                packet = next(packets)
                self.timeline.place(packet)
                if packet.stream is not self._stream:
                    if packet.stream.type == "video" and packet.pts is not None:
                        self._see(packet)
                    continue
                sound = packet
                self.packets += bool(packet.size)  # the last is empty: it asks for what is left
                frames = decoder.decode(packet)
                # As a list: what one of them raises belongs to this packet.
                blocks = [(*self._time(f), block) for f in frames for block in self._samples(f)]
            except StopIteration:
                break
            except MemoryError:
                raise
            except DAMAGES:
                # Index and value errors are PyAV's, for streams that appear midway and types that
                # numpy lacks.
                undecoded += sound is None or not _is_tag(bytes(sound))
                continue
            if blocks and undecoded:
                self.damaged, undecoded = True, 0
            yield from blocks
        # One bad packet at the end of what has a length is mostly the padding of a block.
        self.damaged |= undecoded > self._container.format.name.startswith(WITH_LENGTH)

    def _see(self, packet: av.Packet) -> None:
        """Note when a picture is over."""
        if packet.pts is not None and packet.time_base and not is_picture(packet.stream):
            ends = packet.pts + (packet.duration or 0)
            self.end = max(self.end, float(ends * packet.time_base))

    def _decoder(self) -> av.AudioCodecContext:
        """Choose the stream's own decoder, but libopus for Opus: FFmpeg's bursts to thousands of
        times full scale within some files.
        """
        own = self._stream.codec_context
        if own.name == "opus":
            decoder = av.AudioCodecContext.create("libopus", "r")
            decoder.extradata = own.extradata
        elif self._big_endian and own.name.endswith("le"):
            decoder = av.AudioCodecContext.create(f"{own.name[:-2]}be", "r")
            assert isinstance(decoder, av.AudioCodecContext)
            decoder.sample_rate, decoder.layout = own.sample_rate, own.layout
        else:
            return own
        return decoder

    def _time(self, frame: av.AudioFrame) -> tuple[float | None, int]:
        """Read when a frame begins (s), and its sampling rate."""
        unit = frame.time_base or self._stream.time_base
        if frame.pts is None or unit is None:
            return None, frame.sample_rate
        return float(frame.pts * unit), frame.sample_rate

    def _samples(self, frame: av.AudioFrame) -> Iterator[np.ndarray]:
        """Yield the frame's samples, (channels, T); none of a frame without a plane for each
        channel: damaged AAC declares planes that do not exist, and reading them ends the process.
        """
        channels, planar = frame.layout.nb_channels, frame.format.is_planar
        if planar and (channels > MAX_PLANES or len(frame.planes) < min(channels, MAX_PLANES - 1)):
            self.damaged = True
            return
        packed = [frame]
        if planar and channels == MAX_PLANES:
            packed = self._packer.resample(frame)
        for part in packed:
            samples = to_float(part.to_ndarray())
            yield samples if part.format.is_planar else samples.reshape(-1, channels).T


def _choose_track(file: BinaryIO, budget: Budget) -> tuple[int, int]:
    """Choose the audio track, from 0, of how many: the default one, if it has sound, else the
    first that has; the default one also where none is found within the budget."""
    with open_container(file, FORMATS, UNREADABLE) as container:
        streams = container.streams.audio
        if not container.streams:
            raise InputError(*EMPTY)
        if not streams:
            raise InputError("This file holds no sound. Use one with an audio track.")
        order = sorted(
            range(len(streams)), key=lambda i: not streams[i].disposition & Disposition.default
        )
    for index in order if len(order) > 1 else ():
        if budget.spent:
            break
        file.seek(0)
        with open_container(file, FORMATS, UNREADABLE) as container:
            try:
                if any(
                    np.abs(block).max() > SILENT_PEAK
                    for *_, block in _Frames(container, index, budget)
                ):
                    return index, len(order)
            except InputError:  # a codec that FFmpeg does not know, or the budget
                continue
    return order[0], len(order)


def _declared_end(container: InputContainer, index: int, timeline: Timeline) -> float:
    """Return when the sound ends by the file's own account (s), infinite where there is none."""
    stream, name = container.streams.audio[index], container.format.name
    if name in ("aac", "mp3", "amr"):  # no header, or one that is not to be trusted
        return math.inf
    if stream.duration and stream.time_base and name.startswith(WITH_LENGTH):
        return timeline.of((stream.start_time or 0) + stream.duration, float(stream.time_base))
    if not container.duration:
        return math.inf
    # Matroska counts from 0, the others from their first time stamp.
    start = 0 if name.startswith("matroska") else container.start_time or 0
    return timeline.of(start + container.duration, 1 / av.time_base)


def _is_tag(data: bytes) -> bool:
    """Whether a packet of MP3 is none of its sound: text, the table of a second file, or zeros."""
    return not any(data) or any(tag in data[:256] for tag in TAGS)
