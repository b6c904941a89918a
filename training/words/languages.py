"""What further evidence adds to the cosine of a recording with a written word, by language.

Each attempt scores every recording with every written word that has a phoneme that English lacks;
its score, above that of the right word in the mean, is added to the cosine with a weight. This is
chosen on words that nobody recorded, concatenated from recordings of validation speakers, on words
cut from English sentences, and on recordings of validation speakers; zero-shot words and test
recordings choose nothing.

Shapes: N recordings, M written words, S steps, P phonemes with 0 the blank, F features.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from earshot.core.paths import CHECKPOINTS
from earshot.media.audio.pitch import track_pitch
from earshot.media.text.phonemes import ARPABET, PHONEMES, TONES, numbers
from earshot.systems.words import Words
from earshot.systems.words.phoneme_lattice import NUMBERS, is_foreign, likelihoods
from training.common.checkpoints import update_metrics
from training.common.report import markdown, publish_text
from training.common.zero_shot import is_zero_shot
from training.words.calibration import in_sentences
from training.words.evaluate import LANGUAGE_NAMES
from training.words.frames.arrays import padded
from training.words.metrics import average_precision
from training.words.pronunciation import hama_posteriors
from training.words.recordings import (
    CLOSEST_PHONE,
    RecordedWord,
    is_trained_on,
    load_recordings,
    phonemes_of,
    unrecorded_words,
    validation_items,
    word_items,
)
from training.words.test_set import in_split

Word = tuple[str, ...]
SHIPPED: Final = "phonemes, words-bottleneck"
# Recordings of a language, of each kind; of a word that is trained on.
LIMITS: Final = {
    "unrecorded": 170,
    "fluent": 150,
    "validation": 80,
    "zero-shot": 150,
    "test": 60,
}
UNRECORDED: Final = 1000  # words that are put together, of which some are drawn
MAX_EACH: Final = 24
WEIGHTS: Final = (0.005, 0.01, 0.02, 0.04, 0.08)
MAX_LOSS: Final = 0.002  # AP or P@1 that English and recorded words may lose
FLOOR: Final = -12.0  # of a score, per phoneme
STEPS, LEARNING_RATE, BATCH = 300, 2e-3, 48  # of the features' training
# Place (capitals), manner (s stop, f fricative, n nasal, l lateral, r trill, j approximant), voice
# (v), aspiration (h), pharyngealisation (H); vowels: height, place, w rounded, + long, x lax, c
# rhotic, g glide; tones: where they begin and end.
FEATURES: Final = {
    phoneme: frozenset(features)
    for phoneme, _, features in (
        pair.partition(":")
        for pair in (
            "p:Ls b:Lsv t:As d:Asv k:Ks ɡ:Ksv q:Us ʔ:Gs m:Lnv n:Anv ŋ:Knv f:Lf v:Lfv θ:Df ð:Dfv "
            "s:Af z:Afv ʃ:Of ʒ:Ofv x:Kf ɣ:Kfv ħ:Pf ʕ:Pfv h:Gf tʃ:Osf dʒ:Osfv l:Alv r:Arv ɹ:Ajv "
            "w:LKjv j:Yjv sˤ:AfH dˤ:AsvH tˤ:AsH ðˤ:DfvH pʰ:Lsh tʰ:Ash kʰ:Ksh tɕ:Ysf tɕʰ:Ysfh ɕ:Yf "
            "ʈʂ:Rsf ʈʂʰ:Rsfh ʂ:Rf ɻ:Rjv t͡s:Asf t͡sʰ:Asfh i:V1<v ɪ:V1<xv iː:V1<+v e:V2<v ɛ:V3<v "
            "æ:V4<v a:V4=v aː:V4=+v ɑ:V4>v ɔ:V3>wv o:V2>wv ʊ:V1>wxv u:V1>wv uː:V1>w+v ə:V3=xv "
            "ɝ:V3=cv ɤ:V2>v y:V1<wv ɨ:V1=v aʊ:V4=1>wgv aɪ:V4=1<gv eɪ:V2<1gv oʊ:V2>1wgv ɔɪ:V3>w1<gv "
            "˥:Tab ˧˥:Tcb ˨˩˦:Tdc ˥˩:Tad"
        ).split()
    )
}
CONTOURS: Final = dict(zip(TONES, ((5, 5, 5), (3, 3.7, 5), (2, 1, 2.5), (5, 3.5, 1)), strict=True))
HEADS: Final = {
    "weight": ("weight", "g"),
    **{
        f"{name} {code} {metric}": (f"{name}, {language}, {metric}", ".3f")
        for name, metric in (
            ("unrecorded", "AP"), ("fluent", "AP"), ("validation", "AP"), ("zero-shot", "AP"),
            ("zero-shot", "P@1"), ("test", "AP"),
        )
        for code, language in LANGUAGE_NAMES.items()
    },
}  # fmt: skip
POINTS: Final = 30  # of a contour
LEVEL: Final = 0.2  # octaves between the five levels of tones
MAX_OCTAVES: Final = 0.8  # from the mean of a word


@dataclass(frozen=True, eq=False)
class Encoded:
    """Recordings of words: their phonemes and languages, vectors (N, D), log posteriors (S, P) by
    each phoneme-bottleneck model, those of English by hama where it is installed, and F0 in Hz."""

    words: Sequence[Word]
    languages: np.ndarray
    vectors: np.ndarray
    posteriors: Sequence[tuple[np.ndarray, ...]]
    english: Sequence[np.ndarray]
    pitch: Sequence[np.ndarray]


class FeatureHead(nn.Module):
    """Evidence for features of phonemes, from three steps of log posteriors, that is added to those
    of the phonemes that have them: rare phonemes borrow from frequent ones (cf. Hu et al. 2020)."""

    def __init__(self, features: Mapping[str, Collection[str]]) -> None:
        super().__init__()
        names = sorted(set().union(*features.values()))
        table = [[name in features.get(p, ()) for name in names] for p in PHONEMES]
        self.table = nn.Buffer(torch.tensor(table).float())
        self.evidence = nn.Conv1d(len(PHONEMES), len(names), 3, padding=1)
        nn.init.zeros_(self.evidence.weight)

    def forward(self, log_posteriors: Tensor) -> Tensor:
        """Map log posteriors (B, S, P) → log posteriors (B, S, P)."""
        floored = log_posteriors.clamp(min=FLOOR)
        features = self.evidence(floored.transpose(1, 2)).transpose(1, 2)
        return (floored + features @ self.table.T).log_softmax(dim=-1)


def train_features(
    features: Mapping[str, Collection[str]], taught: Sequence[tuple[Word, np.ndarray]]
) -> FeatureHead:
    """Train on words and the log posteriors (S, P) of their recordings, by CTC."""
    torch.manual_seed(0)
    head, rng = FeatureHead(features), np.random.default_rng(0)
    optimizer = torch.optim.AdamW(head.parameters(), LEARNING_RATE)
    for _ in range(STEPS):
        rows = rng.integers(len(taught), size=BATCH)
        words, posteriors = zip(*(taught[row] for row in rows), strict=True)
        steps = [torch.from_numpy(each.astype(np.float32)) for each in posteriors]
        x = nn.utils.rnn.pad_sequence(steps, batch_first=True)
        targets, sizes = padded([tuple(numbers(word)) for word in words])
        lengths = torch.tensor([len(each) for each in steps])
        loss = F.ctc_loss(head(x).transpose(0, 1), targets, lengths, sizes, zero_infinity=True)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return head


def contour_fits(pitch: np.ndarray, words: Sequence[Word]) -> np.ndarray:
    """Compare F0 (S,) in Hz over a recording with the tones of each word, spread evenly: minus the
    mean square of the distance in levels, 0 where a word has no tones: (M,)."""
    fits, voiced = np.zeros(len(words)), np.flatnonzero(pitch > 0)
    if len(voiced) < 5:
        return fits
    places = np.linspace(voiced[0], voiced[-1], POINTS)
    octaves = np.interp(places, voiced, np.log2(pitch[voiced]))
    octaves = (octaves - octaves.mean()).clip(-MAX_OCTAVES, MAX_OCTAVES)
    for row, word in enumerate(words):
        tones = [CONTOURS[phoneme] for phoneme in word if phoneme in CONTOURS]
        if tones:
            levels = np.concatenate(tones)
            levels = np.interp(np.linspace(0, 1, POINTS), np.linspace(0, 1, len(levels)), levels)
            fits[row] = -np.mean((octaves / LEVEL - levels + levels.mean()) ** 2)
    return fits


Scorer = Callable[[Encoded, Sequence[Word]], np.ndarray]


def scorers(taught: Sequence[tuple[Word, np.ndarray]]) -> dict[str, Scorer]:
    """List the attempts. taught: words and log posteriors that heads are trained on."""

    def phonemes(model: int, head: FeatureHead | None = None) -> Scorer:
        @torch.inference_mode()
        def score(encoded: Encoded, words: Sequence[Word]) -> np.ndarray:
            spelled, rows = [numbers(word) for word in words], []
            for each in encoded.posteriors:
                x = torch.from_numpy(each[model].astype(np.float32))
                rows.append(likelihoods(head(x[None])[0] if head else x, spelled))
            return np.stack(rows)

        return score

    def either(encoded: Encoded, words: Sequence[Word]) -> np.ndarray:
        return np.maximum(phonemes(0)(encoded, words), phonemes(1)(encoded, words))

    def hama(encoded: Encoded, words: Sequence[Word]) -> np.ndarray:
        spelled = [
            [NUMBERS[ARPABET[CLOSEST_PHONE[p]]] for p in word if p not in TONES] for word in words
        ]
        return np.stack([likelihoods(torch.from_numpy(x), spelled) for x in encoded.english])

    def tones(encoded: Encoded, words: Sequence[Word]) -> np.ndarray:
        return np.stack([contour_fits(pitch, words) for pitch in encoded.pitch])

    alone = {phoneme: (phoneme,) for phoneme in FEATURES}
    return {
        SHIPPED: phonemes(0),
        "phonemes, words-states-bottleneck": phonemes(1),
        "phonemes, the better of both": either,
        "phonemes, words-bottleneck, trained on": phonemes(0, train_features(alone, taught)),
        "the same with distinctive features": phonemes(0, train_features(FEATURES, taught)),
        "phonemes, hama": hama,
        "tones by F0": tones,
    }


def by_language(scores: np.ndarray, own: np.ndarray, languages: np.ndarray) -> dict[str, float]:
    """Compute AP and P@1 of scores (N, M) in each language; own (N,): the right word."""
    figures = {}
    right = own[:, None] == np.arange(scores.shape[1])
    for code in LANGUAGE_NAMES:
        chosen = languages == code
        part, is_own = scores[chosen], right[chosen]
        if len(part):
            figures[f"{code} AP"] = average_precision(part[is_own], part[~is_own])
            figures[f"{code} P@1"] = float((part.argmax(axis=1) == own[chosen]).mean())
    return figures


def measure(
    sets: Mapping[str, Encoded],
    recorded: Sequence[Word],
    taught: Sequence[tuple[Word, np.ndarray]],
    words: Words,
) -> list[dict[str, Any]]:
    """Choose the weight of each attempt on validation, and measure it there and on test: the rows.
    sets: by the names in LIMITS; recorded: the written words of the corpora."""
    galleries = {name: [*dict.fromkeys([*recorded, *each.words])] for name, each in sets.items()}
    cosines = {
        name: each.vectors @ words.embed_phonemes(galleries[name]).T for name, each in sets.items()
    }

    owns = {
        name: np.array([galleries[name].index(word) for word in each.words])
        for name, each in sets.items()
    }

    def figures(name: str, scores: np.ndarray) -> dict[str, float]:
        return by_language(cosines[name] + scores, owns[name], sets[name].languages)

    def row(attempt: str, weight: float, scores: Mapping[str, np.ndarray]) -> dict[str, Any]:
        each = {
            f"{name} {key}": value
            for name in sets
            for key, value in figures(name, weight * scores[name]).items()
        }
        return {"system": attempt, "shipped": attempt == SHIPPED, "weight": weight, **each}

    rows = [row("nothing: the cosine alone", 0.0, dict.fromkeys(sets, np.zeros(1)))]
    for attempt, score in scorers(taught).items():
        if attempt != "phonemes, hama" or sets["validation"].english:
            scores = {name: score(each, galleries[name]) for name, each in sets.items()}
            for name, gallery in galleries.items():
                scores[name] *= [is_foreign(word) for word in gallery]
            right = scores["unrecorded"][np.arange(len(owns["unrecorded"])), owns["unrecorded"]]
            usual = round(float(right[right != 0].mean()), 2)
            scores = {name: np.where(each != 0, each - usual, 0) for name, each in scores.items()}
            rows.append(row(attempt, choose(figures, scores), scores) | {"usual": usual})
    return rows


def choose(
    figures: Callable[[str, np.ndarray], Mapping[str, float]], scores: Mapping[str, np.ndarray]
) -> float:
    """Choose the weight with the highest mean AP of unrecorded words in Arabic and Mandarin, of
    those at which English ones and recorded words lose no more than MAX_LOSS; 0 where none gains.
    """
    before = {name: figures(name, np.zeros(1)) for name in ("unrecorded", "fluent", "validation")}
    best, chosen = 0.0, 0.0
    for weight in WEIGHTS:
        gains = {
            (name, key): value - before[name][key]
            for name in before
            for key, value in figures(name, weight * scores[name]).items()
        }
        gain = float(np.mean([gains["unrecorded", f"{code} AP"] for code in ("ar", "zh")]))
        worst = min(
            each
            for (name, key), each in gains.items()
            if name == "validation" or key.startswith("en")
        )
        if gain > best and worst >= -MAX_LOSS:
            best, chosen = gain, weight
    return chosen


def encode(words: Words, recordings: Sequence[RecordedWord]) -> Encoded:
    """Encode recordings by each source."""
    waveforms = [word.waveform for word in recordings]
    return Encoded(
        [word.phonemes for word in recordings],
        np.array([word.item.language for word in recordings]),
        words.embed_waveforms(waveforms),
        [words.log_posteriors(waveform) for waveform in waveforms],
        [np.log(hama_posteriors(w) + np.exp(FLOOR)) for w in waveforms]
        if find_spec("hama")
        else [],
        [track_pitch(waveform) for waveform in waveforms],
    )


def evaluate_languages(data: Path, publish: bool) -> None:
    """Print the table of what each attempt gives; publish: write it into the page, the weight of
    the one that is shipped into the config, and what it recognises into the metrics."""
    items = word_items(data)
    words = Words.from_pretrained(CHECKPOINTS / "words", "cpu")
    recorded = sorted({phonemes_of(item) for item in items})
    is_unseen = [is_zero_shot(item.language, item.text, phonemes_of(item)) for item in items]
    is_test = in_split(items, "test") & ~np.array(is_unseen)
    validation = validation_items(items)
    by_set = {
        "validation": validation,
        "zero-shot": [items[i] for i in np.flatnonzero(is_unseen)],
        "test": [items[i] for i in np.flatnonzero(is_test)],
    }
    unrecorded = unrecorded_words(list(load_recordings(validation)), recorded, UNRECORDED)
    some = drawn(unrecorded, [word.item.language for word in unrecorded], LIMITS["unrecorded"])
    fluent = list(in_sentences(data))
    sets = {
        "unrecorded": encode(words, some),
        "fluent": encode(words, drawn(fluent, ["en"] * len(fluent), LIMITS["fluent"])),
    }
    for name, each in by_set.items():
        some = drawn(each, [item.language for item in each], LIMITS[name])
        sets[name] = encode(words, list(load_recordings(some)))
    trained = [item for item in items if is_trained_on(item)]
    some = drawn(trained, [phonemes_of(item) for item in trained], MAX_EACH)
    taught = [(w.phonemes, words.log_posteriors(w.waveform)[0]) for w in load_recordings(some)]
    rows = measure(sets, recorded, taught, words)
    table = markdown(rows, HEADS)
    print(table)
    if publish:
        path = CHECKPOINTS / "words" / "config.json"
        config = json.loads(path.read_text(encoding="utf-8"))
        row = next(row for row in rows if row["shipped"])
        config["foreign_phonemes"] = {"weight": row["weight"], "usual": row["usual"]}
        path.write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
        unseen = {code: row[f"zero-shot {code} P@1"] for code in LANGUAGE_NAMES}
        update_metrics(path.parent, {"unseen_p_at_1": unseen})
        publish_text(table, CHECKPOINTS.parent / "docs" / "words.md", "languages")


Drawn = TypeVar("Drawn")


def drawn(each: Sequence[Drawn], groups: Sequence[object], limit: int) -> list[Drawn]:
    """Draw at most ``limit`` of each group, in their order."""
    rng, chosen = np.random.default_rng(1), []
    for group in dict.fromkeys(groups):
        rows = [row for row, own in enumerate(groups) if own == group]
        chosen += rng.permutation(rows)[:limit].tolist()
    return [each[row] for row in sorted(chosen)]
