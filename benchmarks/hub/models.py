"""The models of the hub, each with the part of ours that does the same."""

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, Final, NamedTuple, cast

import numpy as np
import torch
from torch import nn
from transformers import (
    ClapAudioConfig,
    ClapConfig,
    ClapFeatureExtractor,
    ClapModel,
    HubertConfig,
    HubertModel,
    SpeechT5Config,
    SpeechT5ForSpeechToSpeech,
    SpeechT5HifiGan,
    SpeechT5HifiGanConfig,
    Wav2Vec2Config,
    Wav2Vec2Model,
    WavLMConfig,
    WavLMForXVector,
    WavLMModel,
    WhisperConfig,
    WhisperForConditionalGeneration,
)

from earshot.core.paths import ASSETS, CHECKPOINTS
from earshot.media.audio.load import load
from earshot.media.constants import SAMPLE_RATE
from earshot.pretrained.speech_encoder import SpeechEncoder
from earshot.systems.sound_search.encoder import EarshotEncoder
from earshot.systems.voice_conversion import VoiceConversion
from earshot.systems.voice_conversion.speecht5 import SpeechT5Conversion
from earshot.systems.words import Words
from training.judges.evaluator import EvaluationModels
from training.judges.sphinx import OpenRecogniser

CPU: Final = torch.device("cpu")
LAYER: Final = 9  # of a speech model
CLAP_RATE: Final = 48_000  # Hz
TOKENS: Final = 40  # that Whisper writes for a sentence

Run = Callable[[], Sequence[int]]  # the shape of what comes out


class HubModel(NamedTuple):
    """A model of the hub. theirs: makes the networks and a run of them; ours: makes a run of the
    part of ours that is compared with it.
    """

    name: str
    input: str
    theirs: Callable[[], tuple[Sequence[nn.Module], Run]]
    compared_with: str
    ours: Callable[[], Run]


@cache
def speech(seconds: float) -> np.ndarray:
    """Repeat an example recording to this duration: (T,)."""
    example = load(ASSETS / "examples" / "woman-lighthouse.ogg").waveform
    return np.resize(example, round(seconds * SAMPLE_RATE))


def speech_model(model: type[nn.Module], config: Any) -> tuple[Sequence[nn.Module], Run]:
    network = model(config).eval()
    front_end = SpeechEncoder("random", network, [LAYER], normalized=False)
    return [network], lambda: front_end.states(speech(1)).shape


def clap() -> tuple[Sequence[nn.Module], Run]:
    """Make CLAP's audio tower: fusion is off, and the patches are those of
    laion/clap-htsat-unfused.
    """
    network = ClapModel(ClapConfig(audio_config=ClapAudioConfig(enable_fusion=False))).eval()
    extract = ClapFeatureExtractor(truncation="rand_trunc")
    sound = np.resize(speech(5), 10 * CLAP_RATE)

    def run() -> Sequence[int]:
        inputs = extract(sound, sampling_rate=CLAP_RATE, return_tensors="pt")
        states = network.audio_model(inputs["input_features"]).pooler_output
        return network.audio_projection(states).shape

    return [network], run


def speecht5() -> tuple[Sequence[nn.Module], Run]:
    """Make SpeechT5 to end as long as the source: random weights never say that they have
    finished.
    """
    model = SpeechT5ForSpeechToSpeech(SpeechT5Config()).eval()
    vocoder = SpeechT5HifiGan(SpeechT5HifiGanConfig()).eval()
    convert = SpeechT5Conversion(model, vocoder, CPU)
    convert.LENGTHS = (1.25, 1.25)  # type: ignore[misc]
    voice = np.ones(convert.voice_width, np.float32)

    def run() -> Sequence[int]:
        return convert((SAMPLE_RATE, speech(3)), voice).converted.waveform.shape

    return [model, vocoder], run


def x_vectors() -> tuple[Sequence[nn.Module], Run]:
    network = WavLMForXVector(WavLMConfig()).eval()
    return [network], lambda: network(torch.from_numpy(speech(3))[None]).embeddings.shape


def whisper() -> tuple[Sequence[nn.Module], Run]:
    """Make Whisper in the configuration of openai/whisper-small.en; it hears 30 s, however short
    the speech.
    """
    config = WhisperConfig(
        vocab_size=51_864,
        d_model=768,
        encoder_layers=12,
        encoder_attention_heads=12,
        encoder_ffn_dim=3072,
        decoder_layers=12,
        decoder_attention_heads=12,
        decoder_ffn_dim=3072,
    )
    network = WhisperForConditionalGeneration(config).eval()
    features = torch.zeros(1, config.num_mel_bins, 3000)
    options = {"min_new_tokens": TOKENS, "max_new_tokens": TOKENS, "do_sample": False}
    return [network], lambda: cast(torch.Tensor, network.generate(features, **options)).shape


def our_words() -> Run:
    words = Words.from_pretrained(CHECKPOINTS / "words", "cpu")
    return lambda: words.embed_waveforms([speech(1)]).shape


def our_sounds() -> Run:
    encoder = EarshotEncoder.from_pretrained(CHECKPOINTS / "sound-cnn", "cpu")
    segments = encoder.segments(np.resize(speech(5), 10 * encoder.sample_rate))
    return lambda: encoder.embed_audio(segments).vectors.shape


def our_conversion() -> Run:
    convert = VoiceConversion.from_pretrained(CHECKPOINTS / "any-voice", "cpu")
    audio = SAMPLE_RATE, speech(3)
    return lambda: convert(audio, "TF2", "neural").converted.waveform.shape


def our_speakers() -> Run:
    encoder = EvaluationModels.load().speaker_encoder
    return lambda: encoder.embed([speech(3)]).shape


def our_recogniser() -> Run:
    recogniser = OpenRecogniser()
    return lambda: (len(recogniser.words(speech(3))),)


MODELS: Final = (
    *(
        HubModel(
            name, "1 s", partial(speech_model, model, config), "words, two networks", our_words
        )
        for name, model, config in (
            ("HuBERT base", HubertModel, HubertConfig()),
            ("WavLM base", WavLMModel, WavLMConfig()),
            ("wav2vec 2.0 base", Wav2Vec2Model, Wav2Vec2Config()),
        )
    ),
    HubModel("CLAP, HTSAT, unfused", "10 s", clap, "sound-cnn", our_sounds),
    HubModel("SpeechT5 + HiFi-GAN", "3 s", speecht5, "any-voice, neural vocoder", our_conversion),
    HubModel("WavLM base, x-vectors", "3 s", x_vectors, "our speaker encoder", our_speakers),
    HubModel("Whisper small.en", f"3 s, {TOKENS} tokens", whisper, "pocketsphinx", our_recogniser),
)
