"""python -m benchmarks.voice_conversion: time by part, growth with length, memory.

In the same run, the parts of two other systems with random weights, through transformers, which
take as long as trained ones: of soft-vc (van Niekerk et al. 2022) HuBERT-base and HiFi-GAN; of
kNN-VC (Baas et al. 2023) the six layers of WavLM-large that it needs, its matching with a minute of
the target, and HiFi-GAN. Times are medians. Writes voice_conversion.md.
"""

import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import numpy as np
import torch
from gradio_client import Client, handle_file
from torch import Tensor
from torch.nn import functional as F
from transformers import (
    HubertConfig,
    HubertModel,
    SpeechT5HifiGan,
    SpeechT5HifiGanConfig,
    WavLMConfig,
    WavLMModel,
)

from earshot.core.paths import CHECKPOINTS
from earshot.media.audio.load import load, wav_bytes
from earshot.media.audio.pitch import track_pitch
from earshot.media.constants import SAMPLE_RATE
from earshot.systems.voice_conversion import AnyVoiceConversion, VoiceConversion, settings

ROOT = Path(__file__).parents[1]
MODELS = tuple(settings.MODELS)
LENGTHS = (1, 2, 5, 10, 20, 40, 60)  # seconds
REPEATS = 5
# Of kNN-VC, as its authors set them: WavLM-large up to the layer whose features are matched.
WAVLM = WavLMConfig(
    hidden_size=1024,
    intermediate_size=4096,
    num_hidden_layers=6,
    num_attention_heads=16,
    feat_extract_norm="layer",
    do_stable_layer_norm=True,
)
NEAREST = 4  # frames of the target, whose mean is spoken
TARGET = 60 * 50  # frames of the target


def main() -> None:
    """Measure, print, and write the table."""
    torch.manual_seed(0)
    pipeline = VoiceConversion.from_pretrained(CHECKPOINTS / settings.ANY_VOICE, "cpu")
    assert isinstance(pipeline, AnyVoiceConversion)
    lines = [
        "# Voice conversion: speed and memory",
        "",
        f"`python -m benchmarks.voice_conversion`, threads: {torch.get_num_threads()}, "
        f"{platform.machine()}, torch {torch.__version__}. Medians of {REPEATS} runs, in seconds.",
        "",
        *_parts(pipeline),
        *_growth(pipeline),
    ]
    lines += [
        "",
        f"The whole app, {len(MODELS)} models, 60 s through each: {_peak_memory():.2f} GB.",
    ]
    text = "\n".join(lines) + "\n"
    print(text)
    Path(__file__).with_suffix(".md").write_text(text)


def speech(seconds: float) -> np.ndarray:
    """Repeat an example recording to this duration in seconds: (T,)."""
    example = load(ROOT / "assets" / "examples" / "woman-lighthouse.ogg").waveform
    return np.resize(example, round(seconds * SAMPLE_RATE))


def _parts(pipeline: AnyVoiceConversion) -> list[str]:
    """Time ten seconds by part, compared with the networks of soft-vc."""
    waveform = speech(10)
    networks, voice = pipeline.networks, pipeline.voices[settings.DEFAULT_VOICE]
    _, units, _ = pipeline.encode((SAMPLE_RATE, waveform))
    assert units.intonation  # of speech, there always is one
    content = torch.from_numpy(pipeline.content(units))
    contour = torch.from_numpy(units.intonation.contour(voice.pitch_std)).to(content)
    with torch.inference_mode():
        mel = networks.invert(content, contour, voice, pipeline.name)
        pitch = contour[:, 0] * (contour[:, 1] + voice.pitch_mean).exp()
        parts = {
            "pitch": median(lambda: track_pitch(waveform)),
            "recogniser and adapter": median(lambda: networks.encode(waveform)),
            "inverter": median(lambda: networks.invert(content, contour, voice, pipeline.name)),
            "vocoder, neural": median(lambda: networks.vocode(mel, pitch, "neural")),
            "vocoder, Griffin-Lim": median(lambda: networks.vocode(mel, pitch, "griffin-lim")),
        }
        hubert, hifigan = HubertModel(HubertConfig()).eval(), _hifigan()
        samples = torch.from_numpy(waveform)[None]
        other = median(lambda: hubert(samples)) + median(lambda: hifigan(mel))
        knn = _knn_vc(samples)
    neural = median(lambda: pipeline((SAMPLE_RATE, waveform), vocoder="neural"))
    griffin_lim = median(lambda: pipeline((SAMPLE_RATE, waveform), vocoder="griffin-lim"))
    rows = [
        *parts.items(),
        ("**whole conversion, neural**", neural),
        ("**whole conversion, Griffin-Lim**", griffin_lim),
        ("HuBERT-base + HiFi-GAN, random weights", other),
        *((f"kNN-VC, random weights: {part}", seconds) for part, seconds in knn.items()),
    ]
    knn_vc = sum(knn.values())
    return [
        f"| 10 s of speech, {pipeline.name} | s | of real time |",
        "|---|---:|---:|",
        *(f"| {name} | {seconds:.3f} | {seconds / 10:.3f} |" for name, seconds in rows),
        "",
        f"HuBERT-base + HiFi-GAN take {other / neural:.1f} times as long as the whole conversion "
        f"with the neural vocoder, {other / griffin_lim:.1f} times as long as with Griffin-Lim; "
        f"kNN-VC's parts together {knn_vc / neural:.1f} and {knn_vc / griffin_lim:.1f} times.",
        "",
    ]


def _knn_vc(samples: Tensor) -> dict[str, float]:
    """Time each part for a waveform (1, T), in seconds; features of the target are there
    already.
    """
    wavlm, target = WavLMModel(WAVLM).eval(), torch.randn(TARGET, WAVLM.hidden_size)
    config = SpeechT5HifiGanConfig(
        model_in_dim=WAVLM.hidden_size,
        upsample_rates=[10, 8, 2, 2],
        upsample_kernel_sizes=[20, 16, 4, 4],
    )
    hifigan = SpeechT5HifiGan(config).eval()
    features = wavlm(samples).last_hidden_state[0]

    def match() -> Tensor:
        likeness = F.normalize(features, dim=1) @ F.normalize(target, dim=1).T
        return target[likeness.topk(NEAREST, dim=1).indices].mean(dim=1)

    matched = match()
    return {
        "WavLM-large, six layers": median(lambda: wavlm(samples)),
        f"matching with {TARGET // 50} s": median(match),
        "HiFi-GAN": median(lambda: hifigan(matched)),
    }


def _growth(pipeline: AnyVoiceConversion) -> list[str]:
    rows = []
    for seconds in LENGTHS:
        waveform = speech(seconds)
        taken = [
            median(lambda w=waveform, v=v: pipeline((SAMPLE_RATE, w), vocoder=v))
            for v in ("neural", "griffin-lim")
        ]
        rows.append(
            f"| {seconds} | {taken[0]:.3f} | {taken[0] / seconds:.3f} "
            f"| {taken[1]:.3f} | {taken[1] / seconds:.3f} |"
        )
    head = "| seconds of speech | neural, s | of real time | Griffin-Lim, s | of real time |"
    return [head, "|---:|---:|---:|---:|---:|", *rows]


def _peak_memory() -> float:
    """Measure the peak resident memory in GB of the app after it has converted a minute with every
    model.
    """
    address = "http://127.0.0.1:7879"
    app = subprocess.Popen(
        [sys.executable, ROOT / "app.py", "--port", "7879", "--preload"], stdout=subprocess.DEVNULL
    )
    with tempfile.NamedTemporaryFile(suffix=".wav") as file:
        file.write(wav_bytes(speech(60), SAMPLE_RATE))
        file.flush()
        client = _connect(address)
        for model in MODELS:
            for vocoder in settings.VOCODERS:
                client.predict(
                    handle_file(file.name), "TF2", model, vocoder, "keep", api_name="/convert"
                )
    status = Path(f"/proc/{app.pid}/status").read_text()
    app.terminate()
    peak = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert peak  # Linux always tells
    return int(peak[1]) * 1024 / 1e9


def _connect(address: str, patience: float = 120.0) -> Client:
    """Connect a client to the app, once it answers."""
    began = time.monotonic()
    while True:
        try:
            return Client(address, verbose=False)
        except httpx.ConnectError:
            if time.monotonic() - began > patience:
                raise
            time.sleep(0.5)


def _hifigan() -> SpeechT5HifiGan:
    """Make HiFi-GAN V1 for 16 kHz and a hop of 10 ms."""
    config = SpeechT5HifiGanConfig(upsample_rates=[5, 4, 4, 2], upsample_kernel_sizes=[10, 8, 8, 4])
    return SpeechT5HifiGan(config).eval()


def median(work: Callable[[], object]) -> float:
    """Measure the median seconds of REPEATS runs, after one that warms up."""
    work()
    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


if __name__ == "__main__":
    main()
