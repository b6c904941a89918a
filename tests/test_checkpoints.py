"""Every checkpoint that is shipped: complete, small, and the one that was measured."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from transformers import PreTrainedConfig

from earshot.cli.convert import main as convert
from earshot.cli.lips import main as read_lips
from earshot.cli.sounds import main as find_sounds
from earshot.cli.words import main as neighbours
from earshot.media.audio.load import load
from earshot.media.audio.sound_features import SAMPLE_RATE as SOUND_RATE
from earshot.media.constants import SAMPLE_RATE as SPEECH_RATE
from earshot.pretrained.checkpoint import CheckpointError, weight_bytes, weight_files
from earshot.sound_index.index import SoundIndex
from earshot.systems.lip_to_speech import LipToSpeech
from earshot.systems.sound_search import SoundSearch
from earshot.systems.voice_conversion import VoiceConversion, settings
from earshot.systems.words import Words
from earshot.systems.words.library import WordLibrary
from earshot.systems.words.pronunciation import Pronouncer
from earshot.tabs.lip_to_speech.view import SOURCE, read_finished
from earshot.tabs.sound_search import EXAMPLES
from earshot.tabs.sound_search.events import FINISHED

ROOT = Path(__file__).parents[1] / "checkpoints"
WORDS = ROOT.parent / "assets" / "words"
SOUNDS = ROOT.parent / "assets" / "sounds"
FOLDERS = sorted(path for path in ROOT.iterdir() if path.is_dir())
MODELS = [folder for folder in FOLDERS if folder.name.startswith("vqvae-")]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_checkpoint_weights_have_hash_in_metrics(folder: Path) -> None:
    metrics = json.loads((folder / "metrics.json").read_text())
    assert hashlib.sha256(weight_bytes(folder)).hexdigest() == metrics["sha256"]
    assert all(path.stat().st_size <= 10 * 2**20 for path in weight_files(folder))
    assert json.loads((folder / "config.json").read_text())
    assert "## Training" in (folder / "README.md").read_text()


def test_checkpoints_are_at_most_160_mb() -> None:
    """The limit holds for all of them together."""
    assert sum(file.stat().st_size for file in ROOT.rglob("*") if file.is_file()) <= 160 * 2**20


def test_settings_name_voices_of_configs() -> None:
    for folder in [*MODELS, ROOT / settings.ANY_VOICE]:
        expected = settings.VQVAE_VOICES if folder in MODELS else settings.VOICES
        assert tuple(json.loads((folder / "config.json").read_text())["voices"]) == expected


@pytest.mark.slow
@pytest.mark.parametrize("name", [*settings.MODELS, *(folder.name for folder in MODELS)])
def test_shipped_conversion_loads_from_anywhere(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The conversion is loaded by name."""
    monkeypatch.chdir(tmp_path)
    assert VoiceConversion.from_pretrained(name, "cpu").name == name


@pytest.mark.slow
def test_command_line_converts_from_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command line takes a model by name and by folder."""
    monkeypatch.chdir(tmp_path)
    source = str(ROOT.parent / "assets" / "examples" / "scot-digits.ogg")
    for number, model in enumerate(("any-voice", "units-64", str(ROOT / "any-voice"), "vqvae-64")):
        convert([source, "--model", model, "-o", f"{number}.wav"])
        assert soundfile.info(f"{number}.wav").duration > 1


@pytest.mark.slow
def test_shipped_pipelines_load_from_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are loaded by name, and no hub is asked for what is here."""
    monkeypatch.chdir(tmp_path)
    read = PreTrainedConfig.get_config_dict

    def read_from_disk(name: str, **how: Any) -> Any:
        assert Path(name).exists(), name
        return read(name, **how)

    monkeypatch.setattr(PreTrainedConfig, "get_config_dict", read_from_disk)
    assert SoundSearch.from_pretrained("sound-cnn", "cpu").encoder.name == "sound-cnn"
    for reader in (LipToSpeech.from_pretrained(), LipToSpeech.from_pretrained("lip-to-speech")):
        assert reader.name == "lip-to-speech"


@pytest.mark.parametrize(
    ("load", "name", "kinds"),
    [
        (VoiceConversion.from_pretrained, "words", "adapter or vqvae or kmeans"),
        (VoiceConversion.from_pretrained, ROOT / "sound-cnn", "adapter or vqvae or kmeans"),
        (Words.from_pretrained, "vqvae-64", "acoustic"),
        (Words.from_pretrained, ROOT / "sound-cnn", "acoustic"),
        (Words.from_pretrained, "g2p", "acoustic"),
        (LipToSpeech.from_pretrained, "words", "reader"),
        (LipToSpeech.from_pretrained, ROOT / "vqvae-64", "reader"),
        (SoundSearch.from_pretrained, "words", "sentence_encoder"),
        (SoundSearch.from_pretrained, ROOT / "vqvae-64", "sentence_encoder"),
        (Pronouncer.from_pretrained, "words", "slots"),
    ],
)
def test_checkpoint_of_another_task_is_refused(
    load: Callable[[str | Path], object], name: str | Path, kinds: str
) -> None:
    """The refusal names the kinds."""
    with pytest.raises(CheckpointError, match=f"config names no {kinds}"):
        load(name)


@pytest.mark.parametrize(
    ("command", "arguments", "kinds"),
    [
        (convert, ["speech.wav", "-o", "converted.wav", "--model", "words"], "adapter"),
        (neighbours, ["word.wav", "--model", "vqvae-64"], "acoustic"),
        (read_lips, ["face.mp4", "--model", "words"], "reader"),
        (find_sounds, ["search", "rain", "--sound-model", "vqvae-64"], "sentence_encoder"),
    ],
)
def test_command_line_refuses_another_task(
    command: Callable[[list[str]], None], arguments: list[str], kinds: str
) -> None:
    with pytest.raises(SystemExit, match=f"config names no {kinds}"):
        command(arguments)


@pytest.mark.slow
@pytest.mark.parametrize("folder", MODELS, ids=lambda folder: folder.name)
def test_shipped_vqvae_converts_an_example(folder: Path) -> None:
    """Speech comes out: as long, about as loud, and not the same as what went in."""
    pipeline = VoiceConversion.from_pretrained(folder, "cpu")
    example = ROOT.parent / "assets" / "examples" / "woman-lighthouse.ogg"
    result = pipeline(example, target="SM1", vocoder=pipeline.vocoders[0])
    assert len(result.converted.waveform) == len(result.source.waveform)
    source, converted = (s.log_mel.mean(axis=1) for s in (result.source, result.converted))
    # The syllables fall in the same places.
    correlation = float(((source - source.mean()) * (converted - converted.mean())).mean())
    assert correlation / float(source.std() * converted.std()) > 0.7
    assert len(set(result.units.codes.tolist())) > 20


@pytest.fixture(scope="module")
def search() -> SoundSearch:
    return SoundSearch.from_pretrained(device="cpu")


@pytest.fixture(scope="module")
def library(search: SoundSearch) -> SoundIndex:
    """Raises InputError when other models made it than those that are shipped."""
    return SoundIndex.open(SOUNDS.with_suffix(".index"), search.encoder)


@pytest.mark.slow
def test_shipped_index_has_library_hashes(library: SoundIndex) -> None:
    """The hashes are those of the library's files."""
    files = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in SOUNDS.glob("*.ogg")
    }
    assert {sound.name: sound.content_hash for sound in library.sounds} == files
    assert all(sound.path.parent == SOUNDS and sound.caption for sound in library.sounds)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("a dog is barking", "dog"),
        ("rain falling on a roof", "rain"),
        ("ocean surf", "sea_waves"),
        ("someone knocks at the door", "door_wood_knock"),
        ("the bells of a church", "church_bells"),
        ("a cat wants its dinner", "cat"),
    ],
)
def test_search_by_text_finds_kind(
    search: SoundSearch, library: SoundIndex, text: str, kind: str
) -> None:
    result = search(library, text)
    assert kind in [hit.sound.kind for hit in result.hits[:3]]
    assert result.matched


@pytest.mark.slow
def test_search_by_sound_finds_kind(search: SoundSearch, library: SoundIndex) -> None:
    """A sound of the library mostly finds the same kind."""
    count = Counter(sound.kind for sound in library.sounds)
    queries = [sound for sound in library.sounds if count[sound.kind] > 1][::5]
    results = [search(library, like=sound.id, limit=3).hits for sound in queries]
    same = [
        sound.kind in {hit.sound.kind for hit in hits}
        for sound, hits in zip(queries, results, strict=True)
    ]
    assert np.mean(same) > 0.6


@pytest.mark.slow
@pytest.mark.parametrize("text", EXAMPLES)
def test_every_search_example_has_match(
    search: SoundSearch, library: SoundIndex, text: str
) -> None:
    assert search(library, text).matched


@pytest.mark.slow
def test_noise_and_beeps_are_told_apart(search: SoundSearch) -> None:
    """As a folder of one's own holds them: plain, and not of the corpora."""
    time = np.arange(3 * SOUND_RATE) / SOUND_RATE
    noise = np.random.default_rng(7).normal(0, 0.1, len(time))
    beeps = 0.3 * np.sin(2 * np.pi * 900 * time) * (time % 0.5 < 0.2)
    segments = [search.encoder.segments(sound.astype(np.float32)) for sound in (noise, beeps)]
    sounds = np.concatenate([search.encoder.embed_audio(sound).vectors for sound in segments])
    scores = search.encoder.embed_text(["white noise", "a beep"]) @ sounds.T
    assert ((scores > search.encoder.own_threshold) == np.eye(2, dtype=bool)).all()


def test_finished_search_has_match() -> None:
    """The page shows the finished search first."""
    assert json.loads(FINISHED.read_text())["matched"]


@pytest.mark.slow
def test_finished_lips_are_of_shipped_weights() -> None:
    """What the page shows before the first video is what it would show after it."""
    example = read_finished()
    assert example
    reading = LipToSpeech.from_pretrained(ROOT / "lip-to-speech", "cpu").encode(SOURCE)
    expected = [(word.start, word.confidence) for word in reading.caption]
    stored = [(word.start, word.confidence) for word in example.words]
    np.testing.assert_allclose(stored, expected, atol=0.02)


@pytest.mark.slow
def test_embedded_batch_equals_single_sounds(search: SoundSearch) -> None:
    """Sounds that shipped models embed in a batch have the vectors of single ones."""
    noise = np.random.default_rng(0).normal(size=(3, 64_000)).astype(np.float32) / 5
    batch = search.encoder.embed_audio(noise).vectors
    alone = np.concatenate([search.encoder.embed_audio(row[None]).vectors for row in noise])
    np.testing.assert_allclose(alone, batch, atol=1e-5)


@pytest.mark.parametrize(
    ("word", "phonemes"),
    [("blorft", "b l ɔ ɹ f t"), ("tiktok", "t ɪ k t ɑ k"), ("earshotting", "ɪ ɹ ʃ ɑ t ɪ ŋ")],
)
def test_pronouncer_predicts_invented_words(word: str, phonemes: str) -> None:
    pronunciation = Pronouncer.from_pretrained(ROOT / "g2p")(word)
    assert (" ".join(pronunciation.phonemes), pronunciation.source) == (phonemes, "guess")


@pytest.mark.slow
@pytest.mark.parametrize("word", ["bird", "ship", "house"])
def test_located_word_keeps_its_ends(word: str) -> None:
    """The voice activity detector leaves what a word is recognised by."""
    words, path = Words.from_pretrained(ROOT / "words", "cpu"), WORDS / f"{word}-awb.ogg"
    whole = words.embed_waveforms([load(path, SPEECH_RATE).waveform])[0]
    assert words.embed_audio(path).vector @ whole > 0.85


def test_shipped_word_index_opens() -> None:
    """The index opens with the shipped model."""
    words = Words.from_pretrained(ROOT / "words", "cpu")
    library = WordLibrary.open(WORDS.with_suffix(".index"), words.fingerprint)
    assert {"tree", "water", "apple", "yes"} <= {word.spelling for word in library.words}
    assert all(word.path.exists() for word in library.words if word.path)
