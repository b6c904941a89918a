"""A visitor of the app over its real HTTP interface, as a browser is one."""

import json
import uuid
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import httpx

from earshot.core.paths import ASSETS
from earshot.systems.voice_conversion.settings import (
    CONTINUOUS,
    DEFAULT_VOICE,
    INTONATIONS,
    VOCODERS,
)
from earshot.tabs.lip_to_speech.events import FACE

SPEECH: Final = ASSETS / "examples" / "woman-lighthouse.ogg"
VIDEO: Final = min((ASSETS / "heads").glob("*.mp4"))
# What a page sends unless its visitor chooses otherwise.
CHOICES: Final = (DEFAULT_VOICE, CONTINUOUS, VOCODERS[0], INTONATIONS[0])
TASKS: Final = ("convert", "search_sounds", "embed_text", "lip_to_speech")
MAX_WAIT: Final = 300.0  # seconds


class Visitor:
    """One session from an address of its own. number: of the visitor, for a server that believes
    this machine to be a proxy; source: an address of this machine, for one that does not."""

    def __init__(self, address: str, number: int = 0, source: str | None = None) -> None:
        headers = {} if source else {"X-Forwarded-For": f"192.0.2.{number % 250}"}
        base, transport = address.rstrip("/"), httpx.HTTPTransport(local_address=source)
        self.client = httpx.Client(
            base_url=base, timeout=MAX_WAIT, headers=headers, transport=transport
        )
        self.session, self.source = uuid.uuid4().hex, source

    def open_page(self) -> None:
        """Load the page, in a new session."""
        self.session = uuid.uuid4().hex
        for path in ("/", "/config"):
            self.client.get(path, headers={"Accept": "text/html"}).raise_for_status()

    @cached_property
    def config(self) -> dict[str, Any]:
        """Fetch what the page is made of: its components and events."""
        return self.client.get("/config").raise_for_status().json()

    @cached_property
    def _props(self) -> dict[int, dict[str, Any]]:
        return {each["id"]: each["props"] for each in self.config["components"]}

    def _name(self, component: int) -> str:
        props = self._props.get(component, {})  # none of the page as a whole
        text = props.get("value") if "variant" in props else ""  # of a button
        return props.get("label") or props.get("elem_id") or text or ""

    def upload(self, path: Path) -> dict[str, Any]:
        """Send a file, as a page does after a recording."""
        files = {"files": (path.name, path.read_bytes())}
        sent = self.client.post("/gradio_api/upload", files=files)
        sent.raise_for_status()
        return {"path": sent.json()[0], "meta": {"_type": "gradio.FileData"}}

    def call(self, task: str) -> None:
        """Run a task and wait for its result. Raises RuntimeError, with what the visitor is
        told, if it is refused or fails."""
        self.ask(task, self.inputs(task))

    def ask(self, task: str, inputs: list[Any]) -> None:
        """Run a task on these inputs, as ``call`` does."""
        body = {"data": inputs, "session_hash": self.session}
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
            event_data = json.loads(data)
            raise RuntimeError(
                event_data.get("error")
                if isinstance(event_data, dict)
                else event_data or "no result"
            )

    def reading(self, name: str) -> dict[str, Any]:
        """Find the page's own event that reads the component of this name, in its queue."""
        return next(
            each
            for each in self.config["dependencies"]
            if each["queue"] and name in map(self._name, each["inputs"])
        )

    def event(self, name: str, values: Mapping[str, Any]) -> list[Any]:
        """Run the page's own event that reads the component of this name, and wait → its outputs.

        given: values by the name of a component, its label or else its id in the page; the others
        are as the page has them at first. Raises RuntimeError, with what the visitor is told, if
        it is refused or fails.
        """
        event = self.reading(name)
        data = [values.get(self._name(n), self._props[n].get("value")) for n in event["inputs"]]
        body = {"data": data, "fn_index": event["id"], "session_hash": self.session}
        joined = self.client.post("/gradio_api/queue/join", json=body)
        if joined.status_code != httpx.codes.OK:
            raise RuntimeError(str(joined.json().get("detail", joined.text))[:200])
        fetched = {"session_hash": self.session}
        with self.client.stream("GET", "/gradio_api/queue/data", params=fetched) as events:
            for line in events.iter_lines():
                message = json.loads(line.removeprefix("data: ") or "{}")
                if message.get("msg") == "process_completed":
                    if not message["success"]:
                        raise RuntimeError(message["output"]["error"])
                    return message["output"]["data"]
        raise RuntimeError("no result")

    def unqueued(self, trigger: str, name: str | None = None) -> list[dict[str, Any]]:
        """Find the page's own events in no queue that come of this trigger, of a component of
        this name if one is given."""
        return [
            each
            for each in self.config["dependencies"]
            if not each["queue"] and each["backend_fn"]
            for component, kind in each["targets"]
            if kind == trigger and (name is None or name == self._name(component))
        ]

    def at_once(self, event: Mapping[str, Any]) -> list[Any]:
        """Run an event that is in no queue, on what the page has at first → its outputs. Raises
        RuntimeError, with what the visitor is told, if it is refused or fails."""
        data = [self._props[number].get("value") for number in event["inputs"]]
        body = {"data": data, "session_hash": self.session}
        path = f"/gradio_api/run/{event['api_name']}"
        answer = self.client.post(path, json=body)
        if answer.status_code != httpx.codes.OK:
            raise RuntimeError(f"{answer.status_code}: {answer.text}"[:200])
        return answer.json()["data"]

    def inputs(self, task: str) -> list[Any]:
        """List what a page sends for a task, its file uploaded."""
        match task:
            case "convert":
                return [self.upload(SPEECH), *CHOICES]
            case "search_sounds":
                return ["a dog barks while it rains", ""]
            case "embed_text":
                return ["butterfly"]
            case _:
                return [self.upload(VIDEO), VOCODERS[0], FACE]
