"""Everything that Earshot takes from inside Gradio, in one place: check it when Gradio is upgraded.

Nothing here is part of Gradio's public interface. More than 400 lines, so that who upgrades Gradio
has one file to check.
"""

import asyncio
import functools
import inspect
import logging
import math
import os
import re
import secrets
import shutil
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any, BinaryIO, Final, NoReturn
from weakref import WeakKeyDictionary

import gradio as gr
from fastapi import HTTPException, Request
from gradio import processing_utils, route_utils, routes, utils
from gradio.block_function import BlockFunction
from gradio.blocks import BlocksConfig
from gradio.components import file as file_input
from gradio.components import upload_button as upload_input
from gradio.context import Context, LocalContext, get_blocks_context
from gradio.data_classes import FileData, PredictBodyInternal
from gradio.exceptions import ServerFailedToStartError
from gradio.http_server import Server
from gradio.queueing import Event
from gradio.route_utils import API_PREFIX
from gradio.server_messages import EventMessage
from gradio.state_holder import SessionState, StateHolder
from gradio.utils import get_upload_folder
from gradio_client import utils as client_utils
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse

from earshot.core.computing import coming_last
from earshot.core.limits import RateLimit, Turns, address_of
from earshot.core.paths import ASSETS
from earshot.core.uploads import FILE_OVERHEAD, MB, MIN_FREE
from earshot.tabs.shared.addresses import Addresses

FRONTEND: Final = Path(route_utils.BUILD_PATH_LIB)  # its scripts and styles
UPLOADS: Final = ("/gradio_api/upload",)  # where files are sent to
# What Gradio's routes raise at a component, a function or a parameter that is not there.
STRANGE_ERRORS: Final = (LookupError, TypeError, ValueError, AttributeError)
STRANGE: Final = "This request names what is not there. See /agents.md for what is."
UNUSABLE: Final = "An input of this call is not what it takes. See /agents.md for what each takes."
NO_ROOM: Final = "This server has no room for results just now. Try again in an hour."
SCARCE_BYTES: Final = 5 * MIN_FREE  # of the disk: with less, an address gets little more
MAX_LIST: Final = 20_000  # files, choices, or numbers, in an input
MAX_FILE_NAME: Final = 200  # letters of the name of an upload, and of its ending
MAX_PATH: Final = 1_000  # letters of the path of a file that a request names
NOT_OWN: Final = "This file was not uploaded here, or is no longer there. Upload it again."
MAX_UNREAD: Final = 20  # messages of a session, of up to 0.8 MB each
MAX_WITH_WORK: Final = 50  # sessions of an address whose results are kept, of some MB each
MAX_SESSIONS: Final = 20  # of an address, that fetch nothing
MAX_IDLE: Final = 300.0  # seconds after which a session that fetches nothing is gone
SESSION_INTERVAL: Final = 0.02  # seconds between looks at two of them: 20 s for all there may be
MAX_TRACKED: Final = 300  # uploads whose progress is kept for those who ask
MAX_FIELDS: Final = 10  # of what is sent there and is no file: pages send nothing else
MAX_FIELD_BYTES: Final = 64_000  # of all of them, which stay in memory
MAX_NAME: Final = 64  # letters of a session's name, which is kept for an hour
logger = logging.getLogger("earshot")
QUEUE_FULL: Final = "queue_full"  # Gradio's word for an event that may not wait
# In file names: pages ask for a file by its path as it is, which their browsers, and the server,
# take for parts of an address. Browsers send a quotation mark as %22.
OF_ADDRESSES: Final = re.compile("%22|[%#]")
SESSION: Final = SessionState.__init__  # Gradio's own
IS_STATIC: Final = utils._is_static_file  # Gradio's own
MAX_STATIC: Final = 1_000  # files that are known to be static, or not
RESTORE: Final = route_utils.restore_session_state  # Gradio's own
CREATE_APP: Final = routes.App.create_app  # Gradio's own
_made_for: ContextVar[str] = ContextVar("made_for", default="")  # an address: see charge_results
WRITERS: Final = (  # of results, each under the hash of its content
    processing_utils.save_audio_to_cache,
    processing_utils.save_bytes_to_cache,
    processing_utils.save_pil_to_cache,
)


def event_data(event: gr.EventData) -> dict[str, Any]:
    """Read what the page sent with a custom event. It comes from a browser, and can be anything."""
    return event._data if isinstance(event._data, dict) else {}


def current_page() -> gr.Blocks | None:
    """Find the outermost Blocks that is being built, if one is."""
    return Context.root_block


def latest_event() -> int:
    """Return the number of the event that was added last to the page that is being built."""
    return max(_page_in_work().fns)


def cancelled_by_latest_event() -> list[int]:
    """Return the numbers of the events that the event added last cancels: a list to add to."""
    return _page_in_work().fns[latest_event()].cancels


def _page_in_work() -> BlocksConfig:
    page = get_blocks_context()
    assert page is not None
    return page


def upload_folder() -> Path:
    """Return the folder where Gradio keeps what visitors upload and what it serves to them."""
    return Path(get_upload_folder())


def among_uploads(path: str | Path) -> Path | None:
    """Find where a file that a request names really lies; None where that is not the folder of
    uploads and results, and for a name that is none. A longer one than any is not looked up: that
    takes quadratic time, while all others wait."""
    if len(str(path)) > MAX_PATH:
        return None
    try:
        real = Path(path).resolve()
    except (OSError, ValueError):
        return None
    return real if real.is_relative_to(upload_folder().resolve()) else None


def served_file(content: bytes | Path, name: str) -> dict[str, Any]:
    """Describe a file as the page fetches it, under a download name.

    Bytes go to Gradio's cache, which is deleted with the visitor's other files; those of a shipped
    example are served from where they are, for as long as the page is open.
    """
    path: str | Path | None = content if isinstance(content, Path) else None
    if isinstance(content, bytes):
        path = shipped_examples().get(sha256(content).digest())
        path = path or processing_utils.save_bytes_to_cache(content, name, get_upload_folder())
    return FileData(path=str(path), orig_name=name).model_dump()


@cache
def shipped_examples() -> dict[bytes, Path]:
    """Index the shipped examples by the hash of their content, from now on served by their
    paths."""
    folders = [ASSETS / name for name in ("examples", "heads", "voices")]
    gr.set_static_paths([*folders])
    files = [path for folder in folders for path in folder.iterdir()]
    return {sha256(path.read_bytes()).digest(): path for path in files}


def example_for_input(path: Path) -> str:
    """Copy a shipped example to where the value of an input may lie, under its own name → path."""
    return processing_utils.save_bytes_to_cache(path.read_bytes(), path.name, get_upload_folder())


def content_addressed(path: Path) -> bool:
    """Whether Gradio keeps the file under the hash of its content, where visitors share it."""
    return len(path.parent.name) == 64 and set(path.parent.name) <= set("0123456789abcdef")


def session_of_event() -> str | None:
    """Return the session of the visitor whose event runs now; None where no event runs."""
    request = LocalContext.request.get(None)
    return getattr(request, "session_hash", None)


def address_of_event(request: gr.Request) -> str:
    """Return the address that limits count an event's visitor by; "" where no browser asked."""
    return address_of(request.request) if request.request else ""


class _RandomName:
    """A random name in place of the hash of an upload's content."""

    def __init__(self) -> None:
        self._name = f"upload-{secrets.token_hex(16)}"

    def update(self, data: bytes) -> None:
        """Take no notice of the content."""

    def hexdigest(self) -> str:
        return self._name


class _PrivateUpload(route_utils.GradioUploadFile):
    """An upload in a folder that no other upload has, not even one of the same content, under a
    name that can be asked for."""

    def __init__(self, file: BinaryIO, *, filename: str | None = None, **about: Any) -> None:
        if filename:  # which Gradio shortens letter by letter
            stem, ending = os.path.splitext(OF_ADDRESSES.sub("-", filename))
            filename = stem[:MAX_FILE_NAME] + ending[:MAX_FILE_NAME]
        super().__init__(file, filename=filename, **about)
        self.sha: Any = _RandomName()


class _TidyParser(route_utils.GradioMultiPartParser):
    """A parser of uploads that leaves nothing of what is not whole: nobody would ever delete it."""

    # Not the sender's choice: Python's punycode takes quadratic time, while all others wait.
    _charset: Any = property(lambda _: "utf-8", lambda *_: None)

    def __init__(self, *args: Any, **limits: Any) -> None:
        super().__init__(*args, **limits | {"max_fields": MAX_FIELDS})
        self._field_bytes = 0

    def on_part_data(self, data: bytes, start: int, end: int) -> None:
        """Take in a piece. What is no file stays in memory, so it is small."""
        super().on_part_data(data, start, end)
        if self._current_part.file is None:
            self._field_bytes += end - start
            if self._field_bytes > MAX_FIELD_BYTES:
                raise MultiPartException("The fields of this upload are too long.")

    async def parse(self) -> FormData:
        """Read the upload. Raises MultiPartException where it breaks off, or cannot be stored."""
        whole: set[str] = set()
        try:
            form = await super().parse()
            whole = {each.file.name for _, each in self.items if isinstance(each, UploadFile)}
            return form
        except ClientDisconnect as error:
            raise MultiPartException("The upload broke off. Send it again.") from error
        except OSError as error:
            logger.error("an upload cannot be stored: %s", error)
            raise MultiPartException("The server cannot store this upload just now.") from error
        finally:
            for file in self._files_to_close_on_error:
                if file.name not in whole:
                    file.close()
                    Path(file.name).unlink(missing_ok=True)


class _Progress(route_utils.FileUploadProgress):
    """The progress of uploads, of which nothing stays where no upload comes, or nobody reads it."""

    async def is_tracked(self, upload_id: str) -> bool:
        """Wait for the upload: a page asks before it begins."""
        try:
            return await super().is_tracked(upload_id)
        finally:
            if upload_id not in self._statuses:
                self._signals.pop(upload_id, None)

    def track(self, upload_id: str) -> None:
        """Begin to track the upload, and let go of the oldest of too many."""
        super().track(upload_id)
        for oldest in [*self._statuses][:-MAX_TRACKED]:
            self.stop_tracking(oldest)

    def stop_tracking(self, upload_id: str) -> None:
        """Let go of the upload."""
        super().stop_tracking(upload_id)
        self._signals.pop(upload_id, None)


def create_apps_at_launch() -> None:
    """Let Gradio create the app that answers for a page at its launch alone from now on: it creates
    one for each Blocks, also of a tab, when that begins and again when it ends, for 0.1 s each.
    """

    def create(page: gr.Blocks, *args: Any, **how: Any) -> Any:
        early = not args and how == {"mcp_server": False}
        return None if early else CREATE_APP(page, *args, **how)

    routes.App.create_app = staticmethod(create)  # type: ignore[assignment]


def keep_uploads_apart() -> None:
    """Give two visitors who send the same file two files from now on: one may be deleted. What
    breaks off is deleted at once, and of progress that nobody reads little is kept.
    """
    route_utils.GradioUploadFile = _PrivateUpload
    route_utils.GradioMultiPartParser = _TidyParser
    routes.file_upload_statuses = _Progress()


def keep_sessions_light() -> None:
    """Give a session no copy of the whole page from now on: 4 MB, and 0.1 s in which all others
    wait, for each. Only deep links need it, which are off.
    """

    def light(session: SessionState, blocks: gr.Blocks) -> None:
        nothing_to_copy: Any = SimpleNamespace(default_config=blocks.default_config, blocks={})
        SESSION(session, nothing_to_copy)

    SessionState.__init__ = light  # type: ignore[method-assign]
    for copying in ("_update_config", "_update_value_in_config"):
        setattr(SessionState, copying, lambda *_: None)


def expire_sessions_in_turn() -> None:
    """Look through sessions for what has expired one after the other from now on: Gradio looks
    through all of them at once, each second, for 0.02 s, in which all others wait.
    """

    async def delete(app: routes.App) -> NoReturn:
        while True:
            for name in [*app.state_holder.session_data]:
                app.state_holder.delete_state(name, expired_only=True)
                await asyncio.sleep(SESSION_INTERVAL)
            await asyncio.sleep(1)

    route_utils._delete_state = delete


def keep_no_statistics(page: gr.Blocks) -> None:
    """Keep no record of what the page does: Gradio makes statistics anew after each event, of up
    to 10,000 of them, for 0.01 s, for a page of monitoring that is off. Call it between page.queue
    and page.launch.
    """
    page._queue.ANALYTICS_MAX_EVENTS = 0


def _has_work(session: SessionState) -> bool:
    """Whether anything that a visitor made is kept in a session."""
    return any(value is not None for value in [*session.state_data.values()])


def share_sessions(address: Callable[[Request], str], used: Callable[[str], None]) -> None:
    """Let go of the oldest session of the address that has most, where there are too many from now
    on, and of an address of which too many keep work, and delete what it kept: Gradio would forget
    the oldest of all, and leave its files. What a session keeps expires when nothing has happened
    in it for so long, not since it was kept.

    address: whom a request comes from; used: told the name of each session in which something
    happens.
    """
    whose: WeakKeyDictionary[SessionState, str] = WeakKeyDictionary()

    def restored(app: routes.App, body: PredictBodyInternal) -> tuple[SessionState, Any]:
        if not _is_name(body.session_hash):
            raise gr.Error(STRANGE, print_exception=False)
        session, iterator = RESTORE(app, body)
        if body.request:
            whose[session] = address(body.request)
        if body.session_hash and body.fn_index is not None:  # else their page is closed just now
            for key, (seconds, _) in session._state_ttl.items():
                session._state_ttl[key] = seconds, datetime.now()
            used(body.session_hash)
        return session, iterator

    def update(holder: StateHolder, name: str) -> None:
        with holder.lock:
            sessions = holder.session_data
            if name in sessions:
                sessions.move_to_end(name)
            # Those in which nothing has run yet are of nobody: they have nothing to lose.
            owners = {each: whose.get(session, "") for each, session in sessions.items()}
            counts, evicted = Counter(owners.values()), None
            if len(sessions) > holder.capacity:
                evicted = max(owners, key=lambda each: counts[owners[each]])
            elif (owner := owners.get(name)) and counts[owner] > MAX_WITH_WORK:
                of_owner = (each for each in owners if owners[each] == owner)
                full = [each for each in of_owner if _has_work(sessions[each])]
                evicted = full[0] if len(full) > MAX_WITH_WORK else None
            if evicted is None:
                return
            session = sessions.pop(evicted)
            holder.time_last_used.pop(evicted, None)
        for state, value, _ in session.state_components:
            state.delete_callback(value)

    route_utils.restore_session_state = restored
    StateHolder.update = update  # type: ignore[method-assign]


def delete_while_files_come() -> None:
    """Let Gradio delete old files from now on also where others come meanwhile: that would end its
    task, and nothing would be deleted any more."""

    def delete(blocks: gr.Blocks, age: int | None) -> None:
        parts = blocks.blocks.values()
        lasting = {file for part in parts for file in getattr(part, "keep_in_cache", ())}
        for files in blocks.temp_file_sets:
            for file in files.copy() - lasting:
                try:
                    if age is not None and time.time() - os.lstat(file).st_ctime <= age:
                        continue
                    os.remove(file)
                except FileNotFoundError:
                    pass
                except OSError as error:  # the others are deleted all the same
                    logger.error("a file of a visitor cannot be deleted: %s", error.strerror)
                files.discard(file)

    route_utils.delete_files_created_by_app = delete


def take_own_files() -> None:
    """Take files of requests from now on only where each is one, and lies in a folder of the
    uploads and results: no folder, none of the app's own files, and nothing of /proc, which is
    another file in the process that decodes it. Gradio also looks up every path, of any length, in
    what a page says of an event: there, who uses one checks it.
    """
    check = processing_utils._check_allowed

    def checked(path: str | Path, check_in_upload_folder: bool) -> None:
        if not check_in_upload_folder:  # what we give ourselves
            return check(path, check_in_upload_folder)
        place, real, folder = Path(path), among_uploads(path), upload_folder().resolve()
        try:
            own = real is not None and place.parent.resolve() == real.parent != folder
            if own and (place.is_file() or not place.exists()):  # what is gone is told later
                return check(path, check_in_upload_folder)
        except OSError:  # a name that is none
            pass
        raise gr.Error(NOT_OWN, print_exception=False)

    processing_utils._check_allowed = checked
    processing_utils.check_all_files_in_cache = lambda data: None

    async def traverse(
        json_obj: Any, func: Callable[..., Any], is_root: Callable[..., bool]
    ) -> Any:
        if is_root(json_obj):
            await asyncio.sleep(0)  # of thousands in a request: others need not wait for all
            return await func(json_obj)
        if isinstance(json_obj, dict):
            return {key: await traverse(each, func, is_root) for key, each in json_obj.items()}
        if isinstance(json_obj, list | tuple):
            return [await traverse(each, func, is_root) for each in json_obj]
        return json_obj

    client_utils.async_traverse = traverse
    # Gradio makes an empty file besides each that a handler is given, which nothing deletes.
    no_file = SimpleNamespace(NamedTemporaryFile=lambda **_: SimpleNamespace())
    for module in (file_input, upload_input):
        setattr(module, "tempfile", no_file)  # noqa: B010 - type checkers take no other


def remember_static_files() -> None:
    """Look once, from now on, whether a file is among those that are served where they lie: Gradio
    asks the disk about each folder on the way, for each file of each result, while all wait."""

    @lru_cache(MAX_STATIC)
    def is_static(path: str, folders: tuple[Path, ...]) -> bool:
        return IS_STATIC(path, [*folders])

    def remembered(file_path: Any, static_files: list[Path]) -> bool:
        path = file_path.path if isinstance(file_path, FileData) else file_path
        if not isinstance(path, str | Path) or len(str(path)) > MAX_PATH:
            return IS_STATIC(path, static_files)
        return is_static(str(path), tuple(static_files))

    utils._is_static_file = remembered


def charge_results(page: gr.Blocks, address: Callable[[Request], str]) -> None:
    """Count results from now on as made for the sender of the request: see write_results_whole.

    address: whom a request comes from.
    """
    process = page.process_api

    @functools.wraps(process)
    async def charged(*args: Any, request: Any = None, **more: Any) -> dict[str, Any]:
        first = request[0] if isinstance(request, list) else request
        with made_for(address(first) if first else ""):
            return await process(*args, request=request, **more)

    page.process_api = charged  # type: ignore[method-assign]


@contextmanager
def made_for(address: str) -> Iterator[None]:
    """Count the results that are made meanwhile for an address: see write_results_whole."""
    before = _made_for.set(address)
    try:
        yield
    finally:
        _made_for.reset(before)


def write_results_whole() -> None:
    """Put a result into Gradio's cache at once from now on, as long as the disk has room for the
    answers of raters besides, and for those to whom little of it went. The same sound or picture
    has the same place, and would be written there again while a page, anybody's, is reading it.
    """
    megabytes = RateLimit.of("results, MB")
    for save in WRITERS:
        setattr(processing_utils, save.__name__, _whole(save, megabytes))


def _whole(save: Callable[..., str], megabytes: RateLimit) -> Callable[..., str]:
    """Wrap the function of Gradio, which writes cache_dir/HASH/NAME and gives that path."""
    signature = inspect.signature(save)

    @functools.wraps(save)
    def saved(*args: Any, **kwargs: Any) -> str:
        call = signature.bind(*args, **kwargs)
        cache = Path(call.arguments["cache_dir"])
        cache.mkdir(parents=True, exist_ok=True)
        free, whose = shutil.disk_usage(cache).free, _made_for.get()
        if free < MIN_FREE:
            raise gr.Error(NO_ROOM, print_exception=False)
        with TemporaryDirectory(dir=cache) as unfinished:
            call.arguments["cache_dir"] = unfinished
            written = Path(save(*call.args, **call.kwargs))
            place = cache.resolve() / written.parent.name / written.name
            size = 0 if place.exists() else written.stat().st_size + FILE_OVERHEAD
            if whose and megabytes.take(whose, amount=size / MB) and free < SCARCE_BYTES:
                raise gr.Error(megabytes.refusal, print_exception=False)
            place.parent.mkdir(exist_ok=True)
            written.replace(place)
        return str(place)

    return saved


@dataclass(frozen=True)
class Waiting:
    """The limit of jobs that may wait of one visitor, and of one address, and what is said of more,
    where answers are not fetched, or when the queue has no room. address: whom a request comes
    from.
    """

    of_visitor: int
    of_address: int
    too_many: str
    unread: str
    full: str
    address: Callable[[Request], str]


def limit_waiting(page: gr.Blocks, limits: Waiting, addresses: Addresses) -> None:
    """Refuse the events of a visitor, or of an address, of whom too many wait already, let
    addresses take turns in each line, by the seconds that their events take, with one at a time,
    and fetch what they name by http addresses before they wait. The last of several places of a
    line is for addresses of which little was computed lately; jobs of all others come last. Call it
    between page.queue and page.launch."""
    queue = page._queue
    push, process_events = queue.push, queue.process_events
    lines: defaultdict[str, Turns] = defaultdict(Turns)
    seconds = RateLimit.of("jobs, s")
    running: set[tuple[str, str]] = set()  # lines and addresses of which an event runs there
    addresses.install(page.upload_file_set)

    def address_of_event(event: Event) -> str:
        return limits.address(event.request) if event.request else ""  # "": the page's own

    def arrange(line: str) -> None:
        """Sort the events that wait in a line by their turns, as if each took a second."""
        waiting, before = queue.event_queue_per_concurrency_id[line].queue, Counter[str]()
        turns: dict[Event, float] = {}
        for event in sorted(waiting, key=lambda event: event.enqueue_time):
            whose = address_of_event(event)
            turns[event] = lines[line].of(whose) + before[whose]
            before[whose] += 1
        waiting.sort(key=turns.__getitem__)

    def in_turn() -> tuple[list[Event], bool, str] | None:
        for line, lane in queue.event_queue_per_concurrency_id.items():
            places = lane.concurrency_limit or math.inf
            free = places - lane.current_concurrency
            for event in lane.queue if free > 0 else ():
                whose = address_of_event(event)
                reserved = free == 1 < places and seconds.take(whose, amount=0.0)
                if not whose or not (reserved or (line, whose) in running):
                    lane.queue.remove(event)
                    running.add((line, whose))
                    return [event], False, line
        return None

    async def timed(events: list[Event], *rest: Any) -> None:
        line, whose = events[0].concurrency_id, address_of_event(events[0])
        turn, began = lines[line].of(whose), time.monotonic()
        lines[line].serve(turn)
        try:
            with coming_last(bool(seconds.take(whose, amount=0.0))):
                await process_events(events, *rest)
        finally:
            took = time.monotonic() - began
            lines[line].charge(whose, turn, took)
            seconds.give_back(whose, -took)
            running.discard((line, whose))
            arrange(line)

    def refused(session: str | None, address: str) -> tuple[bool, Any, Any] | None:
        lanes = queue.event_queue_per_concurrency_id.values()
        waiting = [event for lane in lanes for event in lane.queue]
        if session and sum(e.session_hash == session for e in waiting) >= limits.of_visitor:
            return False, limits.too_many, QUEUE_FULL
        unread = queue.pending_messages_per_session.get(session) if session else None
        if unread and unread.qsize() >= MAX_UNREAD:  # who reads none needs no more
            return False, limits.unread, "error"
        # Events without a request are the page's own.
        others = [event.request for event in waiting if event.request]
        if sum(limits.address(other) == address for other in others) >= limits.of_address:
            return False, limits.full, QUEUE_FULL
        return None

    async def limited(
        body: PredictBodyInternal, request: Request, username: str | None
    ) -> tuple[bool, Any, Any]:
        session, address = body.session_hash, limits.address(request)
        if not _is_name(session):
            return False, STRANGE, "error"
        if answer := refused(session, address):
            return answer
        try:
            body.data = await addresses.replaced(body.data, address)
        except gr.Error as error:
            return False, error.message, "error"
        if answer := refused(session, address):  # others of theirs came while files were fetched
            return answer
        success, answer, reason = await push(body, request, username)
        event = queue.event_ids_to_events.get(answer) if isinstance(answer, str) else None
        if event:
            arrange(event.concurrency_id)
        return success, limits.full if reason == QUEUE_FULL else answer, reason

    queue.push = limited  # type: ignore[method-assign]
    queue.get_events = in_turn  # type: ignore[method-assign]
    queue.process_events = timed  # type: ignore[method-assign]


def _is_name(session: str | None) -> bool:
    """Whether a page, or a program, can have given its session this name."""
    return not session or len(session) <= MAX_NAME


def wait_for_server() -> None:
    """Wait for the server, from now on, until it answers or has ended: Gradio takes one that needs
    5 s to begin, as on a busy machine, for one whose port is taken, and stops there.
    """

    def run(server: Server) -> None:
        server.thread = threading.Thread(target=server.run, daemon=True)
        server.thread.start()
        while not server.started:
            server.thread.join(0.01)
            if not (server.thread.is_alive() or server.started):
                raise ServerFailedToStartError("The server ended before it had begun.")

    Server.run_in_thread = run  # type: ignore[method-assign]


def log_no_lost_sessions() -> None:
    """Write no traceback, of 6 kB, for each page from now on that asks what came of a session which
    is gone. It is told so."""

    def is_another(record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        return not (error and isinstance(error.__cause__, HTTPException))

    logging.getLogger("uvicorn.error").addFilter(is_another)


def mend_gradio(address: Callable[[Request], str], used: Callable[[str], None]) -> None:
    """Change Gradio in this process, from now on, before a page is launched: see each of these.
    address, used: as share_sessions takes them."""
    keep_uploads_apart()
    wait_for_server()
    log_no_lost_sessions()
    keep_sessions_light()
    share_sessions(address, used)
    expire_sessions_in_turn()
    delete_while_files_come()
    write_results_whole()
    take_own_files()
    remember_static_files()


def fill_in_defaults(page: gr.Blocks) -> None:
    """Take a program's request that leaves out its last parameters, as one made before they were
    added does: they are as the page has them at first. Call it before page.launch."""

    def filled(function: BlockFunction, inputs: list[Any]) -> None:
        left_out = function.inputs[len(inputs) :]
        inputs.extend(getattr(component, "value", None) for component in left_out)

    page.validate_inputs = filled  # type: ignore[method-assign]


def explain_unusable_inputs(page: gr.Blocks) -> None:
    """Refuse an input of a program that is none of its component's with a sentence, where Gradio
    says nothing and writes a traceback. Call it before page.launch."""
    preprocess = page.preprocess_data

    @functools.wraps(preprocess)
    async def explained(
        function: BlockFunction, inputs: list[Any], *args: Any, **more: Any
    ) -> list[Any]:
        # Each that is none would be told, while all others wait.
        if any(isinstance(each, list) and len(each) > MAX_LIST for each in inputs):
            raise gr.Error(UNUSABLE, print_exception=False)
        try:
            return await preprocess(function, inputs, *args, **more)
        except gr.Error:
            raise
        except Exception as error:
            logger.warning("an input that is none: %.500r", error)
            raise gr.Error(UNUSABLE, print_exception=False) from error

    page.preprocess_data = explained  # type: ignore[method-assign]


async def refuse_strange(request: Request, error: Exception) -> JSONResponse:
    """Answer what Gradio's routes raise at a request that no page sends. Raises it again where the
    route is another's."""
    if not request.url.path.startswith(API_PREFIX):
        raise error
    # Both are the visitor's words: quoted, and no more than a line of them.
    logger.warning("a request to %.200r: %.500r", request.url.path, error)
    return JSONResponse({"detail": STRANGE}, 422)


def limit_unread(page: gr.Blocks, address: Callable[[Request], str]) -> None:
    """Let go of answers that nobody fetches: the oldest of a session, then sessions of an address,
    or that are old. Call it between page.queue and page.launch.

    address: whom a request comes from.
    """
    queue = page._queue
    send, pending = queue.send_message, queue.pending_messages_per_session
    unread: dict[str, tuple[str, float]] = {}  # session → address, and since when; oldest first

    def forget(session: str) -> None:
        unread.pop(session, None)
        pending.pop(session, None)
        queue.pending_event_ids_session.pop(session, None)

    def limited(event: Event, message: EventMessage) -> None:
        session, now = event.session_hash, time.monotonic()
        if session not in pending:
            event.alive = False  # nobody can read it any more
        send(event, message)
        if session not in pending or pending[session].qsize() <= 1:  # it is being read
            unread.pop(session, None)
            return
        while pending[session].qsize() > MAX_UNREAD:
            pending[session].get_nowait()
        who = address(event.request)
        unread.setdefault(session, (who, now))
        same = [each for each, (whose, _) in unread.items() if whose == who]
        old = [each for each, (_, since) in unread.items() if now - since > MAX_IDLE]
        for each in {*same[:-MAX_SESSIONS], *old}:
            forget(each)

    queue.send_message = limited  # type: ignore[method-assign]


def limit_messages(page: gr.Blocks, most: int) -> None:
    """Limit messages of WebSockets to so many bytes, not compressed: a longer one ends
    its connection before it is read whole. Call it after page.launch."""
    page.server.config.ws_max_size = most
    page.server.config.ws_per_message_deflate = False
