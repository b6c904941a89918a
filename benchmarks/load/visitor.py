"""A visitor of the app over its real HTTP interface, as a browser is one."""

import json
import uuid
from pathlib import Path
from typing import Any, Final

import httpx

from earshot.core.paths import ASSETS
from earshot.pipelines.voice_conversion.settings import (
    CONTINUOUS,
    DEFAULT_VOICE,
    INTONATIONS,
    VOCODERS,
)

SPEECH: Final = ASSETS / "examples" / "woman-lighthouse.ogg"
VIDEO: Final = min((ASSETS / "heads").glob("*.mp4"))
# What a page sends unless its visitor chooses otherwise.
CHOICES: Final = (DEFAULT_VOICE, CONTINUOUS, VOCODERS[0], INTONATIONS[0])
TASKS: Final = ("convert", "search_sounds", "embed_text", "lip_to_speech")
PATIENCE: Final = 300.0  # seconds


class Visitor:
    """One session from an address of its own. number: of the visitor."""

    def __init__(self, address: str, number: int = 0) -> None:
        headers = {"X-Forwarded-For": f"192.0.2.{number % 250}"}
        base = address.rstrip("/")
        self.client = httpx.Client(base_url=base, timeout=PATIENCE, headers=headers)
        self.session = uuid.uuid4().hex

    def open_page(self) -> None:
        """Loads the page, as a new session."""
        self.session = uuid.uuid4().hex
        for path in ("/", "/config"):
            self.client.get(path, headers={"Accept": "text/html"}).raise_for_status()

    def upload(self, path: Path) -> dict[str, Any]:
        """Sends a file, as a page does after a recording."""
        files = {"files": (path.name, path.read_bytes())}
        sent = self.client.post("/gradio_api/upload", files=files)
        sent.raise_for_status()
        return {"path": sent.json()[0], "meta": {"_type": "gradio.FileData"}}

    def call(self, task: str) -> None:
        """Runs a task and waits for its result. Raises RuntimeError, with what the visitor is
        told, if it is refused or fails."""
        body = {"data": self._inputs(task), "session_hash": self.session}
        joined = self.client.post(f"/gradio_api/call/{task}", json=body)
        if joined.status_code != httpx.codes.OK:
            raise RuntimeError(str(joined.json().get("detail", joined.text))[:200])
        event, data = "", "null"
        result = f"/gradio_api/call/{task}/{joined.json()['event_id']}"
        with self.client.stream("GET", result) as events:
            for line in events.iter_lines():
                if line.startswith("event: "):
                    event = line.removeprefix("event: ")
                if line.startswith("data: ") and event in ("complete", "error"):
                    data = line.removeprefix("data: ")
                    break
        if event != "complete":
            said = json.loads(data)
            raise RuntimeError(said.get("error") if isinstance(said, dict) else said or "no result")

    def _inputs(self, task: str) -> list:
        match task:
            case "convert":
                return [self.upload(SPEECH), *CHOICES]
            case "search_sounds":
                return ["a dog barks while it rains", ""]
            case "embed_text":
                return ["butterfly"]
            case _:
                return [self.upload(VIDEO), "neural"]
