"""python -m earshot.systems.voice_conversion.live CHECKPOINT: live conversions, one by one.

Reads messages of earshot.media.workers.processes from its input, answers to its output, and ends
with its input. {"begin": rate, "choice": …} begins a session; {"samples": T, "choice": …}, followed
by T samples in float32, is answered by what is to be played. A choice is a document of Choice, and
left out where it is still the last one.
"""

import sys
import time
from pathlib import Path

import numpy as np
import torch

from earshot.core.errors import InputError
from earshot.media.workers.processes import receive, send, send_array
from earshot.systems.voice_conversion.live.networks import LiveNetworks, load_networks
from earshot.systems.voice_conversion.live.process import Choice
from earshot.systems.voice_conversion.live.session import LiveSession


def main(checkpoint: str) -> None:
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # nothing else may write where the answers go
    torch.set_num_threads(1)  # the other cores have sessions of their own
    networks = load_networks(Path(checkpoint))
    level = warm_up(networks)
    send(sink, {})
    session, choice = None, Choice()
    while (message := receive(source)) is not None:
        if "choice" in message:
            choice = Choice.from_document(message["choice"])
        samples = np.frombuffer(source.read(4 * message.get("samples", 0)), np.float32)
        try:
            if "begin" in message:
                level = session.level if session else level
                session = LiveSession(networks, message["begin"], choice, level)
                send(sink, {})
                continue
            assert session, "samples came before a session had begun"
            session.change(choice)
        except InputError as error:
            send(sink, {"error": str(error)})
            continue
        began = time.perf_counter()
        spoken = session.push(samples)
        seconds = time.perf_counter() - began
        header = {"units": spoken.units, "behind": spoken.behind, "economy": spoken.economy}
        send_array(sink, header | {"seconds": seconds}, spoken.samples.astype(np.float32))


def warm_up(networks: LiveNetworks) -> int:
    """Convert noise, as loud as speech: the first second takes longer, and what it imports would
    stop a visitor's first words. Returns the level of the timing that the machine keeps up with in
    the next.
    """
    noise = np.random.default_rng(0).normal(0, 0.1, 48_000).astype(np.float32)
    LiveSession(networks, 48_000, Choice()).push(noise)
    session = LiveSession(networks, 48_000, Choice())
    for chunk in np.split(noise, 50):
        session.push(chunk)
    return session.level


if __name__ == "__main__":
    main(sys.argv[1])
