"""The edit distance for trainings that have torch and numpy alone; elsewhere it is rapidfuzz's."""

from collections.abc import Sequence


def edit_distance(reference: Sequence[object], hypothesis: Sequence[object]) -> int:
    """Count the fewest insertions, deletions and substitutions between the two (Levenshtein)."""
    row = list(range(len(hypothesis) + 1))
    for i, word in enumerate(reference, 1):
        diagonal, row[0] = row[0], i
        for j, other in enumerate(hypothesis, 1):
            best = min(row[j] + 1, row[j - 1] + 1, diagonal + (word != other))
            diagonal, row[j] = row[j], best
    return row[-1]
