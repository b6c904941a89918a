"""Detailed tables: by language, in noise, of zero-shot words, of near-homophones."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from training.common.report import markdown
from training.words.evaluate.evaluator import NEAR_HOMOPHONES

LANGUAGES: Final = {"en": "English", "ar": "Arabic", "zh": "Mandarin"}
CONDITIONS: Final = {
    "trained": "words trained on",
    **LANGUAGES,
    "20db": "noise 20 dB",
    "10db": "10 dB",
    "0db": "0 dB",
    "far": "far microphone",
}
TABLES: Final = {
    "Acoustic AP": {
        "acoustic_ap_across_trained": "across speakers, words trained on",
        **{f"acoustic_ap_{key}": name for key, name in CONDITIONS.items()},
    },
    "Cross-view AP": {f"cross_view_ap_{key}": name for key, name in CONDITIONS.items()},
    "Recognition, AP of the probabilities": {
        "recognition_ap": "all",
        "unseen_recognition_ap": "zero-shot words",
        **{f"unseen_recognition_ap_{key}": f"{name}, zero-shot" for key, name in LANGUAGES.items()},
        **{f"recognition_ap_{key}": name for key, name in CONDITIONS.items()},
    },
    "Spoken to written, P@1": {f"p_at_1_{key}": name for key, name in CONDITIONS.items()},
    "Zero-shot words": {
        f"unseen_{metric}_{key}": f"{name}, {title}"
        for metric, title in (("cross_view_ap", "AP"), ("p_at_1", "P@1"))
        for key, name in LANGUAGES.items()
    },
    "Near-homophones, share distinguished": {
        f"near_homophones_{pair}": pair for pair in NEAR_HOMOPHONES
    },
}


def details(rows: Sequence[Mapping[str, Any]]) -> str:
    """Write Markdown tables, each of the systems that have any of its metrics."""
    parts = []
    for title, columns in TABLES.items():
        known = [row for row in rows if columns.keys() & row.keys()]
        if known:
            heads = {metric: (name, ".3f") for metric, name in columns.items()}
            parts.append(f"{title}:\n\n{markdown(known, heads)}")
    return "\n\n".join(parts)
