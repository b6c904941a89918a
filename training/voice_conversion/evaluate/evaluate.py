"""The table of voice conversion: units, vocoders and originals, all on the same recordings."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any, Final

import numpy as np

from media.audio.features import log_mel
from media.constants import SAMPLE_RATE
from media.text.grammar import DIGITS, GRID, Grammar
from pipelines import VoiceConversion
from pipelines.voice_conversion.any_voice import AnyVoiceConversion
from pipelines.voice_conversion.settings import ANY_VOICE, MODELS, VOCODERS
from training.evaluators.abx import abx
from training.evaluators.evaluator import EvaluationModels
from training.evaluators.metrics import bitrate, mel_cepstral_distortion, word_error_rate
from training.evaluators.report import print_table
from training.evaluators.speaker_encoder import nearer_to_target
from training.evaluators.sphinx import Sphinx
from training.voice_conversion.evaluate.material import QUICK, Budget, Material, Utterance, choose
from training.voice_conversion.evaluate.open_vocabulary import open_rows, unseen_voices
from training.voice_conversion.evaluate.systems import (
    MFCC,
    AnyVoiceConverter,
    AnyVoiceUnits,
    Converter,
    CopySynthesis,
    KMeans,
    Original,
    Representation,
    Speaker,
    VQVAEUnits,
)

DEFAULT: Final = f"{next(iter(MODELS))}, {VOCODERS[0]}"  # of the app
BOTH_VOCODERS: Final = "vqvae-512"  # the VQ-VAE that is measured with both, and on open vocabulary
LINEAR: Final = "-linear"  # ends the names of models with the paper's inverter: Griffin-Lim only

Row = dict[str, Any]


def evaluate(
    data: Path,
    checkpoints: list[Path],
    split: str = "test",
    json_out: Path | None = None,
    quick: bool = False,
    any_voice: Path | None = None,
) -> list[Row]:
    """Measures every system on the recordings of ``data``; prints and returns the table's rows.

    checkpoints: folders of VoiceConversion; split: ``test``, or ``all`` for every row of whatever
    corpora there are; quick: a sample, seeded, for an answer within a minute; any_voice: folder of
    AnyVoiceConversion.
    Raises FileNotFoundError where the evaluation models have not been trained.
    """
    evaluator = Evaluator(choose(data, split, QUICK if quick else Budget()), quick)
    pipelines = [VoiceConversion.from_pretrained(folder) for folder in checkpoints]
    centroids = evaluator.models.centroids
    plain = [MFCC(normalized=False), MFCC(normalized=True), KMeans(centroids)]
    rows = [evaluator.units(representation) for representation in plain]
    rows.append(evaluator.speech(Original()))
    copies = []
    if pipelines:
        copies = [CopySynthesis(pipelines[0], vocoder) for vocoder in VoiceConversion.VOCODERS]
        rows += [evaluator.speech(copy) for copy in copies]
    for pipeline in pipelines:
        units = evaluator.units(VQVAEUnits(pipeline))
        for vocoder in _vocoders(pipeline.name):
            rows.append(units | evaluator.speech(Converter(pipeline, vocoder)))
    measured: list[Speaker] = [Original(), *copies]
    measured += [Converter(p, VOCODERS[0]) for p in pipelines if p.name == BOTH_VOCODERS]
    if any_voice:
        pipeline = AnyVoiceConversion.from_pretrained(any_voice)
        for model in [name for name in MODELS if MODELS[name].checkpoint == ANY_VOICE]:
            chosen = pipeline.at(model)
            converter = AnyVoiceConverter(chosen, VOCODERS[0])
            rows.append(evaluator.units(AnyVoiceUnits(chosen)) | evaluator.speech(converter))
            measured.append(converter)
        unseen = unseen_voices(data, pipeline)
        rows.append({"system": f"{ANY_VOICE}, unseen voices", "shipped": False} | unseen)
    rows += open_rows(data, measured, DEFAULT, split, quick)
    print_table(rows)
    if json_out:
        json_out.write_text(json.dumps({"rows": rows}, indent=2) + "\n", encoding="utf-8")
    return rows


class Evaluator:
    """Measures systems, all on the same recordings and by the same models."""

    def __init__(self, material: Material, quick: bool) -> None:
        self.material = material
        self.models = EvaluationModels.load()
        self._sphinx = Sphinx(word for slot in (*GRID, DIGITS) for word in slot.items())
        self._voices_each = QUICK.voices if quick else Budget().voices
        embed = self.models.speaker_encoder.embed
        self._voices_of = {
            name: embed(recordings).mean(0) for name, recordings in material.speakers.items()
        }

    def units(self, representation: Representation) -> Row:
        """ABX errors, and the bitrate of all recordings measured, words and sentences."""
        row: Row = {"system": representation.name, "shipped": False}
        encoded = [representation(waveform) for waveform in self.material.abx_waveforms]
        if self.material.abx_items:
            result = abx(self.material.abx_items, [frames for frames, _ in encoded])
            errors = {"abx_across": result.across, "abx_within": result.within}
            row |= {metric: error for metric, error in errors.items() if np.isfinite(error)}
        others = [p.source_waveform for p in self.material.pairs]
        others += [u.waveform for u in self.material.sentences]
        streams = [codes for _, codes in [*encoded, *map(representation, others)]]
        known = [codes for codes in streams if codes is not None]
        if known:
            encoded_waveforms = [*self.material.abx_waveforms, *others]
            row["bitrate"] = bitrate(known, sum(map(len, encoded_waveforms)) / SAMPLE_RATE)
        return row

    def speech(self, speaker: Speaker) -> Row:
        """Similarity to the target, and the errors of two recognisers."""
        row: Row = {"system": speaker.name, "shipped": speaker.name == DEFAULT}
        row |= self._similarity(speaker)
        unseen = [u for u in self.material.sentences if not u.seen]
        seen = [u for u in self.material.sentences if u.seen]
        row |= self._intelligibility(speaker, unseen, GRID, "wer", "wer_sphinx")
        row |= self._intelligibility(speaker, seen, GRID, "wer_seen", "wer_seen_sphinx")
        digits = self.material.digits
        return row | self._intelligibility(
            speaker, digits, [DIGITS], "digit_error", "digit_error_sphinx"
        )

    def _similarity(self, speaker: Speaker) -> Row:
        """MCD and speaker similarity over the pairs whose target the system has as a voice."""
        pairs = [p for p in self.material.pairs if p.target in (speaker.voices or [p.target])]
        if not pairs:
            return {}
        converted = [speaker.pair(pair) for pair in pairs]
        distortions = [
            mel_cepstral_distortion(log_mel(waveform), log_mel(pair.target_waveform))
            for waveform, pair in zip(converted, pairs, strict=True)
        ]
        nearer = nearer_to_target(
            self.models.speaker_encoder.embed(converted),
            np.stack([self._voices_of[pair.source] for pair in pairs]),
            np.stack([self._voices_of[pair.target] for pair in pairs]),
        )
        return {"mcd": float(np.mean(distortions)), "closer_to_target": float(nearer.mean())}

    def _intelligibility(
        self, speaker: Speaker, spoken: list[Utterance], grammar: Grammar, ours: str, sphinx: str
    ) -> Row:
        """Word errors in % by both recognisers, over all voices and, for ours, in each."""
        references: dict[str, list[list[str]]] = defaultdict(list)
        converted: dict[str, list[np.ndarray]] = defaultdict(list)
        for number, utterance in enumerate(spoken):
            voices = self._voices(speaker, number)
            waveforms = speaker.say(utterance.waveform, voices)
            for voice, waveform in zip(voices or [""], waveforms, strict=True):
                references[voice].append(utterance.words)
                converted[voice].append(waveform)
        if not spoken:
            return {}
        recognised = {v: self.models.recogniser.words(w, grammar) for v, w in converted.items()}
        by_sphinx = {v: [self._sphinx.words(w, grammar) for w in converted[v]] for v in converted}
        row = {ours: _pooled(references, recognised), sphinx: _pooled(references, by_sphinx)}
        for voice in speaker.voices:
            if voice in converted:
                row[f"{ours}_{voice}"] = word_error_rate(references[voice], recognised[voice])
        return row

    def _voices(self, speaker: Speaker, number: int) -> tuple[str, ...]:
        """The target voices of a recording: all, or some of them in turn."""
        count = len(speaker.voices)
        chosen = [(number + k) % count for k in range(min(self._voices_each, count))]
        return tuple(speaker.voices[k] for k in chosen)


def _pooled(
    references: dict[str, list[list[str]]], hypotheses: dict[str, list[list[str]]]
) -> float:
    """The word error rate over all voices together."""
    voices = list(references)
    return word_error_rate(
        [words for voice in voices for words in references[voice]],
        [words for voice in voices for words in hypotheses[voice]],
    )


def _vocoders(name: str) -> tuple[str, ...]:
    """Every VQ-VAE is measured with the neural vocoder, one with both."""
    if name.endswith(LINEAR):
        return ("griffin-lim",)
    return VoiceConversion.VOCODERS if name == BOTH_VOCODERS else ("neural",)
