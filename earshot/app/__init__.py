"""The app: options, health, the models that are loaded, the page, and how it is served."""

import os

from earshot.core.console import open_streams


def main() -> None:
    """Serve the page with the options of the command line and the environment."""
    open_streams()
    # Bars of transformers and of the hub go to the log. On a full disk that fails in tqdm, which
    # keeps its lock then, and SIGTERM would wait for it.
    os.environ |= {"TQDM_DISABLE": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
    # torch's threads would wait for each other by spinning, also for one that has no core just now.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    from earshot.app import launch

    launch.main()
