"""Files of visitors are decoded in separate processes, which may crash, hang or run out of memory.

FFmpeg is a million lines of C that read whatever a visitor sends. A worker has limits on memory,
CPU seconds and output; one that crashes or breaks a limit is replaced, and costs one message.
The processes import PyAV and numpy only, and stay warm between files.
"""

from earshot.media.workers.pool import stream, warm_up

__all__ = ["stream", "warm_up"]
