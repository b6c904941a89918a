"""The measured results of sound search, in the metrics of each checkpoint."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pipelines.checkpoint import read_config
from training.checkpoints import update_metrics


def publish(rows: list[dict[str, Any]], measured: Sequence[Path], checkpoints: Path) -> None:
    """Write a model's rows, alone and in the ensemble, into its metrics.json in checkpoints.

    measured: the folders of the models measured. A model that is shipped after training on every
    fold has the results of one of the same name that was not, and the folds of that one.
    Raises SystemExit where a row tells of clips that were trained on.
    """
    if any(row["seen"] for row in rows):
        raise SystemExit("Not published: these models were trained on the clips that were ranked.")
    for folder in measured:
        name = folder.name
        own = [row for row in rows if name in row["system"].split(" + ")]
        results = {"results": own, "results_trained_on_folds": read_config(folder)["folds"]}
        update_metrics(checkpoints / name, results)
