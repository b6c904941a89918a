"""The picture of a video as it is encoded: every frame is checked, and all go into a file of their
own, without sound, tags, or what the encoder wrote about itself. Runs in a worker.
"""

import hashlib
import io
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, BinaryIO, Final

import av
import numpy as np
from av.container import InputContainer

from earshot.core.errors import InputError
from earshot.media.workers.container import DAMAGES, Budget, Timeline, moving, open_container
from earshot.media.workers.structure import ends_early, parts
from earshot.media.workers.video import MIN_FRAMES, THREADS, display_matrix, is_mirrored

FORMATS: Final = "matroska,mov"  # WebM and MP4, and what phones write around the same pictures
CONTAINERS: Final = {"h264": "mp4", "vp8": "webm", "vp9": "webm"}  # what browsers play, by codec
CODEC_NAMES: Final = {
    "h264": "H.264",
    "hevc": "HEVC (H.265)",
    "libdav1d": "AV1",
    "av1": "AV1",
    "mpeg4": "MPEG-4",
}
PIXELS: Final = ("yuv420p", "yuvj420p")  # 8 bits, which every browser plays
SEI: Final = 6  # the type of H.264's units of further information
USER_DATA: Final = (4, 5)  # of which these hold what an encoder wrote of itself
MAX_EXTRA_RATE: Final = 1.0  # frames a second over the limit, for the last has no length
MAX_TIME_ERROR: Final = 0.002  # seconds: WebM counts in milliseconds

UNREADABLE: Final = (
    "This file cannot be read as video: it is damaged, cut off, or not video at all. "
    "Use MP4 with H.264 and AAC, or WebM."
)
DAMAGED: Final = "The file is damaged or cut off."
JOINED: Final = "Two recordings lie in this file, one behind the other. Export it again, as one."
RECODE: Final = (
    "Export it as H.264 of 8 bits and 4:2:0, which every browser plays: "
    "ffmpeg -i IN -c:v libx264 -pix_fmt yuv420p -c:a aac OUT.mp4"
)
CUT: Final = (
    f"It was cut without encoding it again, and browsers would not agree on what is left. {RECODE}"
)
RESIZED: Final = f"Its picture changes its size on the way. {RECODE}"
Packet = tuple[bytes, Fraction, Fraction, bool]  # content, when it is seen, for how long (s), key?


def copy_picture(
    file: BinaryIO, max_seconds: float, max_bytes: int, max_side: int, max_rate: float
) -> Iterator[tuple[dict[str, Any], np.ndarray]]:
    """Copy the encoded frames of a video into a file without sound → a header, and the file's
    bytes, uint8 (N,); none of a file with sound only.

    Times stay those of the file, which its sound shares; the first frame lasts from the beginning.
    The header has the container's name (form), its type as browsers ask for it, pixel_rate (pixels
    a second that are decoded) and digest: a hash of frames and times, the same for the same picture
    with other sound. Raises InputError for what is no video, is damaged, too large, too long (found
    without decoding it), or cannot be played by every browser.
    """
    size = file.seek(0, io.SEEK_END)
    if size == 0:
        raise InputError("The video is empty.", "Record or upload it again.")
    file.seek(0)
    with open_container(file, FORMATS, UNREADABLE) as container:
        stream = moving(container.streams.video)
        if stream is None:
            yield {"form": None}, np.zeros(0, np.uint8)
            return
        _check_file(file, size, max_bytes)
        form = _check_stream(stream, max_side)
        packets, view = _packets(container, stream, max_seconds, max_rate)
        times = [pts for _, pts, *_ in packets]
        try:
            content = _muxed(stream, form, packets)
            kind = _check_copy(content, times)
        except (MemoryError, InputError):
            raise
        except DAMAGES:
            raise InputError(DAMAGED) from None
        context, end = stream.codec_context, max(times) + packets[-1][2]
        digest = hashlib.sha256(f"{context.name} {view} ".encode() + (context.extradata or b""))
        for frame, pts, *_ in packets:
            digest.update(f" {round(1000 * pts)} {len(frame)} ".encode() + frame)
        seconds = max(float(end), 1 / max_rate)
        pixel_rate = context.width * context.height * len(packets) / seconds
        header = {"form": form, "type": kind, "digest": digest.hexdigest()}
    yield header | {"pixel_rate": pixel_rate}, np.frombuffer(content, np.uint8)


def _check_file(file: BinaryIO, size: int, max_bytes: int) -> None:
    """Raise InputError for a file that is too large, joined of several, or cut off."""
    position = file.tell()
    if size > max_bytes:
        raise InputError(
            f"The video has {size / 1e6:.0f} MB: {max_bytes / 1e6:.0f} MB are the most. Cut it, or "
            "export it with fewer bits per second."
        )
    if len(parts(file)) > 1:
        raise InputError(JOINED)
    if ends_early(file):
        raise InputError(DAMAGED)
    file.seek(position)


def _check_stream(stream: av.VideoStream, max_side: int) -> str:
    """Name the container for the stream's frames. Raises InputError where browsers would not
    play it."""
    context = stream.codec_context
    if context is None:  # a codec that FFmpeg does not know
        raise InputError(UNREADABLE)
    _check_size(context.width, context.height, max_side)
    form = CONTAINERS.get(context.name)
    if form and context.pix_fmt is None:
        raise InputError(DAMAGED)
    # Other than in MP4 and its like, H.264 has no head of its own: its frames would need another.
    headless = context.name == "h264" and (context.extradata or b"")[:1] != b"\x01"
    if form is None or headless or context.pix_fmt not in PIXELS:
        name = CODEC_NAMES.get(context.name, context.name.upper())
        pixels = f" with pixels of {context.pix_fmt}" if form and not headless else ""
        raise InputError(f"Its picture is {name}{pixels}, which not every browser plays. {RECODE}")
    return form


def _check_size(width: int, height: int, max_side: int) -> None:
    if not 0 < max(width, height) <= max_side:
        raise InputError(
            f"Its picture has {width} × {height} pixels: {max_side} to a side are the most. "
            "Scale it down."
        )


def _packets(
    container: InputContainer, stream: av.VideoStream, max_seconds: float, max_rate: float
) -> tuple[list[Packet], str]:
    """Read and decode all frames of the stream, and by how many degrees they are to be turned, and
    whether mirrored, in words.

    Raises InputError where one is damaged, or where there are too many.
    """
    too_long = InputError(
        f"The video is longer than {max_seconds:g} s. Cut it to {max_seconds:g} s or less."
    )
    if (container.duration or 0) / av.time_base > max_seconds + MAX_EXTRA_RATE / max_rate:
        raise too_long
    timeline, budget = Timeline(container), Budget()
    stream.codec_context.thread_type = "AUTO"
    stream.codec_context.thread_count = THREADS
    is_h264 = stream.codec_context.name == "h264"
    width = ((stream.codec_context.extradata or bytes(5))[4] & 3) + 1
    frames: list[Packet] = []
    decoded_count, view, size = 0, "", (stream.codec_context.width, stream.codec_context.height)
    try:
        for packet in container.demux():
            budget.check()
            timeline.place(packet)
            if packet.stream is not stream:
                continue
            for frame in packet.decode():
                assert isinstance(frame, av.VideoFrame)
                if frame.is_corrupt:
                    raise InputError(DAMAGED)
                if (frame.width, frame.height) != size:
                    raise InputError(RESIZED)
                mirrored = " mirrored" * is_mirrored(display_matrix(frame))
                decoded_count, view = decoded_count + 1, f"{frame.rotation}{mirrored}"
            if not packet.size:  # the last, which only ends the stream
                continue
            if packet.pts is None or packet.time_base is None or packet.is_corrupt:
                raise InputError(DAMAGED)
            unit, content = packet.time_base, bytes(packet)
            time = packet.pts * unit
            if time > max_seconds:
                raise too_long
            if len(frames) > (max_rate + MAX_EXTRA_RATE) * (max(float(time), 0.0) + 1):
                raise InputError(_too_many(max_rate))
            if packet.is_discard or time < 0:
                raise InputError(CUT)
            if is_h264:
                content = _without_user_data(content, width)
            length = (packet.duration or 0) * unit
            frames.append((content, time, length, packet.is_keyframe))
    except (MemoryError, InputError):
        raise
    except DAMAGES:
        raise InputError(DAMAGED) from None
    if timeline.restarted:
        raise InputError(JOINED)
    if not frames:
        raise InputError(UNREADABLE)
    if len(frames) < MIN_FRAMES:
        raise InputError("This is a single picture. Use a video, or a sound alone.")
    # Some frames of VP8 are never shown, and only others are made from them.
    if decoded_count < (len(frames) if is_h264 else MIN_FRAMES) or not frames[0][3]:
        raise InputError(DAMAGED)
    times = sorted(time for _, time, *_ in frames)
    if (len(times) - 1) > (max_rate + MAX_EXTRA_RATE) * (times[-1] - times[0]):
        raise InputError(_too_many(max_rate))
    content, time, length, key = frames[0]
    if time == times[0] and time > 0:  # browsers would disagree on what is seen before
        frames[0] = content, Fraction(0), length + time, key
    return frames, view


def _too_many(max_rate: float) -> str:
    return f"It has more than {max_rate:g} pictures a second. Export it with {max_rate:g} or fewer."


def _without_user_data(frame: bytes, width: int) -> bytes:
    """Leave out of H.264, as MP4 holds it, the units in which an encoder names itself and its
    settings. width: bytes of the length before each unit."""
    units, position = [], 0
    while position + width < len(frame):
        end = position + width + int.from_bytes(frame[position : position + width], "big")
        unit = frame[position + width : end]
        if not (len(unit) > 1 and unit[0] & 31 == SEI and unit[1] in USER_DATA):
            units.append(frame[position:end])
        position = end
    return b"".join(units) or frame


def _muxed(stream: av.VideoStream, form: str, packets: list[Packet]) -> bytes:
    """Write the frames into a container of their own, without tags. Some are decoded long before
    they are seen: all are decoded in the order of being seen, so much sooner as the latest needs.
    """
    file, order = io.BytesIO(), sorted(pts for _, pts, *_ in packets)
    ahead = max(early - pts for early, (_, pts, *_) in zip(order, packets, strict=True))
    with av.open(file, "w", format=form, options={"fflags": "+bitexact"}) as container:
        track = container.add_stream_from_template(stream)
        unit = stream.time_base or Fraction(1, 90_000)
        for (content, pts, length, key), early in zip(packets, order, strict=True):
            packet = av.Packet(content)
            packet.time_base, packet.is_keyframe, packet.stream = unit, key, track
            packet.pts, packet.dts = round(pts / unit), round((early - ahead) / unit)
            packet.duration = round(length / unit)
            container.mux(packet)
    return file.getvalue()


def _check_copy(content: bytes, times: list[Fraction]) -> str:
    """Check that a copy shows each frame at its time, and name its type as browsers ask for it."""
    with av.open(io.BytesIO(content), "r") as container:
        stream = container.streams.video[0]
        copied_times = sorted(
            float(packet.pts * packet.time_base)
            for packet in container.demux(stream)
            if packet.pts is not None and packet.time_base and not packet.is_discard
        )
        errors = [abs(a - float(b)) for a, b in zip(copied_times, sorted(times), strict=False)]
        if len(copied_times) != len(times) or max(errors) > MAX_TIME_ERROR:
            raise InputError(CUT)
        if stream.codec_context.name != "h264":
            return f'video/webm; codecs="{stream.codec_context.name}"'
        profile = (stream.codec_context.extradata or b"")[1:4].hex()
        return f'video/mp4; codecs="avc1.{profile}"'
