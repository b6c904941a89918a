"""The model card of the judges, with what their training measured."""

from typing import Any, Final

CARD: Final = """\
# Judges of voice conversion

For evaluation only: they measure the systems of this repository and are no part of the app.

- **recogniser**: phones by CTC from 40 log-mel bands (1.3 M weights), words by the grammar of GRID
  or of digits.
- **speaker encoder**: whose voice a recording is nearer to (0.3 M weights).
- **centroids**: 128 k-means units of MFCC, the baseline of the learned units.

## Training
    python -m training.evaluators train --data DATA --seed {seed}

On real recordings of the training splits only, never on converted speech:

| part | data | steps | minutes on a busy CPU |
|---|---|---|---|
| recogniser | GRID, Free Spoken Digit Dataset, Speech Commands sample, DSPSpeech-20 (English), \
Picovoice wake words | {r[steps]} | {r[minutes]:.0f} |
| speaker encoder | {s[speakers]} speakers of npVCC2016, GRID, Free Spoken Digit Dataset, \
Speech Commands sample, DSPSpeech-20, Arabic Speech Commands | {s[steps]} | {s[minutes]:.0f} |
| centroids | all of these, and Picovoice commands | – | 2 |

Ten English words that other models must never hear in training are left out of the recogniser's.

Licences of the data: CC BY 4.0 (npVCC2016, GRID, Speech Commands, Arabic Speech Commands),
CC BY-SA 4.0 (Free Spoken Digit Dataset; the strictest), MIT (DSPSpeech-20), Apache-2.0 (Picovoice).

## Measured on the validation split
| measure | |
|---|---|
| word errors in GRID sentences of talkers heard in training | {r[val_wer]:.1f} % |
| errors in digits of a talker never heard | {r[val_digit_error]:.1f} % |
| equal error rate for speakers never heard, recordings of a second | {s[val_eer]:.1f} % |

The weight of digits and narrow-band speech in the recogniser's training was raised after its errors
on the test talker's digits had been seen; between the two versions validation decided.

What they make of unseen original recordings is in the table of the voice conversion: judge
conversions by the difference to it. They know one talker of GRID much better than any other,
British and American English better than other accents, and only the words of these corpora.
"""


def card(recogniser: dict[str, Any], speaker_encoder: dict[str, Any], seed: int) -> str:
    """The card, given what ``train_recogniser`` and ``train_speaker_encoder`` measured."""
    return CARD.format(r=recogniser, s=speaker_encoder, seed=seed)
