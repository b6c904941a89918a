"""A small listening test in a folder, and a rater who takes it as the page does, over HTTP."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import httpx
import numpy as np
import yaml
from fastapi.testclient import TestClient

from earshot.media.audio.load import wav_bytes
from earshot.study.design import DESIGNS
from earshot.study.sounds import checks

RATE: Final = 16_000
Client = httpx.Client | TestClient
SYSTEMS: Final = ("fine", "rough")
STIMULI: Final = ("bird", "cat", "dog", "fish")


def write_test(
    folder: Path,
    design: str,
    seconds: float = 0.2,
    stimuli: Sequence[str] = STIMULI,
    **more: Any,
) -> Path:
    """Write a test into the folder: "fine" is a clear tone, one for each stimulus; "rough" has
    noise."""
    rng = np.random.default_rng(3)
    for k, stimulus in enumerate(stimuli):
        time = np.arange(round(seconds * RATE)) / RATE
        clear = 0.1 * np.sin(2 * np.pi * (220 + 60 * k) * time)
        noisy = clear + 0.05 * rng.standard_normal(len(time))
        for system, waveform in (("reference", clear), ("fine", 0.999 * clear), ("rough", noisy)):
            path = folder / system / f"{stimulus}.wav"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(wav_bytes(waveform.astype(np.float32), RATE))
    spec: dict[str, Any] = {
        "title": f"A test of {design}",
        "design": design,
        "systems": {system: f"{system}/*.wav" for system in SYSTEMS},
        "practice": 1,
        "instructions": "Listen closely.\n\nTake your time.",
        "consent": "Taking part is voluntary.",
    }
    if design in DESIGNS and DESIGNS[design].referenced:
        spec["reference"] = "reference/*.wav"
    (folder / "test.yaml").write_text(yaml.safe_dump(spec | more, sort_keys=False))
    return folder


class Rater:
    """A rater who has agreed to take a test. client: speaks to the server."""

    def __init__(self, client: Client, test: str, token: str | None = None, **more: Any) -> None:
        self.client, self.base = client, f"/listen/{test}"
        agreed = self.post("consent", rater=token, **more)
        self.token = agreed.raise_for_status().json()["rater"]

    def get(self, path: str) -> Any:
        return self.client.get(f"{self.base}/{path}", params={"rater": self.token})

    def post(self, path: str, **body: Any) -> Any:
        return self.client.post(f"{self.base}/{path}", json=body)

    def session(self) -> dict[str, Any]:
        return self.get("session").json()

    def check(self, key: str, right: bool = True, attempt: int = 0) -> dict[str, bool]:
        """Do the headphone check, well or badly. key: the test's, which tells what is right."""
        trials = [attempt * checks.HEADPHONE_TRIALS + i for i in range(checks.HEADPHONE_TRIALS)]
        answers = [checks.hidden_noise(key, self.token, trial) for trial in trials]
        answers = answers if right else [answer % checks.NOISES + 1 for answer in answers]
        body = {"rater": self.token, "attempt": attempt, "answers": answers}
        reply = self.post("headphones", **body).json()
        return {name: reply[name] for name in ("passed", "again")}

    def answer(self, trial: dict[str, Any], answer: Any, **other: Any) -> Any:
        body = {
            "rater": self.token,
            "order": trial["order"],
            "answer": answer,
            "plays": [1] * trial["sounds"],
            "milliseconds": 5000,
        }
        return self.post("answer", **body | other)
