"""Video in and out: frames with their time stamps, faces, mouth crops."""

from media.video.decode import FASTEST, LONGEST_SIDE, Frame, frames

__all__ = ["FASTEST", "Frame", "LONGEST_SIDE", "frames"]
