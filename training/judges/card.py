"""The model card of the evaluation models, with what their training measured."""

from typing import Any, Final

CARD: Final = """\
---
license: cc-by-sa-4.0
tags: [speech-recognition, speaker-verification, evaluation]
---
# Evaluation models of voice conversion

Three small models that measure the systems of this repository. The app does not use them.

- **recogniser**: phones by CTC from 40 log-mel bands (1.3 M weights), words by the grammar of GRID
  or of digits.
- **speaker encoder**: whether a recording is nearer to one speaker or another (0.3 M weights).
- **centroids**: 128 k-means units of MFCC, the baseline of the discovered units.

## Use

    python -m training.voice_conversion evaluate --data DATA

## Training data and licence

Original recordings of the training splits only, never converted speech:

| part | data | steps | minutes on a busy CPU |
|---|---|---|---|
| recogniser | GRID, Free Spoken Digit Dataset, Speech Commands sample, DSPSpeech-20 (English), \
Picovoice wake words | {r[steps]} | {r[minutes]:.0f} |
| speaker encoder | {s[speakers]} speakers of npVCC2016, GRID, Free Spoken Digit Dataset, \
Speech Commands sample, DSPSpeech-20, Arabic Speech Commands | {s[steps]} | {s[minutes]:.0f} |
| centroids | all of these, and Picovoice commands | – | 2 |

Ten English words that other models never see in training are left out of the recogniser's too.

Licences of the data: CC BY 4.0 (npVCC2016, GRID, Speech Commands, Arabic Speech Commands),
CC BY-SA 4.0 (Free Spoken Digit Dataset; the strictest), MIT (DSPSpeech-20), Apache-2.0 (Picovoice).

## Training procedure

    python -m training.judges train --data DATA --seed {seed}

## Evaluation

| on the validation split | |
|---|---|
| word errors in GRID sentences by training speakers | {r[val_wer]:.1f} % |
| errors in digits by an unseen speaker | {r[val_digit_error]:.1f} % |
| equal error rate of unseen speakers, recordings of a second | {s[val_eer]:.1f} % |

The weight of digits and narrow-band speech in the recogniser's training was raised after its errors
on the test speaker's digits had been seen; between the two versions validation decided.

## Limits

Their results on original test recordings are in the table of docs/voice_conversion.md: judge
conversions by the difference to it. They know one speaker of GRID much better than any other,
British and American English better than other accents, and only the words of these corpora.
"""


def card(recogniser: dict[str, Any], speaker_encoder: dict[str, Any], seed: int) -> str:
    """Write the card, given the measures of train_recogniser and train_speaker_encoder."""
    return CARD.format(r=recogniser, s=speaker_encoder, seed=seed)
