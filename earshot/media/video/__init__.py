"""Video in and out: frames with their time stamps, faces, mouth crops."""

from earshot.media.video.decode import FASTEST, MAX_SIDE, Frame, frames

__all__ = ["FASTEST", "Frame", "MAX_SIDE", "frames"]
