"""Attackers of the app, one of each kind, each from an address of its own on this machine.

An attacker is a generator: each step is one try, and gives what came of it.
"""

import base64
import itertools
import json
import os
import random
import re
import shutil
import socket
import tempfile
import threading
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from functools import partial
from html import unescape
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
import numpy as np
import soundfile

from benchmarks.load.visitor import CHOICES, SPEECH, Visitor
from benchmarks.support import hostile
from benchmarks.support.listening import Rater, write_test
from earshot.core import files
from earshot.core.connections import MAX_CONNECTIONS
from earshot.core.paths import ROOT
from earshot.study.design.spec import FILE
from earshot.systems.voice_conversion.settings import MAX_SECONDS

Outcomes = Counter[str]  # how often what came of a try
Attack = Callable[[Visitor], Iterator[Outcomes]]

PAUSE: Final = 1.0  # seconds after a try
NICE: Final = 15  # lower in priority, for the attackers' own work is not the server's
MB: Final = 1_000_000
NOWHERE: Final = "http://192.0.2.1/a.wav"
REPORTS: Final = 90  # at once
UNITS: Final = 90 * MB  # bytes of a file of units
UPLOAD: Final = 95 * MB
HEADS: Final = 1_000  # connections
AGENTS: Final = 4  # loops of one
CHUNKS: Final = 200_000
CONNECTIONS: Final = 100  # that send heads of many lines
LOOKS: Final = 30
FILES: Final = (".git/config", "app.py", "/etc/passwd", "/proc/self/environ")
QUESTIONS: Final = [{"ask": "Tired?", "when": "between", "every": 1}]
TAGS: Final = re.compile(r"<[^>]+>")
MESSAGE: Final = re.compile(r'class=\\"message \w+\\"[^>]*>(.*?)</(?:p|div)>')
# Components of the page, by their names.
SOUNDS: Final = "Sounds of your systems"
OPENING: Final = "Key for opening tests"
YAML: Final = "study-yaml"
KEY: Final = re.compile(r"/results/([\w-]+)\?key=([\w-]+)")


def bodies(attacker: Visitor) -> Iterator[Outcomes]:
    """Send bodies that are too large, too wide and too deep to the framework's routes."""
    kinds = hostile.LARGE_BODY, *hostile.COSTLY_BODIES.values()
    for route, body in itertools.cycle(itertools.product(hostile.ROUTES, kinds)):
        yield _sent(attacker, f"/gradio_api/{route}", content=body, headers=hostile.MCP)


def addresses(attacker: Visitor) -> Iterator[Outcomes]:
    """Send addresses in place of files, to the page's endpoint and to the tool of agents."""
    file = {"path": NOWHERE, "url": NOWHERE, "meta": {"_type": "gradio.FileData"}}
    while True:
        yield _outcome_of(attacker.ask, "convert", [file, *CHOICES])
        yield _tool(attacker, "convert", audio=NOWHERE)


def own_voice(attacker: Visitor) -> Iterator[Outcomes]:
    """Ask for the voice of a recording in which the text to be read is not."""
    recorder = "Your voice, 10 to 30 s"
    while True:
        attacker.open_page()
        recording = attacker.upload(SPEECH)
        yield _outcome_of(attacker.event, recorder, {recorder: recording})


def never_fetched(attacker: Visitor) -> Iterator[Outcomes]:
    """Ask for results in one session, and never fetch them."""
    attacker.ask("embed_text", ["butterfly"])
    typed = "Type a word"
    event = attacker.reading(typed)
    body = {"data": ["butterfly"], "fn_index": event["id"], "session_hash": attacker.session}
    while True:
        yield _sent(attacker, "/gradio_api/queue/join", json=body)


def reports(attacker: Visitor) -> Iterator[Outcomes]:
    """Open a test, and ask for many of its reports at once."""
    name, key = _opened(attacker)
    attacker.client.post(f"/results/{name}/look", params={"key": key})
    with ThreadPoolExecutor(REPORTS) as pool:

        def report(_: int) -> Outcomes:
            return _answer_to(attacker, f"/results/{name}/report.pdf", key=key)

        while True:
            with suppress(httpx.HTTPStatusError):  # too many of an address
                Rater(attacker.client, name)  # so that the last report is out of date
            yield sum(pool.map(report, range(REPORTS)), Outcomes())


def units(attacker: Visitor) -> Iterator[Outcomes]:
    """Load files of units of 90 MB."""
    button = "Load units"
    body = hostile.upload_part(b"[]," * (UNITS // 3), "a.json") + hostile.END
    while True:
        sent = attacker.client.post("/gradio_api/upload", content=body, headers=hostile.FORM)
        if sent.status_code != httpx.codes.OK:
            yield Outcomes([f"{sent.status_code} to the upload"])
            continue
        file = {"path": sent.json()[0], "meta": {"_type": "gradio.FileData"}}
        yield _outcome_of(attacker.event, button, {button: file})


def uploads(attacker: Visitor) -> Iterator[Outcomes]:
    """Upload files of 95 MB, one after the other."""
    body = hostile.upload_part(bytes(UPLOAD)) + hostile.END
    while True:
        yield _sent(attacker, "/gradio_api/upload", content=body, headers=hostile.FORM)


def unfinished_uploads(attacker: Visitor) -> Iterator[Outcomes]:
    """Upload files without their last boundary."""
    body = hostile.upload_part(bytes(10 * MB))
    while True:
        yield _sent(attacker, "/gradio_api/upload", content=body, headers=hostile.FORM)


def replies(attacker: Visitor) -> Iterator[Outcomes]:
    """Open a test, and send replies of one of its raters without end."""
    name, _ = _opened(attacker)
    rater = Rater(attacker.client, name)
    for number in itertools.count():
        body = {"rater": rater.token, "question": 0, "trials": number, "reply": "a" * 2_000}
        yield _sent(attacker, f"/listen/{name}/reply", json=body)


def half_heads(attacker: Visitor) -> Iterator[Outcomes]:
    """Open connections that send half of a request's head."""
    place = urlsplit(str(attacker.client.base_url))
    while True:
        opened = []
        for half in itertools.islice(itertools.cycle(hostile.HALF_HEADS), HEADS):
            connection = socket.socket()
            connection.bind((attacker.source or "", 0))
            with suppress(OSError):
                connection.connect((place.hostname, place.port))
                connection.sendall(half)
            opened.append(connection)
        outcomes = Outcomes(_end(connection) for connection in opened)
        yield outcomes


def forged(attacker: Visitor) -> Iterator[Outcomes]:
    """Consent to the raters' test under made-up addresses."""
    while True:
        made_up = {"X-Forwarded-For": f"198.51.{random.randrange(256)}.{random.randrange(256)}"}
        yield _sent(attacker, "/listen/ab/consent", json={}, headers=made_up)


def openings(attacker: Visitor) -> Iterator[Outcomes]:
    """Open tests to raters, each in a new session."""
    while True:
        yield _outcome_of(_opened, attacker)


def agents(attacker: Visitor) -> Iterator[Outcomes]:
    """Convert as an agent does that runs in several loops."""
    speech = f"data:audio/ogg;base64,{base64.b64encode(SPEECH.read_bytes()).decode()}"
    with ThreadPoolExecutor(AGENTS) as pool:

        def convert(_: int) -> Outcomes:
            return _tool(attacker, "convert", audio=speech)

        while True:
            yield sum(pool.map(convert, range(AGENTS)), Outcomes())


def foreign_files(attacker: Visitor) -> Iterator[Outcomes]:
    """Ask for files of the server."""
    for name in itertools.cycle(FILES):
        yield _answer_to(attacker, f"/gradio_api/file={ROOT / name}")


def drawn_texts(attacker: Visitor) -> Iterator[Outcomes]:
    """Draw texts to be read for one's own voice, one a session, until one fits."""
    (forget,) = attacker.unqueued("click", "Forget my voice")
    while True:
        attacker.session = uuid.uuid4().hex
        yield _outcome_of(attacker.at_once, forget)


def small_chunks(attacker: Visitor) -> Iterator[Outcomes]:
    """Send bodies in chunks of a byte."""
    request = hostile.CHUNKED + hostile.SMALL_CHUNK * CHUNKS
    while True:
        yield _sent_whole(attacker, request)


def skipped_trials(attacker: Visitor) -> Iterator[Outcomes]:
    """Open a test, and skip each trial of many raters as if its sound were missing."""
    name, key = _opened(attacker)
    while True:
        rater = Rater(attacker.client, name)
        rater.check(key)
        for trial in rater.session()["trials"]:
            body = {"rater": rater.token, "order": trial["order"], "place": 0}
            yield _sent(attacker, f"/listen/{name}/missing", json=body)


def many_lines(attacker: Visitor) -> Iterator[Outcomes]:
    """Send heads of 11,000 lines over many connections at once."""
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        while True:
            heads = [hostile.MANY_LINES] * CONNECTIONS
            yield sum(pool.map(partial(_sent_whole, attacker), heads), Outcomes())


def first_looks(attacker: Visitor) -> Iterator[Outcomes]:
    """Ask at once, and again and again, for what each tab shows first."""
    events = list(itertools.islice(itertools.cycle(attacker.unqueued("load")), LOOKS))
    with ThreadPoolExecutor(LOOKS) as pool:
        while True:
            looks = pool.map(lambda event: _outcome_of(attacker.at_once, event), events)
            yield sum(looks, Outcomes())


def long_results(attacker: Visitor) -> Iterator[Outcomes]:
    """Convert a minute of speech in one session after the other."""
    with tempfile.TemporaryDirectory() as place:
        speech, rate = soundfile.read(SPEECH)
        whole = np.resize(speech, round(MAX_SECONDS * rate) - 1)
        file = Path(place) / "minute.wav"
        soundfile.write(file, whole, rate)
        while True:
            attacker.session = uuid.uuid4().hex
            yield _outcome_of(attacker.ask, "convert", [attacker.upload(file), *CHOICES])


# By what they do, with the seconds between two tries.
KINDS: Final[Mapping[str, tuple[Attack, float]]] = {
    "bodies of 3 MB, wide and deep": (bodies, PAUSE),
    "addresses as files": (addresses, PAUSE),
    "own voice without a reading": (own_voice, PAUSE),
    "results never fetched": (never_fetched, 0.3),
    f"{REPORTS} reports at once": (reports, PAUSE),
    "units of 90 MB": (units, 5 * PAUSE),
    "uploads of 95 MB": (uploads, PAUSE),
    "uploads without an end": (unfinished_uploads, PAUSE),
    "replies without end": (replies, 0.3),
    f"{HEADS} half heads": (half_heads, PAUSE),
    "forged addresses": (forged, PAUSE),
    "tests opened": (openings, PAUSE),
    f"{AGENTS} loops of an agent": (agents, 0.0),
    "files of the server": (foreign_files, PAUSE),
    "texts drawn until one fits": (drawn_texts, 0.0),
    f"{CHUNKS:,} chunks of a byte": (small_chunks, PAUSE),
    "trials skipped": (skipped_trials, 0.3),
    f"{CONNECTIONS} heads of many lines": (many_lines, PAUSE),
    f"{LOOKS} first looks at once": (first_looks, 0.0),
    "a minute of speech in each session": (long_results, 0.0),
}


def attack(address: str, going: Event, record: Path) -> None:
    """Attack with one of each kind while ``going`` is set, and write every few seconds what came
    of it into a file: by kind, how often what. For a process of its own; never returns."""
    os.nice(NICE)
    outcomes: defaultdict[str, Outcomes] = defaultdict(Outcomes)
    if record.exists():
        outcomes.update(
            {kind: Outcomes(old) for kind, old in json.loads(record.read_text()).items()}
        )
    for number, kind in enumerate(KINDS):
        threading.Thread(
            target=_attack, args=[address, kind, number, going, outcomes[kind]], daemon=True
        ).start()
    while True:
        time.sleep(5)
        files.write(record, json.dumps(outcomes).encode())


def _attack(address: str, kind: str, number: int, going: Event, outcomes: Outcomes) -> None:
    attack_once, pause = KINDS[kind]
    going.wait()
    while True:
        try:
            for outcome in attack_once(Visitor(address, source=f"127.0.3.{number + 1}")):
                outcomes.update(outcome)
                time.sleep(pause)
                going.wait()
        except (httpx.HTTPError, RuntimeError, OSError) as error:  # it begins anew
            outcomes[f"could not begin: {type(error).__name__}: {error}"[:100]] += 1
            time.sleep(10 * PAUSE)
            going.wait()


def _sent(attacker: Visitor, path: str, **request: Any) -> Outcomes:
    return _answered(lambda: attacker.client.post(path, **request))


def _sent_whole(attacker: Visitor, request: bytes) -> Outcomes:
    """Send bytes over a connection of their own, and find the status of the answer."""
    place = urlsplit(str(attacker.client.base_url))
    with closing(socket.socket()) as connection:
        connection.settimeout(60)
        connection.bind((attacker.source or "", 0))
        try:
            connection.connect((place.hostname, place.port))
            with suppress(ConnectionError):  # it may answer, and end, before all is sent
                connection.sendall(request)
            status = connection.recv(1_000).split(b" ", 2)[1:2]
        except OSError:
            return Outcomes(["cut off"])
    return Outcomes([status[0].decode() if status else "ended"])


def _answer_to(attacker: Visitor, path: str, **query: str) -> Outcomes:
    return _answered(lambda: attacker.client.get(path, params=query))


def _answered(send: Callable[[], httpx.Response]) -> Outcomes:
    try:
        return Outcomes([str(send().status_code)])
    except httpx.TransportError:
        return Outcomes(["cut off"])


def _outcome_of(do: Callable[..., object], *arguments: Any) -> Outcomes:
    """Find what the attacker is told of what they do: by an error, or by a message of the page."""
    try:
        done = do(*arguments)
    except (RuntimeError, httpx.HTTPError) as error:
        return Outcomes([f"“{str(error)[:90]}”"])
    message = _message(json.dumps(done, ensure_ascii=False))
    return Outcomes([f"“{message[:90]}”" if message else "done"])


def _tool(attacker: Visitor, name: str, **arguments: Any) -> Outcomes:
    params = {"name": name, "arguments": arguments}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    try:
        reply = attacker.client.post("/gradio_api/mcp/", json=body, headers=hostile.MCP)
    except httpx.TransportError:
        return Outcomes(["cut off"])
    if reply.status_code != httpx.codes.OK:
        return Outcomes([str(reply.status_code)])
    failed = '"isError":true' in reply.text.replace(" ", "")
    text = re.search(r'"text":\s*"((?:[^"\\]|\\.)*)"', reply.text)
    return Outcomes([f"“{text[1][:90]}”" if failed and text else "done"])


def _opened(attacker: Visitor) -> tuple[str, str]:
    """Open a test to raters, as a new session → its name and its key."""
    attacker.open_page()
    with tempfile.TemporaryDirectory() as place:
        written = write_test(Path(place) / "acr", "acr", questions=QUESTIONS)
        yaml = (written / FILE).read_text()
        file = shutil.make_archive(f"{place}/test", "zip", written)
        sounds = attacker.upload(Path(file))
    attacker.event(SOUNDS, {SOUNDS: [sounds]})
    answer = json.dumps(attacker.event(OPENING, {YAML: yaml}), ensure_ascii=False)
    if key_match := KEY.search(unescape(answer)):
        return key_match[1], key_match[2]
    raise RuntimeError(_message(answer) or "It was not opened.")


def _end(connection: socket.socket) -> str:
    with closing(connection):
        connection.settimeout(60)
        try:
            return "ended" if not connection.recv(1_000) else "answered"
        except TimeoutError:
            return "held for 60 s"
        except OSError:
            return f"refused, over {MAX_CONNECTIONS}"


def _message(outputs: str) -> str:
    """Find the message in the outputs of an event, as JSON; "" where there is none."""
    message = MESSAGE.search(outputs)
    return unescape(TAGS.sub("", message[1])).strip() if message else ""
