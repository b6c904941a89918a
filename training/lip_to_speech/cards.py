"""The model cards of lip to speech, in the usual order of the hub."""

import json
from pathlib import Path
from typing import Any, Final

from training.common.checkpoints import update_metrics
from training.lip_to_speech.evaluate import details, table
from training.lip_to_speech.recipe import SHIPPED, VOCODER
from training.lip_to_speech.systems import GROUPS

CARD: Final = """\
---
license: cc-by-sa-4.0
language: [en]
tags: [lip-to-speech, lip-reading, audio-visual]
---
# {name}: speech from the video of a speaking face

A lip reader (mouth crops → conformer encoder → CTC words and a parallel mel decoder), a second
reader of words alone, whose posteriors are averaged with those of the first, and a face encoder
(portrait → voice embedding and mean F0). The waveform comes from
[vocoder-lips](../vocoder-lips/README.md). Other voices come from
[any-voice](../any-voice/README.md), which hears that waveform and says it again. How it works, and
what was tried: [docs/lip_to_speech.md](../../docs/lip_to_speech.md).

## Use

    from earshot import LipToSpeech
    result = LipToSpeech.from_pretrained("checkpoints/{name}")("video.webm")
    print(result.reading.caption, result.speech.waveform)

`voice="Nell"` speaks in a voice of any-voice; `voice=` also takes what `VoiceConversion.voice_from`
makes of a recording.

For videos of one frontal face that says a sentence of the GRID grammar, in English. Not for
transcribing what people say: on speakers outside of the training set, a third of the words are
wrong. Record or upload only faces of people who agree.

## Training data and licence

Licence of the weights: CC BY-SA 4.0, after the strictest licence below.

- GRID (Cooke, Barker, Cunningham and Shao 2006; CC BY 4.0, changed: compressed again): 700 videos
of
  speaker s1, 60 of s4, s11, s26 and s31 together.
- 120 videos of the synthetic heads Ada, Kofi and Noor (`python -m synthetic.heads`; CC0). The app's
  examples show them in other sentences; Mina and Tom are not in the training set.
- The voice encoder: all speakers of npVCC2016, GRID, the Free Spoken Digit Dataset, Speech
Commands,
  DSPSpeech-20 and Arabic Speech Commands (CC BY-SA 4.0 at the strictest).

## Training procedure

    python -m training.lip_to_speech prepare --data DATA --out OUT
    python -m training.lip_to_speech train --out OUT
    python -m training.lip_to_speech export --out OUT

Hours by stage on 2 cores: {hours}; seed 0. The first three stages also read landmarks of the lips,
which the recipe no longer does. Losses: L1 of mel frames and their differences, STOI and ESTOI of
mel frames, CTC and the word at each frame, voicing and log F0; from `vocoder-loss` to `clear`
through a frozen vocoder, from `clear` on with a PESQ loss. STOI, ESTOI and PESQ are thus what it
was
trained towards.

## Evaluation

On GRID videos outside of the training set: of speaker s1 (seen), of three speakers with a few
training videos (few-shot), and of speakers without any (unseen).

{results}

Of unseen speakers 15 videos are transcribed, 90 words: small differences may be chance.

{details}

STOI and ESTOI (pystoi): intelligibility given the reference, from 0 to 1. PESQ: wide-band, from
1.04
to 4.64. Aligned: each video's audio shifted by at most 80 ms. WER: of a recogniser trained here, of
pocketsphinx, both under the GRID grammar, and of the caption. A refused video counts as silence.
DNSMOS: how natural it sounds, from 1 to 5; not measured where there is none. `{name}, S1` and
`{name}, TF2`: the default in these voices of any-voice.
*Reference audio, A/V-synchronised* is the upper bound of scores without alignment. The share of
other voices that are nearer is 0.5 by chance. Few videos are of few-shot and unseen speakers: small
differences may be chance.

Calibration of word confidence (by `export`; fitted on
what two readers of words that were trained without s4, s11, s26 and s31 read of these, never on
test videos; in the first row each speaker's confidence comes from the other three):

{calibration}

Of the test videos see *Confidence of captions* above.

## Limits

51 words in one grammar, frontal faces in studio light. Other sentences are misread always, other
speakers often. Lips hide voicing and the tongue: B, P and M look alike. The voice suggested by a
face is
hardly better than chance: five training speakers.
"""

VOCODER_CARD: Final = """\
---
license: cc-by-4.0
tags: [vocoder]
---
# {name}: log-mel spectrogram and F0 → waveform at 16 kHz, for predicted spectrograms

The network of [vocoder](../vocoder/README.md), fine-tuned on mel frames that the lip reader of
[lip-to-speech](../lip-to-speech/README.md) predicts.

## Use

`LipToSpeech.from_pretrained("checkpoints/lip-to-speech")` loads it; its input is 80 log-mel bands
every 10 ms and F0 in Hz.

## Training data and licence

Licence of the weights: CC BY 4.0. The training videos of the lip reader: GRID (CC BY 4.0), with
aligned audio, and the synthetic heads (CC0).

## Training procedure

    python -m training.lip_to_speech train --out OUT
    python -m training.lip_to_speech export --out OUT

{hours:.2f} hours on 2 cores, as `synced-vocoder`; seed 0; on predicted frames of augmented videos
and
on reference frames, at the reference F0, with spectral losses and the STOI loss.

## Evaluation

In the table of [lip-to-speech](../lip-to-speech/README.md): *reference mel, neural*, and all our
checkpoints. Since the vocoder's output is filtered to the predicted spectrogram, fine-tuning gains
little: on the validation videos of s1, [vocoder](../vocoder/README.md) in its place has the same
STOI and ESTOI, and a PESQ of 1.44 instead of 1.45.

## Limits

Five speakers and three synthetic voices.
"""

CALIBRATION: Final = """\
| words of | words | words wrong | mean confidence | expected calibration error |
| --- | ---: | ---: | ---: | ---: |
{rows}"""


def publish(rows: list[dict[str, Any]], checkpoints: Path) -> list[dict[str, Any]]:
    """Write the rows into the metrics of the shipped checkpoint, its card and its vocoder's.

    Rows of systems that were not measured now stay as they were printed. Returns all rows.
    """
    folder = checkpoints / SHIPPED
    measured = {row["system"] for row in rows}
    printed = json.loads((folder / "metrics.json").read_text()).get("results", [])
    rows = [*(row for row in printed if row["system"] not in measured), *rows]
    rows.sort(key=lambda row: GROUPS.index(row["group"]))
    update_metrics(folder, {"results": rows})
    write_cards(checkpoints)
    return rows


def write_cards(checkpoints: Path) -> None:
    """Write the cards of the shipped checkpoint and its vocoder from their metrics."""
    folder, vocoder = checkpoints / SHIPPED, checkpoints / VOCODER
    metrics = json.loads((folder / "metrics.json").read_text())
    hours, rows = metrics["training_hours"], metrics["results"]
    stages = ", ".join(f"{part} {time:.2f}" for part, time in hours.items())
    card = CARD.format(
        name=SHIPPED,
        hours=f"{stages}; together {sum(hours.values()):.1f}",
        results=table(rows),
        details=details(rows),
        calibration=_calibration(metrics.get("calibration", {})),
    )
    (folder / "README.md").write_text(card, encoding="utf-8")
    hours = json.loads((vocoder / "metrics.json").read_text())["training_hours"]
    card = VOCODER_CARD.format(name=VOCODER, hours=sum(hours.values()))
    (vocoder / "README.md").write_text(card, encoding="utf-8")


def _calibration(measured: dict[str, dict[str, float]]) -> str:
    rows = [
        f"| {name} | {one['words']} | {one['wrong']:.1%} | {one['mean_confidence']:.3f} | "
        f"{one['calibration_error']:.3f} |"
        for name, one in measured.items()
    ]
    return CALIBRATION.format(rows="\n".join(rows)) if rows else "Not measured."
