"""Options → systems → tabs → a server."""

import argparse
import gc
import os
import signal
import sys
import threading
import time
from collections.abc import MutableMapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import gradio as gr
from fastapi.exceptions import RequestValidationError
from starlette.middleware import Middleware
from starlette.routing import BaseRoute

from earshot.app import front_page
from earshot.app.front_page import FrontendFiles, FrontPage
from earshot.app.health import Health
from earshot.app.options import options
from earshot.app.site import FOLDERS, SOUNDS, Site, build, transcriber
from earshot.core.certificate import own_certificate
from earshot.core.connections import (
    address_for_others,
    believed_proxies,
    check_address,
    limit_connections,
)
from earshot.core.console import explained
from earshot.core.errors import InputError
from earshot.core.http import (
    AnswerHeads,
    CompressAnswers,
    CutStalledBodies,
    LimitBodies,
    SafeHeaders,
    ServeOnly,
    local_only,
)
from earshot.core.limits import LOCAL, PaceCalls, ShareHandlers, TakeTurns, address_of
from earshot.core.paths import CHECKPOINTS
from earshot.core.uploads import LimitUploads
from earshot.media import workers
from earshot.pretrained import accelerator  # noqa: F401  (before torch, as ZeroGPU needs it)
from earshot.pretrained.hub import HubPermission
from earshot.provenance import keys
from earshot.provenance.mark import NO_MARK
from earshot.sound_index.address import index_of
from earshot.sound_index.files import folder_of
from earshot.study.library import Permission
from earshot.study.storage.database import UNAVAILABLE
from earshot.study.web.rater_requests import refuse_damaged
from earshot.systems.voice_conversion.live.process import LiveProcesses
from earshot.systems.voice_conversion.settings import live_checkpoint
from earshot.tabs import listening_tests, voice_conversion
from earshot.tabs.shared import sessions
from earshot.tabs.shared.addresses import Addresses
from earshot.tabs.shared.gradio_internals import (
    FRONTEND,
    STRANGE_ERRORS,
    UPLOADS,
    Waiting,
    charge_results,
    explain_unusable_inputs,
    fill_in_defaults,
    keep_no_statistics,
    limit_messages,
    limit_unread,
    limit_waiting,
    mend_gradio,
    refuse_strange,
    shipped_examples,
    upload_folder,
)
from earshot.tabs.shared.page import CSS, HEAD, HEADER, KIOSK, theme
from earshot.tabs.shared.services import Services
from earshot.tabs.shared.sessions import temporary_folder
from earshot.tabs.shared.tool_server import manual_route, offer_tools
from earshot.tabs.voice_conversion.live.server import SIGN

if TYPE_CHECKING:
    from earshot.pretrained.judges import Judge

USUAL_PORT: Final = 7860  # Gradio's, which takes the next that is free
MAX_UPLOAD: Final = "100mb"
MAX_SESSIONS: Final = 1_000  # of visitors, whose work is kept
MAX_WAITING: Final = 2  # jobs of one visitor
# A conference shares one address: it may take most of the queue, and never all of it.
MAX_SHARE_OF_ADDRESS: Final = 0.75
MAX_MESSAGE_BYTES: Final = 131_072  # of a WebSocket's message
MAX_UNOPENED: Final = 5.0  # seconds that the first model waits for a page to be opened before it
OPENING: Final = 1.5  # seconds in which a page is shown
# Seconds until Python lets another thread go on (its own: 0.005): all requests are taken in and
# answered in one thread, which waits so long for each model that computes.
SWITCH_INTERVAL: Final = 0.0005
CALLS: Final = ("/gradio_api/call/", "/gradio_api/mcp/")  # of programs: pages make none
GC_THRESHOLDS: Final = (10_000, 10, 50)  # see gc.set_threshold; Python's own are 700, 10, 10
# Of Gradio's paths, those that the page or a program asks. What it has besides could write a
# visitor's whole page to the disk for whoever knows their session (deep_link), run ffmpeg without a
# limit (process_recording), make sessions (component_server), or fetch other addresses (proxy=).
GRADIO: Final = "/gradio_api/"
SERVED: Final = (
    "call/",
    "cancel",
    "file=",
    "heartbeat/",
    "info",
    "mcp",
    "openapi.json",
    "queue/data",
    "queue/join",
    "reset",
    "run/",
    "startup-events",
    "theme.css",
    "upload",
    "upload_progress",
)
WAITING: Final = (
    f"You have {MAX_WAITING} jobs waiting already. Wait until one of them is done, or stop it."
)
UNREAD: Final = "The answers to this page are not fetched. Load it again."
NO_TESTS: Final = (
    "There are no listening tests: their answers cannot be opened. Bring back answers.db from a "
    "copy, or move it away, and start again."
)
FULL: Final = "Too many people are waiting just now. Try again in a minute."


def spare_own_address(environment: MutableMapping[str, str], host: str | None) -> None:
    """Keep requests to this machine off a proxy, which cannot answer them: Gradio asks the server
    that it starts, and would stop without an answer."""
    for name in ("NO_PROXY", "no_proxy"):
        named = environment.get(name, "").split(",")
        environment[name] = ",".join(each for each in (*named, *LOCAL, host) if each)


def launch(
    page: gr.Blocks,
    chosen: argparse.Namespace,
    block: bool = True,
    processes: LiveProcesses | None = None,
) -> str:
    """Serve the page → its address on this machine. Returns at once unless block is true.

    processes: of live conversion. Where the page watches its models, the one of the tab that is
    open at first is loaded, and /healthz reports on all.
    """
    site = page if isinstance(page, Site) else None
    services, health = (site.services, site.health) if site else (Services(), None)
    checkpoints = site.checkpoints if site else CHECKPOINTS
    processes = processes or LiveProcesses(live_checkpoint(checkpoints))
    opened, proxies = threading.Event(), believed_proxies(chosen.proxy, os.environ)
    live = voice_conversion.LiveServer(
        processes, services.tickets, chosen.live, offer=site.conversion if site else None
    )
    certificate = own_certificate(keys.state_folder(), chosen.host) if chosen.https else None
    spare_own_address(os.environ, chosen.host)
    sys.setswitchinterval(SWITCH_INTERVAL)
    mend_gradio(address_of, sessions.used)
    shipped_examples()  # also for pages that were open before the app was started again
    fill_in_defaults(page)
    explain_unusable_inputs(page)
    limit_queue(page, chosen.max_queue, chosen.allow_urls)
    offer_tools(page)
    routes: list[BaseRoute] = [manual_route(page)]
    routes += site.routes if site else []
    _, address, _ = page.launch(
        server_name=f"[{chosen.host}]" if ":" in (chosen.host or "") else chosen.host,
        server_port=chosen.port,
        share=chosen.share,
        prevent_thread_lock=True,
        theme=theme(),
        css_paths=CSS,
        head=HEAD + (KIOSK if chosen.kiosk else ""),
        footer_links=[],
        ssl_certfile=str(certificate.file) if certificate else None,
        ssl_keyfile=str(certificate.file) if certificate else None,
        ssl_verify=False,  # only Gradio asks, at its start, and it knows no certificate of ours
        max_file_size=MAX_UPLOAD,
        # What visitors say stays with them: no history of runs, no monitoring page.
        run_history=False,
        enable_monitoring=False,
        ssr_mode=False,
        state_session_capacity=MAX_SESSIONS,
        mcp_server=True,
        # Or Gradio would stop where its own first request takes longer than 3 s, on a busy machine.
        _frontend=False,
        # Before Gradio's own: raters' pages, and the organisers'.
        app_kwargs={
            "routes": [
                *routes,
                *front_page.routes(chosen.host, certificate.content if certificate else b""),
                *([health.route()] if health else []),
                *live.routes(),
                *(listening_tests.routes(services.tests) if services.tests else []),
            ],
            "middleware": [
                *([] if chosen.share else local_only(chosen.host, proxies)),
                Middleware(TakeTurns),
                Middleware(FrontendFiles, FRONTEND),
                Middleware(SafeHeaders, os.environ),
                Middleware(AnswerHeads, (GRADIO,)),
                Middleware(ServeOnly, GRADIO, SERVED),
                Middleware(FrontPage, opened, _first_card(site) if not chosen.kiosk else ""),
                Middleware(PaceCalls, CALLS),
                Middleware(CutStalledBodies),
                Middleware(LimitUploads, UPLOADS, upload_folder),
                Middleware(LimitBodies, (*UPLOADS, SIGN)),
                Middleware(ShareHandlers, f"{GRADIO}run/"),
                Middleware(CompressAnswers, f"{GRADIO}run/"),
            ],
            "exception_handlers": {
                RequestValidationError: refuse_damaged,
                **dict.fromkeys(STRANGE_ERRORS, refuse_strange),
            },
        },
    )
    limit_connections(page.server, proxies)
    limit_messages(page, MAX_MESSAGE_BYTES)
    workers.warm_up()
    if health:  # behind the page that is already served: to import torch alone takes seconds
        threading.Thread(target=_warm_up, args=[health, opened], daemon=True).start()
    usual = int(os.environ.get("GRADIO_SERVER_PORT", USUAL_PORT))
    if not chosen.port and urlsplit(address).port != usual:
        print(f"* Port {usual} is taken by another program: the page is at {address}")
    others = address_for_others(address, chosen.host)
    if others and others != address:
        print(f"* For others in this network: {others}")
    if certificate:
        print(f"* Its certificate, SHA-256: {certificate.fingerprint}", flush=True)
    if block:
        page.block_thread()
    return address


def limit_queue(page: gr.Blocks, size: int, allow_urls: bool = False) -> None:
    """Let so many jobs wait, of which a visitor and an address may have a share, and an address one
    of the room for results. allow_urls: whether files that they name by their http addresses are
    fetched."""
    # api_open=False: programs wait in the queue like everybody.
    page.queue(max_size=size, default_concurrency_limit=1, api_open=False)
    keep_no_statistics(page)
    of_address = max(MAX_WAITING, round(MAX_SHARE_OF_ADDRESS * size))
    limits = Waiting(MAX_WAITING, of_address, WAITING, UNREAD, FULL, address_of)
    limit_waiting(page, limits, Addresses(allow_urls))
    limit_unread(page, address_of)
    charge_results(page, address_of)


def main() -> None:
    chosen = options(sys.argv[1:], os.environ)
    with explained():
        check_address(chosen.host or LOCAL[0], chosen.port)
        prepare_signing(chosen, os.environ)
        index = index_of(folder_of(chosen.sounds)) if chosen.sounds else SOUNDS
    # docker stop, systemd and Spaces end a program so: close the server and delete what it kept.
    # As Ctrl+C does, but also where a shell started it in the background, deaf to Ctrl+C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with temporary_folder():
        permission = Permission.of(chosen.studies_key, os.environ)
        try:
            tests = listening_tests.opened(Path(chosen.studies), chosen.database, permission)
        except (*UNAVAILABLE, InputError) as error:
            print(f"{NO_TESTS} ({str(error).splitlines()[0]})", file=sys.stderr)
            tests = None
        # Its own process loads the first live conversion on another core while the page is built.
        processes = LiveProcesses(live_checkpoint(CHECKPOINTS))
        if processes.checkpoint.exists():
            processes.warm_up()
        services = Services(
            tests=tests,
            publishing=not chosen.no_publish,
            allow_reference=chosen.allow_reference,
            transcriber=transcriber(chosen.transcripts, chosen.device),
            hub=HubPermission.of(chosen.no_hub, os.environ),
            device=chosen.device,
            host=chosen.host,
            judges=installed_judges() if chosen.judges else (),
        )
        page = build(
            services,
            pipelines=[*FOLDERS, *filter(None, [chosen.pipelines])],
            preload=chosen.preload,
            sound_model=chosen.sound_model,
            index=index,
            health=Health(),
            index_backend=chosen.index_backend,
            delete_after=chosen.delete_after,
        )
        try:
            launch(page, chosen, processes=processes)
        finally:
            if tests:
                tests.store.dispose()


def prepare_signing(chosen: argparse.Namespace, environment: MutableMapping[str, str]) -> None:
    """Make the key that signs what is converted, where there is none; tell the processes of ours
    about one that was named, and whether sound is marked. Raises InputError for a key that cannot
    be used."""
    named = {keys.KEY: chosen.signing_key, keys.CHAIN: chosen.signing_chain}
    environment.update({name: value for name, value in named.items() if value})
    environment[NO_MARK] = str(int(chosen.no_mark))
    try:
        keys.installation()
    except OSError as error:
        print(f"Files are not signed: no key can be kept ({error}).", file=sys.stderr)


def installed_judges() -> "Sequence[Judge]":
    """List the judges that measure systems side by side."""
    from earshot.pretrained.judges import judges  # late, for it loads SciPy

    return judges()


def _first_card(site: Site | None) -> str:
    """Write what a page with voice conversion shows until Gradio has made it."""
    offers = site and site.conversion.labels
    return voice_conversion.first_card(HEADER, front_page.EXAMPLE) if offers else ""


def _warm_up(health: Health, opened: threading.Event) -> None:
    """Load the first model, after a page that is opened meanwhile, which would take twice as long;
    then keep all that is there out of garbage collections, and let them be rarer: a full one, of a
    million objects, would stop everybody for a second."""
    if opened.wait(MAX_UNOPENED):
        time.sleep(OPENING)
    health.warm_up()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)
