"""The table of voice conversion, units, vocoders and originals, all on the same recordings; and
where it is published.
"""

import json
from collections import defaultdict
from collections.abc import Collection, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch

from earshot.media.audio.features import log_mel
from earshot.media.constants import SAMPLE_RATE
from earshot.media.text.grammar import DIGITS, GRID, Grammar
from earshot.systems.voice_conversion import AnyVoiceConversion, VQVAEConversion
from earshot.systems.voice_conversion.linear import LinearVC
from earshot.systems.voice_conversion.settings import ANY_VOICE, MODELS, VOCODERS
from training.common.processes import Job, Row, rows_of
from training.common.report import print_table, publish_table, write_card
from training.judges import whisper_base
from training.judges.abx import abx
from training.judges.evaluator import EvaluationModels
from training.judges.hub import Judges
from training.judges.metrics import bitrate, mel_cepstral_distortion, word_error_rate
from training.judges.speaker_encoder import nearer_to_target
from training.judges.sphinx import Sphinx
from training.voice_conversion.open_vocabulary import (
    noise_jobs,
    notice_rows,
    open_jobs,
    with_added,
)
from training.voice_conversion.systems import (
    MFCC,
    AnyVoiceConverter,
    AnyVoiceUnits,
    Converter,
    CopySynthesis,
    KMeansUnits,
    LinearConverter,
    Original,
    Representation,
    Speaker,
    VQVAEUnits,
)
from training.voice_conversion.test_set import QUICK, Budget, TestSet, Utterance, choose
from training.voice_conversion.unseen_voices import unseen_voices

DEFAULT: Final = f"{next(iter(MODELS))}, {VOCODERS[0]}"  # of the app
# These are measured with both vocoders, and on open vocabulary.
IN_FULL: Final = (
    "original",
    "copy synthesis",
    "vqvae-512",
    "vqvae-512-paper",
    "linear-vc",
    "continuous",
    "units-512",
)
VOCODER: Final = "vocoder"  # the checkpoint of copy synthesis
UNITS: Final = ("vqvae", "kmeans")  # begin the names of models of units
LINEAR: Final = "linear-vc"  # the checkpoint of a matrix a voice
EVALUATION: Final = "evaluation"  # the checkpoint of the networks that judge
PARTS: Final = ("any-voice-inverter", "any-voice-vocoder")  # checkpoints that any-voice loads
BASELINES: Final = ("MFCC", "original")

System = tuple[Representation | None, Speaker]  # units, if it has them, and speech


def evaluate(
    data: Path,
    checkpoints: Path,
    split: str = "test",
    json_out: Path | None = None,
    quick: bool = False,
    only: Collection[str] | None = None,
    judges: Judges = Judges(),  # noqa: B008  (frozen)
    compared: Path | None = None,
) -> list[Row]:
    """Measure every system on the recordings of ``data``; print and return the table's rows.

    checkpoints: the folder that has all of them; split: ``test``, or ``all`` for every row of
    whatever corpora there are; quick: a sample, seeded, for an answer within a minute; only: names
    of the checkpoints that are measured, next to the baselines; judges: of the hub, instead of
    pocketsphinx and of our speaker encoder; compared: a folder of further checkpoints.
    Raises FileNotFoundError where the evaluation models have not been trained.
    """
    torch.set_num_threads(1)  # processes forked from one that computed with more of them hang
    evaluator = Evaluator(choose(data, split, QUICK if quick else Budget()), quick, judges)
    every = [*sorted(checkpoints.iterdir()), *(sorted(compared.iterdir()) if compared else ())]
    folders = [folder for folder in every if only is None or folder.name in only]
    plain = [MFCC(normalized=False), MFCC(normalized=True), KMeansUnits(evaluator.models.centroids)]
    jobs: list[Job] = [partial(evaluator.representation, each) for each in plain]
    systems: list[System] = [(None, Original()), *_vqvae_systems(folders)]
    linear = [LinearVC.load(folder, "cpu") for folder in folders if folder.name == LINEAR]
    systems += [(None, LinearConverter(system)) for system in linear]
    for networks in [AnyVoiceConversion.load(f) for f in folders if f.name == ANY_VOICE]:
        systems += _any_voice_systems(networks)
    jobs += [partial(evaluator.system, units, speaker) for units, speaker in systems]
    in_full = [speaker for _, speaker in systems if speaker.name.split(",")[0] in IN_FULL]
    jobs += open_jobs(data, in_full, DEFAULT, split, quick, judges.asr)
    rows = with_added(rows_of(jobs))
    print_table(rows)
    if json_out:
        json_out.write_text(json.dumps({"rows": rows}, indent=2) + "\n", encoding="utf-8")
    return rows


def evaluate_in_noise(
    data: Path, checkpoints: Path, json_out: Path | None = None, quick: bool = False
) -> list[Row]:
    """Measure the words of the default and of the original in babble, and how often the notice
    of noise comes; print and return the rows.

    checkpoints, json_out, quick: as evaluate has them. Raises ModuleNotFoundError without Whisper.
    """
    if not whisper_base.available():
        raise ModuleNotFoundError("Babble is judged by Whisper: requirements-evaluate.txt.")
    torch.set_num_threads(1)  # as above
    networks = AnyVoiceConversion.load(checkpoints / ANY_VOICE)
    systems: list[Speaker] = [Original(), AnyVoiceConverter(networks, VOCODERS[0])]
    rows = rows_of([*noise_jobs(data, systems, DEFAULT, quick), partial(notice_rows, data)])
    print_table(rows)
    if json_out:
        json_out.write_text(json.dumps({"rows": rows}, indent=2) + "\n", encoding="utf-8")
    return rows


def evaluate_unseen(
    data: Path, checkpoints: Path, json_out: Path | None = None, quick: bool = False
) -> list[Row]:
    """Measure conversions by the default to people whom no training knew; print and return rows.

    checkpoints, json_out, quick: as evaluate has them. Raises ModuleNotFoundError without judges.
    """
    torch.set_num_threads(1)  # as above
    rows = unseen_voices(data, AnyVoiceConversion.load(checkpoints / ANY_VOICE, "cpu"), quick)
    print_table(rows)
    if json_out:
        json_out.write_text(json.dumps({"rows": rows}, indent=2) + "\n", encoding="utf-8")
    return rows


def _vqvae_systems(folders: list[Path]) -> Iterator[System]:
    """List the systems: copy synthesis by their vocoder, where it is among the folders, and every
    VQ-VAE (or k-means).
    """
    pipelines = [VQVAEConversion.load(f) for f in folders if f.name.startswith(UNITS)]
    if pipelines and any(folder.name == VOCODER for folder in folders):
        yield from ((None, CopySynthesis(pipelines[0], vocoder)) for vocoder in VOCODERS)
    for pipeline in pipelines:
        for vocoder in _vocoders(pipeline):
            yield VQVAEUnits(pipeline), Converter(pipeline, vocoder)


def _any_voice_systems(networks: AnyVoiceConversion) -> Iterator[System]:
    for model in [networks.at(m) for m, its in MODELS.items() if its == ANY_VOICE]:
        yield AnyVoiceUnits(model), AnyVoiceConverter(model, model.vocoders[0])


class Evaluator:
    """An evaluator of systems, all on the same recordings and by the same models."""

    def __init__(self, test_set: TestSet, quick: bool, judges: Judges) -> None:
        self.test_set = test_set
        self.models = EvaluationModels.load()
        self._sphinx = Sphinx(word for slot in (*GRID, DIGITS) for word in slot.items())
        self._voices_each = QUICK.voices if quick else Budget().voices
        self._asr = judges.asr
        self._embed = (judges.speakers or self.models.speaker_encoder).embed
        self._voices_of = {
            name: self._embed(recordings).mean(0) for name, recordings in test_set.speakers.items()
        }

    def representation(self, representation: Representation) -> list[Row]:
        """Measure the row of a system that does not speak."""
        return [self.units(representation)]

    def system(self, representation: Representation | None, speaker: Speaker) -> list[Row]:
        """Measure the row of a system that speaks, from units if it has them."""
        return [(self.units(representation) if representation else {}) | self.speech(speaker)]

    def units(self, representation: Representation) -> Row:
        """Measure ABX errors, and the bitrate of all recordings measured, words and sentences."""
        row: Row = {"system": representation.name, "shipped": False}
        encoded = [representation(waveform) for waveform in self.test_set.abx_waveforms]
        if self.test_set.abx_items:
            result = abx(self.test_set.abx_items, [frames for frames, _ in encoded])
            errors = {"abx_across": result.across, "abx_within": result.within}
            row |= {metric: error for metric, error in errors.items() if np.isfinite(error)}
        others = [p.source_waveform for p in self.test_set.pairs]
        others += [u.waveform for u in self.test_set.sentences]
        streams = [codes for _, codes in [*encoded, *map(representation, others)]]
        unit_streams = [codes for codes in streams if codes is not None]
        if unit_streams:
            encoded_waveforms = [*self.test_set.abx_waveforms, *others]
            row["bitrate"] = bitrate(unit_streams, sum(map(len, encoded_waveforms)) / SAMPLE_RATE)
        return row

    def speech(self, speaker: Speaker) -> Row:
        """Measure similarity to the target, and the errors of two recognisers."""
        row: Row = {"system": speaker.name, "shipped": speaker.name == DEFAULT}
        row |= self._similarity(speaker)
        unseen = [u for u in self.test_set.sentences if not u.seen]
        seen = [u for u in self.test_set.sentences if u.seen]
        row |= self._intelligibility(speaker, unseen, GRID, "wer")
        row |= self._intelligibility(speaker, seen, GRID, "wer_seen")
        digits = self.test_set.digits
        return row | self._intelligibility(speaker, digits, [DIGITS], "digit_error")

    def _similarity(self, speaker: Speaker) -> Row:
        """Measure MCD and speaker similarity over the pairs whose target the system has as a
        voice.
        """
        pairs = [p for p in self.test_set.pairs if p.target in (speaker.voices or [p.target])]
        if not pairs:
            return {}
        converted = [speaker.pair(pair) for pair in pairs]
        distortions = [
            mel_cepstral_distortion(log_mel(waveform), log_mel(pair.target_waveform))
            for waveform, pair in zip(converted, pairs, strict=True)
        ]
        nearer = nearer_to_target(
            self._embed(converted),
            np.stack([self._voices_of[pair.source] for pair in pairs]),
            np.stack([self._voices_of[pair.target] for pair in pairs]),
        )
        return {"mcd": float(np.mean(distortions)), "closer_to_target": float(nearer.mean())}

    def _intelligibility(
        self, speaker: Speaker, spoken: list[Utterance], grammar: Grammar, ours: str
    ) -> Row:
        """Measure word errors in % by both recognisers, over all voices and, for ours, in each. The
        other is pocketsphinx with the same grammar, or a Whisper without one.
        """
        references: dict[str, list[list[str]]] = defaultdict(list)
        converted: dict[str, list[np.ndarray]] = defaultdict(list)
        for number, utterance in enumerate(spoken):
            voices = self._voices(speaker, number)
            waveforms = speaker.convert(utterance.waveform, voices)
            for voice, waveform in zip(voices or [""], waveforms, strict=True):
                references[voice].append(utterance.words)
                converted[voice].append(waveform)
        if not spoken:
            return {}
        recognised = {v: self.models.recogniser.words(w, grammar) for v, w in converted.items()}
        other = {v: [self._other(w, grammar) for w in converted[v]] for v in converted}
        name = f"{ours}_asr" if self._asr else f"{ours}_sphinx"
        row = {ours: _pooled(references, recognised), name: _pooled(references, other)}
        for voice in speaker.voices:
            if voice in converted:
                row[f"{ours}_{voice}"] = word_error_rate(references[voice], recognised[voice])
        return row

    def _other(self, waveform: np.ndarray, grammar: Grammar) -> list[str]:
        return self._asr.words(waveform) if self._asr else self._sphinx.words(waveform, grammar)

    def _voices(self, speaker: Speaker, number: int) -> tuple[str, ...]:
        """Choose the target voices of a recording: all, or some of them in turn."""
        count = len(speaker.voices)
        chosen = [(number + k) % count for k in range(min(self._voices_each, count))]
        return tuple(speaker.voices[k] for k in chosen)


def _pooled(
    references: dict[str, list[list[str]]], hypotheses: dict[str, list[list[str]]]
) -> float:
    """Compute the word error rate over all voices together."""
    voices = list(references)
    return word_error_rate(
        [words for voice in voices for words in references[voice]],
        [words for voice in voices for words in hypotheses[voice]],
    )


def _vocoders(pipeline: VQVAEConversion) -> tuple[str, ...]:
    """Choose the vocoders of a model: its default one, or for some models all."""
    return pipeline.vocoders if pipeline.name in IN_FULL else pipeline.vocoders[:1]


def publish(rows: list[dict[str, Any]], checkpoints: Path, page: Path) -> None:
    """Write each system's results into its metrics.json, all the model cards, and the tables of
    the page: those of systems that were not measured now, from their metrics.json."""
    published = []
    for name in (EVALUATION, VOCODER, *_models(checkpoints)):
        folder = checkpoints / name
        own = [row for row in rows if _is_of(row, name)]
        path = folder / "metrics.json"
        metrics = json.loads(path.read_text())
        published += own or metrics["results"]
        if not own:
            continue
        metrics["results"] = own
        path.write_text(json.dumps(metrics, indent=2) + "\n")
        if name != EVALUATION:
            write_card(folder)
        for part in PARTS if name == ANY_VOICE else ():
            if (checkpoints / part).is_dir():
                write_card(checkpoints / part)
    publish_table([row for row in published if "group" not in row], page, "results")
    publish_table([row for row in published if "group" in row], page, "open-results")


def publish_unseen(rows: list[Row], checkpoints: Path, page: Path) -> None:
    """Write the rows of evaluate_unseen into metrics and card of any-voice, and into the page."""
    path = checkpoints / ANY_VOICE / "metrics.json"
    metrics = json.loads(path.read_text()) | {"unseen": rows}
    path.write_text(json.dumps(metrics, indent=2) + "\n")
    write_card(path.parent)
    publish_table(rows, page, "unseen-results")


def _models(checkpoints: Path) -> list[str]:
    """List the checkpoints that convert, as in the table."""
    linear = [LINEAR] if (checkpoints / LINEAR).exists() else []
    return [*sorted(folder.name for folder in checkpoints.glob("vqvae-*")), *linear, ANY_VOICE]


def _is_of(row: dict[str, Any], name: str) -> bool:
    """Whether a row of the table is about the checkpoint of this name; baselines, to which none
    belongs, are kept with the networks that judge.
    """
    system = row["system"].split(",")[0]
    if name == ANY_VOICE:
        return system == ANY_VOICE or MODELS.get(system) == ANY_VOICE
    if name == VOCODER:
        return system == "copy synthesis"
    if name == EVALUATION:
        return system in BASELINES or system.startswith("k-means")
    return system == name
