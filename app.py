"""Earshot: speech systems to hear, take apart and test. Options → pipelines → tabs → launch."""

import argparse
import os
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import media  # noqa: F401  (before numpy: see there)

# isort: split
import gradio as gr
from fastapi.exceptions import RequestValidationError
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from media import workers
from media.paths import ASSETS, CHECKPOINTS
from pipelines import accelerator  # noqa: F401  (before torch, as a ZeroGPU Space needs it)
from pipelines.command_line import explained
from pipelines.hub_download import Permission as HubPermission
from pipelines.sound_search.large.bucket import folder_of
from pipelines.sound_search.query import index_of
from pipelines.voice_conversion.live import LiveProcesses
from pipelines.voice_conversion.settings import live_checkpoint
from study.permission import Permission
from study.web.limits import address_of
from study.web.plainly import refuse_damaged
from tabs import lip_to_speech, listening_tests, models, sound_search, voice_conversion, words
from tabs.health import Health, probes
from tabs.options import options
from tabs.shared.agents import manual_route, offer_tools
from tabs.shared.connections import DEAD, CutStalledBodies
from tabs.shared.drafts import Drafts
from tabs.shared.gradio_internals import (
    Waiting,
    cut_dead_connections,
    keep_uploads_apart,
    limit_messages,
    limit_waiting,
    write_results_whole,
)
from tabs.shared.jobs import stop_jobs
from tabs.shared.page import FOOTER, HEAD, HEADER, model_cards
from tabs.shared.temporary import temporary_folder
from tabs.shared.theme import CSS, theme

if TYPE_CHECKING:
    from study.library import Library

SOUNDS: Final = ASSETS / "sounds.index"
WORDS: Final = ASSETS / "words.index"
# Every 10 minutes, a visitor's files older than 50 go: in an hour, as the footer says.
DELETE: Final = (600, 3000)  # seconds
UPLOAD: Final = "100mb"
SESSIONS: Final = 200  # whose page Gradio remembers: 4 MB each
MOST_WAITING: Final = 2  # jobs of one visitor
# A conference shares one address: it may take most of the queue, and never all of it.
SHARE_OF_ADDRESS: Final = 0.75
MOST_BYTES: Final = 131_072  # of a WebSocket's message
WAITING: Final = (
    f"You have {MOST_WAITING} jobs waiting already. Wait until one of them is done, or stop it."
)
FULL: Final = "Too many people are waiting just now. Try again in a minute."


def build(
    device: str = "auto",
    folder: Path = CHECKPOINTS,
    preload: bool = False,
    sound_model: Sequence[str] | None = None,
    index: Path = SOUNDS,
    word_index: Path = WORDS,
    tests: "Library | None" = None,
    publishing: bool = True,
    health: Health | None = None,
    tickets: voice_conversion.Tickets | None = None,
    hub: HubPermission = HubPermission(),  # noqa: B008  (frozen)
    index_backend: str | None = None,
) -> gr.Blocks:
    """The whole page. Loads no model unless preload says so. index, word_index: of our libraries
    of sounds and of words; tests: listening tests, which launch must be given too; publishing:
    whether visitors may open tests of their own to raters; health: is to watch the models, and
    launch must be given it too; tickets: lend visitors' own voices to live conversion, as launch is
    told; hub: which models of the hub visitors may load; index_backend: where the index is
    searched, if not as it was made."""
    convert = models.converters(folder, device)
    conversions = models.installed_conversion_models(folder)
    embeddings = models.word_embeddings(folder, device)
    search = models.sounds(folder, device, sound_model)
    lips = models.lip_reader(folder, device)
    if health:
        health.watch(probes(convert, conversions, embeddings, search, lips))
    if preload:
        for name in conversions:
            convert(name)
        for load in filter(None, (embeddings, search, lips)):
            load()
    with gr.Blocks(title="Earshot", analytics_enabled=False, delete_cache=DELETE) as page:
        gr.HTML(HEADER, apply_default_css=False)
        drafts = Drafts() if tests else None
        # Wrapped, for what Gradio takes to be too long goes into a menu, on phones even two tabs.
        with gr.Tabs(overflow_behavior="wrap"):
            with gr.Tab("Voice conversion"):
                voice_conversion.build(convert, conversions, drafts, tickets, hub, device)
            with gr.Tab("Words"):
                words.build(embeddings, word_index, drafts, hub, device)
            with gr.Tab("Sound search"):
                sound_search.build(search, index, drafts, hub, device, index_backend)
            with gr.Tab("Lip to speech"):
                lip_to_speech.build(lips, drafts)
            if tests and drafts:
                with gr.Tab("Listening tests"):
                    listening_tests.build(tests, drafts, publishing)
        with gr.Accordion("Model cards", open=False):
            gr.Markdown(model_cards(folder))
        gr.HTML(FOOTER, apply_default_css=False)
        page.unload(stop_jobs)  # nobody waits for them any more
    return page


def launch(
    page: gr.Blocks,
    chosen: argparse.Namespace,
    block: bool = True,
    tests: "Library | None" = None,
    folder: Path = CHECKPOINTS,
    health: Health | None = None,
    tickets: voice_conversion.Tickets | None = None,
) -> str:
    """Serves the page → its address on this machine. Returns at once unless block is true.

    folder: of the checkpoints, for live conversion; health: is told at /healthz, and loads the
    model of the tab that is open at first; tickets: those that build was given."""
    processes = LiveProcesses(live_checkpoint(folder))
    live = voice_conversion.LiveServer(
        processes, tickets or voice_conversion.Tickets(), chosen.live
    )
    keep_uploads_apart()
    write_results_whole()
    limit_queue(page, chosen.max_queue)
    offer_tools(page)
    # A deep link would write a visitor's whole page to the disk, for whoever knows their session.
    routes = [Route("/gradio_api/deep_link", _not_found), manual_route(page)]
    _, address, _ = page.launch(
        server_name=chosen.host,
        server_port=chosen.port,
        share=chosen.share,
        prevent_thread_lock=True,
        theme=theme(),
        css_paths=CSS,
        head=HEAD,
        footer_links=[],
        max_file_size=UPLOAD,
        # What visitors say stays with them: no history of runs, no monitoring page.
        run_history=False,
        enable_monitoring=False,
        ssr_mode=False,
        state_session_capacity=SESSIONS,
        mcp_server=True,
        # Or Gradio would stop where its own first request takes longer than 3 s, on a busy machine.
        _frontend=False,
        # Before Gradio's own: raters' pages, and the organisers'.
        app_kwargs={
            "routes": [
                *routes,
                *([health.route()] if health else []),
                *live.routes(),
                *(listening_tests.routes(tests) if tests else []),
            ],
            "middleware": [Middleware(CutStalledBodies)],
            "exception_handlers": {RequestValidationError: refuse_damaged},
        },
    )
    cut_dead_connections(page, DEAD)
    limit_messages(page, MOST_BYTES)
    workers.warm_up()
    if chosen.preload:
        processes.warm_up()
    if health:  # behind the page that is already served: to import torch alone takes seconds
        threading.Thread(target=health.warm_up, daemon=True).start()
    if block:
        page.block_thread()
    return address


def limit_queue(page: gr.Blocks, size: int) -> None:
    """Lets so many jobs wait, of which a visitor and an address may have a share."""
    # api_open=False: programs wait in the queue like everybody.
    page.queue(max_size=size, default_concurrency_limit=1, api_open=False)
    of_address = max(MOST_WAITING, round(SHARE_OF_ADDRESS * size))
    limit_waiting(page, Waiting(MOST_WAITING, of_address, WAITING, FULL, address_of))


def main() -> None:
    chosen = options(sys.argv[1:], os.environ)
    with explained():
        index = index_of(folder_of(chosen.sounds)) if chosen.sounds else SOUNDS
    # docker stop, systemd and Spaces end a program so: close the server and delete what it kept.
    # As Ctrl+C does, but also where a shell started it in the background, deaf to Ctrl+C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with temporary_folder():
        permission = Permission.of(chosen.studies_key, os.environ)
        tests = listening_tests.opened(Path(chosen.studies), chosen.database, permission)
        health, tickets = Health(), voice_conversion.Tickets()
        page = build(
            chosen.device,
            preload=chosen.preload,
            sound_model=chosen.sound_model,
            index=index,
            tests=tests,
            publishing=not chosen.no_publish,
            health=health,
            tickets=tickets,
            index_backend=chosen.index_backend,
            hub=HubPermission.of(chosen.no_hub, chosen.host, chosen.share, os.environ),
        )
        launch(page, chosen, tests=tests, health=health, tickets=tickets)


def _not_found(request: Request) -> Response:
    return PlainTextResponse("Not found", status_code=404)


if __name__ == "__main__":
    main()
