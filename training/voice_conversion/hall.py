"""Teach the content encoder, recogniser and adapter, to hear through a hall's noise: what it hears
in noise is to be what it hears in the same speech without.

The teacher is the encoder as it is shipped. The student begins as the same; what is trained is the
adapter, and products of low rank that are added to the recogniser's matrices. All else, inverter
and codebooks among it, stays as it is. The recogniser itself is shared with other systems, so a
checkpoint holds the products, and they are folded into a copy when it is loaded.

Shapes: B batch, T samples, U steps of 20 ms, C content width.
"""

import copy
import json
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn import functional as F

from earshot.core.paths import CHECKPOINTS
from earshot.media.constants import SAMPLE_RATE
from earshot.models.recogniser import BEFORE, STATE, STEP, LowRank, RecogniserStates, at_steps
from earshot.pretrained.any_voice import LOW_RANK, Networks
from earshot.pretrained.checkpoint import read_config
from earshot.systems.voice_conversion.any_voice import AnyVoiceConversion
from earshot.systems.voice_conversion.settings import ANY_VOICE
from training.common.checkpoints import update_metrics, write_weights
from training.common.corpora import speech_items, waveforms
from training.common.loop import Budget, FallAtEnd, device, fit
from training.common.processes import Row
from training.common.report import print_table
from training.judges import whisper_base
from training.voice_conversion.conversion import Halls, Noises, equalise
from training.voice_conversion.open_vocabulary import BABBLE, TARGETS, in_babble
from training.voice_conversion.speech import FULL_SCALE, Speech, Windows

NAME: Final = "hall"
SHIPPED: Final = CHECKPOINTS / ANY_VOICE
RANK: Final = 16  # of the products
WINDOW: Final = 320  # frames
SPACING: Final = WINDOW // 2  # between windows: few, so that their content is remembered
LEARNING_RATE: Final = 5e-4
# Windows of a batch: as they are, through another microphone, and in a hall.
PLAIN, EQUALISED, NOISY = 2, 3, 7
CLEAN_WEIGHT: Final = 3.0  # of the first two: clean speech is to lose nothing
NOISES: Final = Noises(babble=0.65, sound=0.2, coloured=0.15, snr=(0.0, 15.0))
VALIDATED: Final = 24  # windows
LEVELS: Final = (15.0, 10.0, 5.0)  # dB of speech to babble, where it is validated
JUDGED_SECONDS: Final = 8


class Student(nn.Module):
    """The trained parts of a content encoder: its adapter, and products of low rank."""

    def __init__(self, networks: Networks) -> None:
        super().__init__()
        self.adapter = copy.deepcopy(networks.adapter).requires_grad_()
        self.low_rank = LowRank(networks.recogniser.encoder.config, RANK)

    def forward(self, waveform: Tensor, recogniser: RecogniserStates) -> Tensor:
        """Encode waveforms (B, T) by a recogniser with the products added: content (B, U, C)."""
        encoder = recogniser.encoder
        padded = F.pad(waveform, (BEFORE, BEFORE + STATE))
        outputs = functional_call(encoder, self.low_rank.sums(encoder), (padded,))
        states = torch.cat([outputs[layer - 1] for layer in recogniser.layers], dim=-1)
        return self.adapter(at_steps(states, waveform.shape[1] // STEP))


class Teacher:
    """The shipped content encoder; what it hears in windows of speech is remembered."""

    def __init__(self, networks: Networks, speech: Speech) -> None:
        self._networks, self._speech = networks, speech
        self._contents: dict[int, Tensor] = {}  # by first frame

    @torch.no_grad()
    def __call__(self, starts: Tensor) -> Tensor:
        """Encode the windows that begin at frames (B,): content (B, U, C)."""
        new = torch.tensor([start for start in starts.tolist() if start not in self._contents])
        if len(new):
            waveform = self._speech.samples(new.to(starts), WINDOW)
            content = self._networks.adapter(self._networks.recogniser(waveform))
            self._contents |= zip(new.tolist(), content, strict=True)
        return torch.stack([self._contents[start] for start in starts.tolist()])


def teach(run: Path, budget: Budget) -> None:
    """Train on the arrays of ``prepare`` in ``run``, from the shipped weights; the state in
    run/hall.state is what is exported. Raises ValueError where these were taught already.
    """
    networks = Networks.load(SHIPPED, device())
    if LOW_RANK in read_config(SHIPPED):
        raise ValueError(f"{SHIPPED} was taught already: begin with what train and export make.")
    speech = Speech.load(run / "train", device())
    sounds = torch.from_numpy(np.load(run / "noise.npy")).to(device()).float() / FULL_SCALE
    halls, windows = Halls(speech, sounds, NOISES), Windows(speech, WINDOW, SPACING)
    teacher = Teacher(networks, speech)
    print(f"{speech.seconds / 60:.0f} min, {len(speech.speakers)} speakers", flush=True)
    torch.manual_seed(0)
    student = Student(networks).to(device())
    held_out, expected = _validation(run, networks, sounds)

    def step_losses(_: torch.Generator) -> dict[str, Tensor]:
        starts = windows.draw(PLAIN + EQUALISED + NOISY)
        waveform = speech.samples(starts, WINDOW)
        plain, equalised, noisy = waveform.split([PLAIN, EQUALISED, NOISY])
        inputs = torch.cat([plain, equalise(equalised), halls.augment(noisy)])
        content = student(inputs, networks.recogniser)
        off = (content - teacher(starts)).square().mean(dim=(1, 2)) / len(starts)
        clean, in_hall = off.split([PLAIN + EQUALISED, NOISY])
        return {"clean": CLEAN_WEIGHT * clean.sum(), "hall": in_hall.sum()}

    @torch.no_grad()
    def validate(network: nn.Module) -> dict[str, float]:
        return {
            name: float(F.mse_loss(network(inputs, networks.recogniser), expected))
            for name, inputs in held_out.items()
        }

    if not (run / f"{NAME}.state").exists():
        print({"step": 0} | validate(student), flush=True)
    fit(
        student,
        step_losses,
        lambda: sum(validate(student).values()),
        run / f"{NAME}.state",
        None,
        LEARNING_RATE,
        schedule_of=lambda o: FallAtEnd(o, student, budget, validate, run / f"{NAME}.jsonl"),
    )


def _validation(run: Path, networks: Networks, sounds: Tensor) -> tuple[dict[str, Tensor], Tensor]:
    """Draw windows (B, T) of validation, without noise and in babble, and the content (B, U, C)
    that the teacher hears in the former."""
    torch.manual_seed(1)
    speech = Speech.load(run / "val", device())
    starts = Windows(speech, WINDOW).draw(VALIDATED)
    clean = speech.samples(starts, WINDOW)
    held_out = {"clean": clean}
    for level in LEVELS:
        noises = Noises(babble=1.0, sound=0.0, coloured=0.0, snr=(level, level))
        held_out[f"{level:.0f} dB"] = Halls(speech, sounds, noises).augment(clean)
    return held_out, Teacher(networks, speech)(starts)


def export_taught(run: Path, out: Path) -> None:
    """Write what was taught in ``run``, so far where training has not ended, into any-voice below
    ``out``; the rest of that checkpoint stays. Nothing was taught where there is no state.
    """
    from safetensors.torch import load_file  # late: not where only torch and numpy are installed

    if not (run / f"{NAME}.state").exists():
        return
    state = torch.load(run / f"{NAME}.state", weights_only=True, map_location="cpu")
    folder = out / ANY_VOICE
    config = read_config(folder) | {LOW_RANK: RANK}
    weights = load_file(folder / "model.safetensors") | state["schedule"]["average"]
    write_weights(folder, config, weights)
    update_metrics(folder, {NAME: {"steps": state["step"], "hours": state["hours"]}})


def hall_rows(data: Path, folders: list[Path], json_out: Path | None = None) -> list[Row]:
    """Measure checkpoints of any-voice in babble, on the beginnings of validation speakers'
    recordings: word errors by Whisper against what it finds in the originals; print and return a
    row each, one of the originals first. Raises ModuleNotFoundError without Whisper.
    """
    if not whisper_base.available():
        raise ModuleNotFoundError("Babble is judged by Whisper: requirements-evaluate.txt.")
    items = [i for i in speech_items(data) if i.corpus == BABBLE and i.split == "val"]
    recordings = [w[: JUDGED_SECONDS * SAMPLE_RATE] for _, w in waveforms(items)]
    words = [whisper_base.words(waveform) for waveform in recordings]
    conditions = {"hall_clean": recordings}
    for level in LEVELS[:2]:
        conditions[f"hall_{level:.0f}db"] = [
            in_babble(w, np.concatenate(recordings[:n] + recordings[n + 1 :]), n, level)
            for n, w in enumerate(recordings)
        ]
    rows: list[Row] = []
    for folder in [None, *folders]:
        system = AnyVoiceConversion.load(folder, "cpu") if folder else None
        row: Row = {"system": str(folder or "original"), "shipped": folder == SHIPPED}
        for condition, noisy in conditions.items():
            converted = [_converted(system, w, n) for n, w in enumerate(noisy)] if system else noisy
            row[condition] = whisper_base.error_rate(words, [*map(whisper_base.words, converted)])
        print(row, flush=True)
        rows.append(row)
    print_table(rows)
    if json_out:
        json_out.write_text(json.dumps({"rows": rows}, indent=2) + "\n", encoding="utf-8")
    return rows


def _converted(system: AnyVoiceConversion, waveform: np.ndarray, number: int) -> np.ndarray:
    """Convert speech (T,) to TARGETS by turns."""
    target = TARGETS[number % len(TARGETS)]
    return system((SAMPLE_RATE, waveform), target).converted.waveform
