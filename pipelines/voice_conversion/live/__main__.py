"""python -m pipelines.voice_conversion.live CHECKPOINT: live conversions, one after the other.

Reads messages of media.workers.protocol from its input, answers to its output, and ends with its
input. {"begin": rate, "voice": name} begins a session; {"samples": T, "voice": name}, followed by
T samples in float32, is answered by what is to be played.
"""

import sys
import time

import numpy as np
import torch

from media.errors import InputError
from media.workers.protocol import receive, send, send_array
from pipelines.voice_conversion import VoiceConversion
from pipelines.voice_conversion.live.session import LiveSession


def main(checkpoint: str) -> None:
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # nothing else may write where the answers go
    torch.set_num_threads(1)  # the other cores have sessions of their own
    pipeline = VoiceConversion.from_pretrained(checkpoint, "cpu")
    _warm_up(pipeline)
    send(sink, {"colors": pipeline.colors, "step": pipeline.unit_seconds})
    session = None
    while (message := receive(source)) is not None:
        try:
            if "begin" in message:
                session = LiveSession(pipeline, message["begin"], message["voice"])
                send(sink, {})
                continue
            samples = np.frombuffer(source.read(4 * message["samples"]), np.float32)
            assert session, "samples came before a session had begun"
            session.change(message["voice"])
        except InputError as error:
            send(sink, {"error": str(error)})
            continue
        began = time.perf_counter()
        spoken = session.push(samples)
        taken = time.perf_counter() - began
        header = {"units": spoken.units, "behind": spoken.behind, "seconds": taken}
        send_array(sink, header, spoken.samples.astype(np.float32))


def _warm_up(pipeline: VoiceConversion) -> None:
    """The first pass of a network takes longer than the others."""
    LiveSession(pipeline, 48_000, pipeline.VOICES[0]).push(np.zeros(48_000, np.float32))


if __name__ == "__main__":
    main(sys.argv[1])
