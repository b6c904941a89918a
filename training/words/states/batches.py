"""Batches for the networks over states: sentences, recorded words, stretches of sentences, words
spliced from the states of two recorded ones, and words that nobody said, made of the posteriors of
their phonemes in others' words; and where each phoneme of a recording is, by the best CTC path
(Graves et al. 2006).

Shapes: F states of all recordings, B recordings of a batch, S states, P phonemes of the inventory
with 0 the blank, L phonemes of a recording.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from earshot.media.text.phonemes import numbers
from earshot.models.words.word_embedder import PhonemeBottleneckEmbedder
from training.common.loop import half_precision
from training.common.zero_shot import zero_shot
from training.words.concatenation import MAX_PHONEMES, MIN_PHONEMES, Word, joints_of
from training.words.frames.arrays import padded
from training.words.states.arrays import KINDS, LANGUAGES, MIN_STATES, VALIDATION, Frames, Packed

MAX_STATES: Final = 230  # of a sentence
MAX_PHONEME: Final = 12  # states of a phoneme; longer ones hold silence
# Words of each kind in a batch. Of a recorded word there are two recordings.
RECORDED, STRETCHES, SYNTHETIC, LEXICON = 72, 96, 40, 192
MAX_SPLICED: Final = 96  # words at most whose halves are of two recorded words
MIN_SPLICED: Final = 10  # recordings of a word, from which on it is spliced
STRETCH: Final = (3, 11)  # phonemes of a stretch of a sentence
PARTS: Final = 5  # of a batch, by length
ALIGNMENT_BATCH: Final = 256  # recordings whose phonemes are looked for at once
IMPOSSIBLE: Final = -1e9


class SpokenBatch(NamedTuple):
    """Augmented recordings: frames (B, S, K + 2), lengths (B,), and the word of each."""

    frames: Tensor
    lengths: Tensor
    words: list[Word]

    def by_length(self) -> "list[SpokenBatch]":
        """Divide a batch into PARTS at most, the shortest first, each no longer than its longest
        recording: so networks compute little that is not heard.
        """
        parts = []
        for some in self.lengths.argsort().tensor_split(min(PARTS, len(self.words))):
            longest = int(self.lengths[some].max())
            words = [self.words[i] for i in some.tolist()]
            parts.append(SpokenBatch(self.frames[some, :longest], self.lengths[some], words))
        return parts


class Batches:
    """A source of batches. Zero-shot words are in none of them."""

    def __init__(
        self, packed: Packed, held_out: Collection[Word], device: torch.device, seed: int
    ) -> None:
        """Keep the recordings. held_out: words that are left out until hold_out is called again."""
        self.rng = np.random.default_rng(seed)
        self.packed, self.device = packed, device
        self.frames = Frames(packed, device)
        self.starts = np.cumsum(packed.lengths) - packed.lengths
        self.lengths = np.minimum(packed.lengths, MAX_STATES)
        self._never = {
            tuple(numbers(word)) for language in LANGUAGES for word in zero_shot(language)
        }
        self._cuts: dict[int, np.ndarray] = {}
        self.hold_out(held_out)

    def hold_out(self, words: Collection[Word]) -> None:
        """Leave words out of every batch, and the zero-shot ones."""
        self.held_out = set(words)
        self._excluded = self._never | self.held_out
        self._rows: dict[str, np.ndarray] = {}
        self._by_word: dict[str, dict[Word, list[int]]] = {}
        self._by_language: dict[str, list[list[Word]]] = {}
        for number, kind in enumerate(KINDS):
            rows = np.flatnonzero(self.packed.kinds == number).tolist()
            usable = [i for i in rows if self.packed.phonemes[i] not in self._excluded]
            self._rows[kind] = np.array(usable, int)
            by_word: dict[Word, list[int]] = defaultdict(list)
            for i in usable:
                by_word[self.packed.phonemes[i]].append(i)
            by_language: dict[int, list[Word]] = defaultdict(list)
            for word, spoken in by_word.items():
                by_language[int(self.packed.languages[spoken[0]])].append(word)
            self._by_word[kind], self._by_language[kind] = by_word, [*by_language.values()]
        self._lexicon = [
            i for i, word in enumerate(self.packed.lexicon) if word not in self._excluded
        ]

    def sentences(self, count: int) -> SpokenBatch:
        """Draw sentences of like length."""
        rows = self._rows["sentence"]
        drawn = self.rng.choice(rows, min(3 * count, len(rows)), replace=False)
        drawn = drawn[np.argsort(self.lengths[drawn])]
        first = self.rng.integers(0, len(drawn) - min(count, len(drawn)) + 1)
        return self._encoded(drawn[first : first + count])

    def words(self, count: int) -> SpokenBatch:
        """Draw words, two in three recorded, as often of one language as of another."""
        drawn = []
        for kind, number in (("word", 2 * count // 3), ("synthetic", count // 3)):
            rows = self._rows[kind]
            weights = 1 / np.maximum(np.bincount(self.packed.languages[rows], minlength=3), 1)
            shares = weights[self.packed.languages[rows]]
            drawn.append(self.rng.choice(rows, number, p=shares / shares.sum()))
        return self._encoded(np.concatenate(drawn))

    def recordings(self) -> SpokenBatch:
        """Draw words that people and synthesizers said, and stretches of sentences."""
        starts, lengths, words = [], [], []

        def add(i: int, first: int, last: int, word: Word) -> None:
            starts.append(self.starts[i] + first)
            lengths.append(max(last - first, MIN_STATES))
            words.append(word)

        for kind, count, each in (("word", RECORDED, 2), ("synthetic", SYNTHETIC, 1)):
            for word in self._balanced(kind, count):
                rows = self._by_word[kind][word]
                for i in self.rng.choice(rows, min(each, len(rows)), replace=False).tolist():
                    add(i, 0, int(self.lengths[i]), word)
        for i in self.rng.choice(self._aligned, STRETCHES).tolist():
            whole, cuts = self.packed.phonemes[i], self._cuts[i]
            count = int(self.rng.integers(STRETCH[0], min(STRETCH[1], len(whole)) + 1))
            first = int(self.rng.integers(0, len(whole) - count + 1))
            word = whole[first : first + count]
            if word not in self._excluded:
                add(i, int(cuts[first]), int(cuts[first + count]), word)
        return SpokenBatch(*self.frames.batch(np.array(starts), np.array(lengths), self.rng), words)

    def spliced(self) -> SpokenBatch:
        """Make words, most of which nobody said: the states of the beginning of one recorded word,
        and of the end of another of its language, cut at their phonemes.

        Raises SystemExit where no language has two words of MIN_SPLICED recordings.
        """
        if not self._splicable:
            raise SystemExit(
                f"Words cannot be spliced: no language has two that were recorded {MIN_SPLICED} "
                "times and whose phonemes were found."
            )
        words, spans = [], []
        for _ in range(MAX_SPLICED):
            choices = self._splicable[self.rng.integers(len(self._splicable))]
            first, second = (choices[i] for i in self.rng.choice(len(choices), 2, replace=False))
            joints = joints_of(first, second)
            if not joints:
                continue
            i, j = joints[self.rng.integers(len(joints))]
            word = first[:i] + second[j:]
            if word in self._excluded or not MIN_PHONEMES <= len(word) <= MAX_PHONEMES:
                continue
            one, other = (int(self.rng.choice(self._often[each])) for each in (first, second))
            start, end = int(self.starts[one]), self.starts[other] + self.lengths[other]
            until, since = self._cuts[one][i], self.starts[other] + self._cuts[other][j]
            span = np.concatenate([np.arange(start, start + until), np.arange(since, end)])
            if len(span) >= MIN_STATES:
                words.append(word)
                spans.append(span)
        return SpokenBatch(*self.frames.spans(spans, self.rng), words)

    def unsaid(self) -> SpokenBatch:
        """Make words of the lexicon from posteriors: frames are (B, S, P)."""
        words, spans = [], []
        for i in self.rng.choice(self._lexicon, min(LEXICON, len(self._lexicon)), replace=False):
            word = self.packed.lexicon[i]
            if not all(self._places[phoneme] for phoneme in word):
                continue
            symbol_places = [self._places[phoneme] for phoneme in word]
            parts = [places[int(self.rng.integers(len(places)))] for places in symbol_places]
            words.append(word)
            spans.append(np.concatenate([np.arange(a, a + n) for a, n in parts]))
        lengths = np.array([len(span) for span in spans])
        index = np.zeros((len(spans), lengths.max()), np.int64)
        for row, span in zip(index, spans, strict=True):
            row[: len(span)] = span
        posteriors = self._posteriors[torch.from_numpy(index).to(self.device)].float()
        return SpokenBatch(posteriors, torch.from_numpy(lengths).to(self.device), words)

    def align(self, network: PhonemeBottleneckEmbedder) -> None:
        """Find where each phoneme of the training recordings is, by the posteriors of a network,
        and keep these posteriors: (F, P)."""
        network.eval()
        self._cuts = {}
        self._posteriors = torch.zeros(
            int(self.packed.lengths.sum()),
            network.config.n_phonemes,
            dtype=torch.float16,
            device=self.device,
        )
        self._places: dict[int, list[tuple[int, int]]] = defaultdict(list)
        order = np.argsort(self.lengths)
        for rows in np.array_split(order, max(1, len(order) // ALIGNMENT_BATCH)):
            x, lengths = self.frames.batch(self.starts[rows], self.lengths[rows])
            with torch.inference_mode(), half_precision():
                logits, steps = network.predict_phonemes(x, lengths)
            log = logits.float().log_softmax(dim=-1)
            times = spikes(log, steps, [self.packed.phonemes[i] for i in rows])
            for i, length, one, where in zip(
                rows.tolist(), lengths.tolist(), log, times, strict=True
            ):
                start = int(self.starts[i])
                self._posteriors[start : start + length] = one[:length].exp().half()
                if where is not None and KINDS[self.packed.kinds[i]] not in VALIDATION:
                    middles = (where[1:] + where[:-1] + 1) // 2
                    self._cuts[i] = np.concatenate([[0], middles, [length]])
        for i, cuts in self._cuts.items():
            for phoneme, a, b in zip(self.packed.phonemes[i], cuts[:-1], cuts[1:], strict=True):
                if 0 < b - a <= MAX_PHONEME:
                    self._places[phoneme].append((int(self.starts[i] + a), int(b - a)))
        self._often = {
            word: spoken_rows
            for word, rows in self._by_word["word"].items()
            if len(spoken_rows := [i for i in rows if i in self._cuts]) >= MIN_SPLICED
        }
        self._splicable = [
            often
            for words in self._by_language["word"]
            if len(often := [word for word in words if word in self._often]) > 1
        ]
        self._aligned = [i for i in self._rows["sentence"].tolist() if i in self._cuts]
        network.train()

    def _encoded(self, rows: np.ndarray) -> SpokenBatch:
        frames, lengths = self.frames.batch(self.starts[rows], self.lengths[rows], self.rng)
        return SpokenBatch(frames, lengths, [self.packed.phonemes[i] for i in rows])

    def _balanced(self, kind: str, count: int) -> list[Word]:
        """Draw different words of a kind, as many of each language."""
        drawn: list[Word] = []
        for words in self._by_language[kind]:
            size = min(len(words), count // len(self._by_language[kind]))
            drawn += [words[i] for i in self.rng.choice(len(words), size, replace=False)]
        return drawn


@torch.inference_mode()
def spikes(log: Tensor, steps: Tensor, words: Sequence[Word]) -> Iterator[np.ndarray | None]:
    """Find the step of each phoneme on the best path of log posteriors (B, S, P) of lengths (B,):
    (L,) of each recording in turn; None where there are fewer steps than phonemes need.

    Phonemes are odd states, blanks even ones; a phoneme's step is the last in its state.
    """
    targets, sizes = padded(list(words))
    count, longest = targets.shape
    states = torch.zeros(count, 2 * longest + 1, dtype=torch.long)
    states[:, 1::2] = targets
    states = states.to(log.device)
    allowed = torch.ones_like(states, dtype=torch.bool)  # no way past the blank between equal ones
    allowed[:, 2:] = (states[:, 2:] == states[:, :-2]) | (states[:, 2:] == 0)
    emitted = log.gather(2, states[:, None].expand(-1, log.shape[1], -1))
    score = torch.full(states.shape, IMPOSSIBLE, device=log.device)
    score[:, :2] = emitted[:, 0, :2]
    back = torch.zeros(log.shape[1], *states.shape, dtype=torch.uint8, device=log.device)
    ends = torch.zeros_like(score)
    for t in range(log.shape[1]):
        if t:
            one = F.pad(score, (1, 0), value=IMPOSSIBLE)[:, :-1]
            two = F.pad(score, (2, 0), value=IMPOSSIBLE)[:, :-2].masked_fill(allowed, IMPOSSIBLE)
            best = torch.stack([score, one, two]).max(dim=0)
            score, back[t] = best.values + emitted[:, t], best.indices.to(torch.uint8)
        ends = torch.where((steps == t + 1)[:, None], score, ends)
    arrays = back.cpu().numpy(), ends.cpu().numpy()
    for row, (size, length) in enumerate(zip(sizes.tolist(), steps.tolist(), strict=True)):
        yield _traced(arrays[0][:length, row], arrays[1][row], size)


def _traced(back: np.ndarray, ends: np.ndarray, size: int) -> np.ndarray | None:
    """Follow the path of one recording back: back (S, 2 L + 1), ends (2 L + 1,)."""
    last, blank = ends[2 * size - 1], ends[2 * size]
    if max(last, blank) < IMPOSSIBLE / 10:
        return None
    state = 2 * size - (1 if last > blank else 0)
    places = np.full(size, -1)
    for t in range(len(back) - 1, -1, -1):
        if state % 2 and places[state // 2] < 0:
            places[state // 2] = t
        state -= int(back[t, state])
    return places if (places >= 0).all() else None
