"""Video in and out: frames with their time stamps, faces, mouth crops."""

from earshot.media.video.decode import MAX_FRAME_RATE, MAX_SIDE, Frame, frames

__all__ = ["MAX_FRAME_RATE", "Frame", "MAX_SIDE", "frames"]
