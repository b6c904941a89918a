"""The model card of conversion to any voice."""

from typing import Any, Final

from earshot.pipelines.voice_conversion.settings import ANY_VOICE, MODELS
from training.common.report import markdown

CARD: Final = """\
---
license: cc-by-sa-4.0
tags: [voice-conversion, unit-discovery, any-to-any]
---
# any-voice: what is said, in few bits or many, in any voice

One content encoder with seven bottlenecks, from 64 discovered units (300 bit/s) to continuous
content, a reference encoder that makes a voice of 10 to 30 s of speech, and an inverter to log-
mel spectrograms whose every norm is set by the voice (FiLM). The intonation of the source is
kept, for 200 bit/s, or predicted. No text and no phone label enters training. See
docs/voice_conversion.md.

## Use

    from earshot.pipelines.voice_conversion import AnyVoiceConversion
    convert = AnyVoiceConversion.from_pretrained("checkpoints/any-voice")
    convert("speech.wav", target="Nell")
    voice = convert.voice(convert.reference("somebody.wav"))  # theirs, if they agree
    convert.at("units-512")("speech.wav", target=voice)

Eight voices are shipped: SF1, TF2, Nell, Odile, Vera (women), SM1, TM3, S1 (men). Every file that
the app writes says “Converted by Earshot” in its metadata.

## Training data and licence

{data}

## Training procedure

    python -m training.voice_conversion prepare --data DATA --out OUT
    python -m training.voice_conversion train conversion-first conversion --out OUT
    python -m training.voice_conversion export --out OUT

Seed 0; {steps} steps of 8 windows of 2 s, in two stages of together {hours:.1f} hours on one core
of a CPU (Intel Xeon, 2.8 GHz) that other work shared. In the first stage content alone is learned;
then units, conversions that a speaker classifier must take for the target and whose content must
come back when they are encoded again, and an adversary that must not tell the speaker from the
content. In the second, more windows are free of noise, and a discriminator judges the
spectrograms. The rate falls to zero over the last fifth of each. The first stage saw noise in
three quarters of its windows; the augmentation in the code is that of the second. The cepstra of
conversions, which the loss on their content needs, were a poorer guess then than in the code now,
and hum was at times taken for a voice of 500 Hz.

## Evaluation

On recordings that were not trained on; docs/voice_conversion.md defines the metrics. *open*:
sentences of any words, by a professional reader (studio, validation prompts) and by LibriSpeech
speakers whom no training knew (visitors, test).

{results}

## Limits

Speech that was read close to a microphone, mostly English. Strong noise, music, overlapping
speakers, singing and whispering are converted to babble. Words of open sentences are still
lost: the rows above say how many. Spectrograms are smoother than real ones. Voices that were
not trained on are met only roughly: see *nearer unseen*. A voice can be imitated without its
owner's agreement: the app asks for a text of random words to be read into the microphone, and
accepts no uploads.
"""
DATA: Final = """\
309 minutes by 957 speakers, sampled by fixed shares: LibriSpeech, 251 speakers (CC BY 4.0) 40 %;
prompts by four professional speakers in English, French, Italian and Russian (CC BY-SA 3.0 and
CC BY 3.0) 20 %; npVCC2016 14 % and GRID 10 % (CC BY 4.0); Picovoice commands (Apache-2.0),
DSPSpeech-20 (MIT), Arabic Speech Commands (CC BY 4.0), Free Spoken Digit Dataset (CC BY-SA 4.0,
the strictest, and therefore the licence of these weights) and Mandarin syllables (CC BY 3.0) 16
%. Where a corpus names no speaker, a recording counts as one. The test speakers, and recordings
with words that no model of this repository may be trained on, are left out."""


def is_any_voice(row: dict[str, Any]) -> bool:
    """Whether a row of the table is about this checkpoint."""
    name = row["system"].split(",")[0]
    return name == ANY_VOICE or (name in MODELS and MODELS[name].checkpoint == ANY_VOICE)


def any_voice_card(training: dict[str, Any], rows: list[dict[str, Any]]) -> str:
    """The card: how long it was trained, and its results."""
    hours = sum(stage["hours"] for stage in training.values())
    steps = " and ".join(f"{stage['steps']:,}" for stage in training.values())
    open_rows = [row for row in rows if "group" in row]
    others = [row for row in rows if "group" not in row]
    return CARD.format(
        data=DATA, results=f"{markdown(others)}\n\n{markdown(open_rows)}", steps=steps, hours=hours
    )
