"""python -m benchmarks.sound_search: from a query to ranked results, a million vectors, embedding.

For comparison, in the same run: exhaustive search, numpy and memory bandwidth; and the audio tower
of ClapModel with random weights. Writes sound_search.md.
"""

import platform
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import faiss
import numpy as np
import torch
from transformers import ClapAudioConfig, ClapAudioModel, ClapFeatureExtractor

from benchmarks.index_scale.vectors import vectors_of
from benchmarks.voice_conversion import median
from earshot.sound_index.embedding import SoundEncoder
from earshot.sound_index.index import SoundIndex
from earshot.sound_index.library import POOL, Library
from earshot.sound_index.nearest import N_PROBES, Nearest
from earshot.sound_index.sound import Entry, Sound
from earshot.systems.sound_search import SoundSearch
from earshot.systems.sound_search.encoder import DEFAULT_MODEL, load_encoder
from earshot.systems.sound_search.query import parse

ROOT = Path(__file__).parents[1]
N_SEGMENTS = 10_000  # segments, of 10 s
MANY = 1_000_000
CLIP_SECONDS = 10
WARM_UP = 5  # queries before the clock counts
Item = TypeVar("Item")


def main() -> None:
    """Measure, print, and write the table."""
    encoder = load_encoder(DEFAULT_MODEL, "cpu")
    library = SoundIndex.open(ROOT / "assets" / "sounds.index", encoder).library
    texts = list(dict.fromkeys(sound.first_caption for sound in library.sounds))[:200]
    members = [encoder, *(load_encoder(folder, "cpu") for folder in DEFAULT_MODEL)]
    lines = [
        "# Sound search: speed",
        "",
        f"`python -m benchmarks.sound_search`, threads: {torch.get_num_threads()}, "
        f"{platform.machine()}, torch {torch.__version__}, FAISS {faiss.__version__}.",
        "",
        *ranking(encoder, vectors_of(N_SEGMENTS), texts),
        *searching(vectors_of(MANY), [*encoder.embed_text(texts)]),
        *embedding(members),
    ]
    text = "\n".join(lines) + "\n"
    print(text)
    Path(__file__).with_suffix(".md").write_text(text)


def made_index(encoder: SoundEncoder, vectors: np.ndarray) -> SoundIndex:
    """Make an index with a segment a sound; vectors (n, D), of unit length."""
    generator = np.random.default_rng(0)
    entries = [
        Entry(
            Sound(str(number), Path(f"{number}.wav"), f"{number}.wav", "", "", 10.0, ""),
            vectors[number : number + 1],
            np.repeat(vectors[number : number + 1], CLIP_SECONDS, axis=0).astype(np.float16),
        )
        for number in range(len(vectors))
    ]
    places = generator.random((len(vectors), 2), dtype=np.float32)
    return SoundIndex(encoder, Library(entries, Nearest(vectors), places))


def ranking(encoder: SoundEncoder, vectors: np.ndarray, texts: Sequence[str]) -> list[str]:
    """Time the way from a text to ranked results, in a library with a segment a sound."""
    index, search = made_index(encoder, vectors), SoundSearch(encoder)
    library = index.library
    queries = [*encoder.embed_text(texts)]
    several = [text for text in texts if parse(text).links]
    single = [text for text in texts if text not in several]
    votes = {"0": 1, "1": -1}
    rows = {
        "text encoder": percentiles(lambda text: encoder.embed_text([text]), texts),
        f"exact, the nearest {POOL:,} ranked": percentiles(library.find, queries),
        "numpy, scores alone": percentiles(lambda query: vectors @ query, queries),
        "**text → ranked results**": percentiles(lambda text: search(index, text), single),
        "with “but not” and votes": percentiles(
            lambda text: search(index, text, without="speech", votes=votes), single
        ),
        "several sounds, second by second": percentiles(lambda text: search(index, text), several),
    }
    return [
        f"| {len(vectors):,} segments of {vectors.shape[1]} dimensions | p50, ms | p95, ms |",
        "|---|---:|---:|",
        *(f"| {name} | {p50:.1f} | {p95:.1f} |" for name, (p50, p95) in rows.items()),
        "",
    ]


def searching(vectors: np.ndarray, queries: Sequence[np.ndarray]) -> list[str]:
    """Time the search of the ten nearest of many vectors: exactly, approximately, and as fast as
    memory allows.
    """
    began = time.perf_counter()
    ours = Nearest(vectors)
    built = time.perf_counter() - began
    flat = faiss.IndexFlatIP(vectors.shape[1])
    flat.add(vectors)
    recalls = [
        len(set(ours.search(query, 10)[1]) & set(flat.search(query[None], 10)[1][0])) / 10
        for query in queries
    ]
    rows = {
        f"ours, {N_PROBES} lists probed": percentiles(
            lambda query: ours.search(query, 10), queries
        ),
        f"ours, the nearest {POOL:,}, as the page asks": percentiles(
            lambda query: ours.search(query, POOL), queries
        ),
        "FAISS, exact": percentiles(lambda query: flat.search(query[None], 10), queries),
        "numpy": percentiles(lambda query: np.argpartition(-(vectors @ query), 10), queries),
    }
    speed = copy_speed()
    reading = 1e3 * vectors.nbytes / speed  # ms
    return [
        f"| the ten nearest of {len(vectors):,} vectors | p50, ms | p95, ms |",
        "|---|---:|---:|",
        *(f"| {name} | {p50:.1f} | {p95:.1f} |" for name, (p50, p95) in rows.items()),
        f"| reading all vectors, at {speed / 1e9:.1f} GB/s | {reading:.1f} | – |",
        "",
        f"Recall@10 of ours, against exact: {np.mean(recalls):.3f} over {len(queries)} captions of "
        f"the library as queries; built in {built:.0f} s. The vectors are made: mixtures of two of "
        "the library's own, moved by a third of their length in the directions in which these "
        "differ. The speed of the memory is that of copying, bytes read and written together.",
        "",
    ]


def embedding(encoders: Sequence[SoundEncoder]) -> list[str]:
    """Time the embedding of a clip, one at a time: ours, and CLAP's audio tower."""
    torch.manual_seed(0)
    tower = ClapAudioModel(ClapAudioConfig()).eval()
    extractor = ClapFeatureExtractor(truncation="rand_trunc")
    rows: dict[str, float] = {}
    for encoder in encoders:
        clip = noise(encoder.sample_rate)
        rows[f"{encoder.name}, from samples to vectors"] = median(
            lambda e=encoder, c=clip: e.embed_audio(e.segments(c))
        )
    sound = noise(extractor.sampling_rate)

    def features() -> torch.Tensor:
        inputs = extractor(sound, sampling_rate=extractor.sampling_rate, return_tensors="pt")
        return inputs["input_features"]

    with torch.inference_mode():
        mel = features()
        rows["ClapModel's audio tower alone"] = median(lambda: tower(mel))
        rows["ClapModel's audio tower with its features"] = median(lambda: tower(features()))
    ours, theirs = rows[next(iter(rows))], rows["ClapModel's audio tower alone"]
    return [
        f"| a clip of {CLIP_SECONDS} s | ms | × real time |",
        "|---|---:|---:|",
        *(f"| {name} | {1e3 * s:.0f} | {CLIP_SECONDS / s:.0f} |" for name, s in rows.items()),
        "",
        f"The default model, features included, is {theirs / ours:.1f} times as fast as the audio "
        "tower of ClapModel without (random weights; the configuration is that of "
        "laion/clap-htsat-unfused).",
    ]


def noise(sample_rate: int) -> np.ndarray:
    """Make a clip of noise: (T,)."""
    samples = np.random.default_rng(0).normal(0, 0.1, CLIP_SECONDS * sample_rate)
    return samples.astype(np.float32)


def copy_speed(size: int = 2**29) -> float:
    """Measure the bytes that a copy in memory reads and writes a second."""
    source = torch.ones(size // 4)
    target = torch.empty_like(source)
    return 2 * size / median(lambda: target.copy_(source))


def percentiles(work: Callable[[Item], object], items: Sequence[Item]) -> tuple[float, float]:
    """Measure the 50th and the 95th percentile of the milliseconds that work takes with each
    item.
    """
    for item in items[:WARM_UP]:
        work(item)
    times = []
    for item in items:
        began = time.perf_counter()
        work(item)
        times.append(1e3 * (time.perf_counter() - began))
    p50, p95 = np.percentile(times, [50, 95])
    return float(p50), float(p95)


if __name__ == "__main__":
    main()
