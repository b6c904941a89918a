"""What an index finds, and what its folder holds."""

from pathlib import Path

from pipelines.sound_search.index import SoundIndex


def names(index: SoundIndex, text: str, limit: int = 10) -> list[str]:
    query = index.encoder.embed_text([text])[0]
    return [sound.name for sound, _, _ in index.search(query, limit)]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}
