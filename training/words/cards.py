"""The model cards of the shipped checkpoints, filled with their measured results."""

import json
from pathlib import Path
from typing import Any, Final

from training.common.checkpoints import update_metrics
from training.common.report import markdown
from training.words.systems import DEFAULT_NAME

CURVES: Final = "curves.svg"
CARD: Final = """\
---
license: cc-by-nc-3.0
language: [en, ar, zh]
tags: [acoustic-word-embeddings, keyword-spotting]
---
# {name}: acoustic word embeddings

Multi-view acoustic word embeddings after Rhodes and Bains, He, Wang and Livescu (2017), and Settle
et al. (2019). The acoustic view encodes a recording of a word, the written view its phonemes, into
one vector space, in which words that sound alike are close together. A conformer of four layers
encodes log-mel frames and log-F0, another of two layers phonemes: 4.2 million weights together.

The checkpoint is an ensemble: its vectors are concatenated with those of
[words-bottleneck](../words-bottleneck/README.md), and of
[words-states](../words-states/README.md) and
[words-states-bottleneck](../words-states-bottleneck/README.md), which hear the states of a
pretrained recogniser, so that a cosine is the mean of the four, in {dimension} dimensions.

## Intended use

Search, comparison and recognition of single spoken words; queries by example or by text.

    from earshot.systems.words import Words

    words = Words.from_pretrained("checkpoints/{name}")
    words.embed_audio("word.wav").vector @ words.embed_text("lighthouse").vector

config.json holds the temperature of the softmax over written words, the cosine of an unknown word
(``another``) and the operating curve of same-word detection, all fitted on validation speakers, the
first two also in noise, and on words of validation sentences by an English speaker whose other
sentences were trained on; and the durations, shares of its own, in which the networks over states
hear a word.

## Training data and licence

{data}

## Training procedure

    python -m training.words prepare --data DATA --out OUT
    python -m training.words train --out OUT
    python -m training.words export --data DATA --out OUT
    python -m training.words evaluate --part calibration --publish --data DATA

Seed 0, {hours:.1f} hours with words-bottleneck, on one or two cores of a CPU (AMD EPYC; the last
stages Intel Xeon). A supervised contrastive loss brings recordings and spellings of a word
together, with corrupted spellings as hard negatives; CTC of the phonemes is an auxiliary loss. Data
augmentation: VTLP, time stretching, clipping, spectral tilt, reverberation, environmental noise,
narrow-band channels, SpecAugment; in the last stages also other people's voices, recorded Mandarin
words with other tones, and words spliced from recordings. The stages, with what each measured on
validation speakers, are in its [training log](../../docs/training_logs/words.md).

## Evaluation

On speakers who were not trained on, as far as the corpora identify speakers; the unseen words by
every speaker. The metrics and the other systems are explained in
[docs/words.md](../../docs/words.md#evaluation), with results by language and in noise.

{results}

![Precision–recall curves of pairs of recordings, and of recordings with written words, of the
networks over log-mel frames]({curves})

The curves were drawn before the networks over states were added.

The choice of earlier stages looked at the test speakers three times; the last stages were chosen
on validation speakers alone: see the training log.

## Limits

{limits}
"""
DATA: Final = """\
Free Spoken Digit Dataset (CC BY-SA 4.0), a sample of Speech Commands (CC BY 4.0), DSPSpeech-20
(MIT), Arabic Speech Commands (CC BY 4.0), Picovoice's wake words (Apache-2.0), and words cut from
GRID (CC BY 4.0); words concatenated from two of these by the same speaker; 16,000 synthetic words
(flite and espeak-ng), 10,000 renditions of which also in the voices of 150 speakers of
LibriSpeech (CC BY 4.0), by [any-voice](../any-voice/README.md); 4,000 Mandarin words joined from
syllables that Chu Lo recorded for ChionMeilin (CC BY 3.0); and by any-voice too, in other voices:
recorded Mandarin words with other tones, and 6,000 words spliced from two or three recordings.
Noise is that of ESC-50's folds 1 to 3
(CC BY-NC 3.0 as a collection: the strictest, and therefore the licence of these weights).

Seventeen zero-shot words were held out in every voice: alexa, jarvis, snowboy, view glass, signal,
project, marvin, sheila, bird, house; يسار, تراجع, ستة, فتح, خيارات; 北京, 饭店."""
LIMITS: Final = """\
Single words and short phrases of up to about two seconds, in English, Arabic and Mandarin. Measured
on about a hundred words that were said one at a time; of words cut from fluent speech the ensemble
finds half. Accents and children's voices are rare in the recordings. Unrecorded words are found
less often in Arabic and Mandarin than in English. English is General American, without stress."""

BOTTLENECK_CARD: Final = """\
---
license: cc-by-nc-3.0
language: [en, ar, zh]
tags: [acoustic-word-embeddings]
---
# {name}: acoustic word embeddings with a phoneme bottleneck

Convolutional layers with 0.3 s of context predict phonemes by CTC from log-mel frames and log-F0; a
conformer of two layers encodes the phoneme posteriors, and nothing else, into the vector of the
word. The written view is a conformer of two layers: 5.1 million weights together. The network
cannot memorise whole words, and generalises better to words that nobody recorded. It also had other
mixtures of words and a higher CTC weight than the whole-word model; their effects were not
separated.

## Intended use

As a member of the ensemble [words](../words/README.md), whose vectors are concatenated with its
own; it can also be used alone.

    from earshot.systems.words import Words

    words = Words.from_pretrained("checkpoints/{name}")

## Training data and licence

{data}

## Training procedure

    python -m training.words prepare --data DATA --out OUT
    python -m training.words train --out OUT
    python -m training.words export --data DATA --out OUT

Seed 0, {hours:.1f} hours on two cores of a CPU (AMD EPYC; the last stages Intel Xeon). CTC alone
first, then the losses of words. Most synthetic words are channel-matched to recordings, and some
words are liftered, which removes the harmonics; in the last stages only words without tones. The
stages, with what each measured on validation speakers, are in its
[training log](../../docs/training_logs/words.md).

## Evaluation

{results}

The metrics and the other systems are explained in [docs/words.md](../../docs/words.md#evaluation).

## Limits

{limits}
"""
STATES_DATA: Final = """\
80 recordings at most of each recorded word: Free Spoken Digit Dataset (CC BY-SA 4.0), a sample of
Speech Commands (CC BY 4.0), DSPSpeech-20 (MIT), Arabic Speech Commands (CC BY 4.0), Picovoice's
wake words (Apache-2.0); 1,158 Mandarin syllables that Chu Lo recorded for ChionMeilin (CC BY 3.0);
40 minutes by 236 speakers of LibriSpeech (CC BY 4.0), with texts by Whisper base (MIT), runs of
words that it was sure of; npvCC 2016 (CC BY 4.0) and English studio prompts (CC BY-SA 3.0) with
their texts; 3,900 synthetic words (espeak-ng); words spliced from two recorded ones; and 25,800
dictionary words and pseudo-words that nobody said. Noise is that of ESC-50's folds 1 to 3
(CC BY-NC 3.0 as a collection: the strictest, and therefore the licence of these weights).

The seventeen zero-shot words of [words](../words/README.md) were held out in every voice. Until the
last 218 steps, nine sentences held a longer word that contains one of them (houses, birds)."""
STATES_CARD: Final = """\
---
license: cc-by-nc-3.0
language: [en, ar, zh]
tags: [acoustic-word-embeddings]
---
# {name}: acoustic word embeddings over a recogniser's states

{what}

It hears layers 3 and 6 of Moonshine tiny (Jeffries et al. 2024, MIT licence; trained on English
alone) every 24 ms, and log-F0 with them. The recogniser's weights are those of the wheel
moonshine-voice 0.0.49.

## Intended use

As a member of the ensemble [words](../words/README.md), whose vectors are concatenated with its
own; it can also be used alone.

    from earshot.systems.words import Words

    words = Words.from_pretrained("checkpoints/{name}")

## Training data and licence

{data}

## Training procedure

    python -m training.words.states prepare --data DATA --out OUT
    python -m training.words.states train --out OUT --seconds 290
    python -m training.words.states export --out OUT
    rm OUT/state.pt
    python -m training.words.states train --out OUT --again --seconds 10100
    python -m training.words.states export --out OUT

Seed 0, for both networks over states together: 290 seconds on one H200, then 1,270 steps in 2.8
hours on one or two shared cores of a CPU (Intel Xeon). CTC alone for 30 % of the first training;
then also the contrastive loss, on recorded words, on stretches of 3 to 11 phonemes of the
sentences, and, of the bottleneck model, on words that nobody said, made of the posteriors of their
phonemes in others' words; in the last 218 steps also on words spliced from the states of two
recorded ones, cut at their phonemes. Each recording is prepared twice: half are in noise of -2 to
20 dB, 7 % far away, 8 % by telephone. The weights are an exponential mean over the last steps.

These weights were made in parts, by earlier versions of the commands: on the H200 there were 38
recordings at most of each word, each prepared once, a third in noise of 0 to 20 dB; and spliced
words, which the commands now have from the start, came last, at the full learning rate. What each
part gave is in the [training log](../../docs/training_logs/words.md).

## Evaluation

{results}

The metrics and the other systems are explained in [docs/words.md](../../docs/words.md#evaluation).

## Limits

{limits}
Tones are told apart less well than by [words-bottleneck](../words-bottleneck/README.md).
"""
BOTTLENECK_OVER_STATES: Final = """\
Five convolutional layers predict phonemes by CTC; a conformer of two layers encodes the phoneme
posteriors, and nothing else, into the vector of the word. The written view is a conformer of two
layers: 7.5 million weights together."""
WHOLE_OVER_STATES: Final = """\
A conformer of four layers encodes the word, another of two layers its phonemes: 4.2 million weights
together."""
CARDS: Final = {
    DEFAULT_NAME: CARD,
    "words-bottleneck": BOTTLENECK_CARD,
    "words-states": STATES_CARD.replace("{what}", WHOLE_OVER_STATES),
    "words-states-bottleneck": STATES_CARD.replace("{what}", BOTTLENECK_OVER_STATES),
}


def publish(rows: list[dict[str, Any]], checkpoints: Path) -> list[dict[str, Any]]:
    """Write the rows into the metrics of the shipped checkpoints, and their cards.

    Rows of systems that were not measured this time stay as they were published. Returns all rows.
    """
    path = checkpoints / DEFAULT_NAME / "metrics.json"
    before = json.loads(path.read_text()).get("results", [])
    table = {row["system"]: row for row in [*before, *rows]}
    for name in CARDS:
        update_metrics(checkpoints / name, {"results": [*table.values()]})
        write_card(checkpoints / name)
    return [*table.values()]


def write_card(folder: Path) -> None:
    """Write the model card of a shipped checkpoint from its config and metrics."""
    metrics = json.loads((folder / "metrics.json").read_text())
    config = json.loads((folder / "config.json").read_text())
    members = config.get("ensemble_with", ())
    text = CARDS[folder.name].format(
        name=folder.name,
        dimension=config["network"]["width"] * (1 + len(members)),
        hours=sum(metrics["training_hours"].values()),
        data=STATES_DATA if "recogniser_layers" in config else DATA,
        limits=LIMITS,
        results=markdown(metrics["results"]),
        curves=CURVES,
    )
    (folder / "README.md").write_text(text, encoding="utf-8")
