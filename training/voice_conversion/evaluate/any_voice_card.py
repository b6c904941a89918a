"""The model card of conversion to any voice."""

from typing import Any, Final

from earshot.systems.voice_conversion.settings import ANY_VOICE, MODELS
from training.common.report import markdown

CARD: Final = """\
---
license: cc-by-sa-4.0
tags: [voice-conversion, any-to-any]
---
# any-voice: what is said, in few bits or many, in any voice

An adapter from the states of a pretrained recogniser (layers 3 and 6 of Moonshine tiny, Jeffries
et al. 2024, arXiv:2410.15608) to 32 numbers at 50 Hz, seven bottlenecks over them, from 64 units
(300 bit/s) to continuous content, a reference encoder that makes a voice of 10 to 30 s of speech,
and a predictor of the intonation. [any-voice-inverter](../any-voice-inverter/README.md) makes
log-mel spectrograms of them, [any-voice-vocoder](../any-voice-vocoder/README.md) speech.

The recogniser was trained with text by others: these units are not *discovered* without text, as
those of vqvae-64 to vqvae-512 are. Its weights (MIT licence) are not here: they are those of the
wheel moonshine-voice 0.0.49, checked by SHA-256, or of a hub id that the config names under
`recogniser`. See docs/voice_conversion.md.

## Use

    from earshot import VoiceConversion
    convert = VoiceConversion.from_pretrained("checkpoints/any-voice")
    convert("speech.wav", target="Nell")
    voice = convert.voice_from("somebody.wav")  # 10 to 30 s of them, if they agree
    convert.at("units-512")("speech.wav", target=voice)

Nine voices are shipped: SF1, TF2, Nell, Odile, Vera (women), SM1, TM3, S1 (men), and Heart, a
synthetic voice (hibari-tts 0.2.1, Apache-2.0) that is nobody's. Every file that the app writes
says “Converted by Earshot” in its metadata.

## Training data and licence

{data}

## Training procedure

    python -m training.voice_conversion prepare --data DATA --out OUT
    python -m training.voice_conversion.any_voice pack --out OUT --to FOLDER
    python -m training.voice_conversion.any_voice lent --packed FOLDER --out OUT --seconds 525 \\
        --recogniser encoder_model.ort
    python -m training.voice_conversion.any_voice lent --packed FOLDER --out OUT --seconds 185 \\
        --recogniser encoder_model.ort

{steps} steps of 192 windows of 3.2 s in {minutes:.0f} minutes on one NVIDIA H200, on speech that
had passed Opus at 18 kbit/s; in each part the rate falls to zero over the last 35 %, the second
goes on from where the first was. The recogniser hears every window through another microphone, at
.82 to 1.18 of its rate, every second one in a room with babble of the corpora's own speakers,
sounds or noise at 0 to 22 dB. Losses: docs/voice_conversion.md. Chosen on validation between the
end of the first part and of the second.

## Evaluation

On recordings that were not trained on; docs/voice_conversion.md defines the metrics. *open*:
sentences of any words, by a professional reader (studio, validation prompts) and by LibriSpeech
speakers whom no training knew (visitors, test).

{results}

## Limits

English: the recogniser knows no other language, and words of others come out as English sounds.
The rows above say how many words of open sentences are lost, and how many more in babble. Singing
and whispering are converted to babble. A voice that was not trained on is met only roughly: see
*nearer unseen*. A voice can be imitated without its owner's agreement: the app asks for a text of
random words to be read into the microphone, and accepts uploads only with --allow-reference.
"""
DATA: Final = """\
306 minutes by 655 speakers, sampled by fixed shares: LibriSpeech, 251 speakers (CC BY 4.0) 37 %;
prompts by four professional speakers in English, French, Italian and Russian (CC BY-SA 3.0 and CC
BY 3.0) 21 %; captions of AudioCaps (MIT) and lists of words of CMUdict (BSD), 1,300 in all, said by
the synthetic voice Heart (hibari-tts, Apache-2.0) in five sizes, as by five speakers, 18 %;
npVCC2016 (CC BY 4.0) 11 %; GRID (CC BY 4.0) 7 %; Picovoice commands (Apache-2.0) 6 %. CC BY-SA 3.0
is the strictest, and these weights are under CC BY-SA 4.0, which it allows.
Noise: sounds of assets/sounds (CC0). Where a corpus names no speaker, a recording counts as one.
The test speakers, and recordings with words that no model of this repository may be trained on,
are left out."""
INVERTER: Final = """\
---
license: cc-by-sa-4.0
tags: [voice-conversion, any-to-any]
---
# any-voice-inverter: content, a contour of log-F0 and a voice → log-mel spectrogram

A part of [any-voice](../any-voice/README.md), in a file of its own for its size: four Transformer
layers at 50 Hz and four convolution blocks at 100 Hz, whose every norm is set by voice and
bottleneck (FiLM). It is loaded with any-voice, whose card has its use, evaluation and limits.

## Training data and procedure

Those of [any-voice](../any-voice/README.md), with which it was trained.
"""
VOCODER: Final = """\
---
license: cc-by-sa-4.0
tags: [vocoder]
---
# any-voice-vocoder: log-mel spectrogram and F0 → speech at 16 kHz

A source-filter vocoder of six ConvNeXt blocks: filters for a pulse train and for noise, a frame
every 10 ms; the harmonic filter's phase is minimum phase and a learned rest. It speaks what
[any-voice-inverter](../any-voice-inverter/README.md) makes.

## Training data and procedure

These weights were made by a prototype of the recipe, not yet by the committed command, and are to
be replaced by its own: 4,342 steps of 64 windows of 1 s (410 s on one NVIDIA H200, which another
training shared), then 768 steps in which six windows of ten were made by a prototype's inverter
(90 s). Data: as any-voice's, without Picovoice's commands. The command is

    python -m training.voice_conversion train any-voice-vocoder --out OUT

Losses: multi-resolution and mel spectra, discriminators at three resolutions and five periods,
feature matching (training/voice_conversion/any_voice/vocoder.py).

## Limits

Speech of one voice. What lies above 8 kHz is not there.
"""


PARTS: Final = {"any-voice-inverter": INVERTER, "any-voice-vocoder": VOCODER}


def is_any_voice(row: dict[str, Any]) -> bool:
    """Say whether a row of the table is about this checkpoint."""
    name = row["system"].split(",")[0]
    return name == ANY_VOICE or MODELS.get(name) == ANY_VOICE


def any_voice_card(training: dict[str, Any], rows: list[dict[str, Any]]) -> str:
    """Write the card: how long the system was trained, and its results."""
    minutes = 60 * sum(stage["hours"] for stage in training.values())
    steps = " and ".join(f"{stage['steps']:,}" for stage in training.values())
    open_rows = [row for row in rows if "group" in row]
    others = [row for row in rows if "group" not in row]
    return CARD.format(
        data=DATA,
        results=f"{markdown(others)}\n\n{markdown(open_rows)}",
        steps=steps,
        minutes=minutes,
    )
