"""A page as small as a page can be, served as the app serves its own: python -m
benchmarks.support.replica."""

import os
import sys
from pathlib import Path
from typing import Any

import gradio as gr
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from earshot.app import launch
from earshot.app.health import Health
from earshot.core.limits import address_of
from earshot.systems.voice_conversion.live.process import LiveProcesses
from earshot.tabs import listening_tests, voice_conversion
from earshot.tabs.shared.services import Tickets
from earshot.tabs.shared.sessions import temporary_folder


def convert(file: str, *more: Any) -> int:
    """Measure the size of an upload, which this process alone has, in place of a model."""
    return Path(file).stat().st_size


def main() -> None:
    """Serve the page, with the options of app.py."""
    chosen = launch.options(sys.argv[1:], os.environ)
    with temporary_folder():
        tests = listening_tests.opened(Path(chosen.studies), chosen.database)
        health = Health()
        health.watch({"model": lambda: None})
        live = voice_conversion.LiveServer(LiveProcesses(Path("nowhere")), Tickets(), 1)
        with gr.Blocks() as page:
            inputs = [gr.File(), *(gr.Textbox() for _ in range(4))]
            gr.Button().click(convert, inputs, gr.Number(), api_name="convert")
        launch.limit_queue(page, chosen.max_queue)
        routes = [health.route(), *live.routes(), *listening_tests.routes(tests)]
        routes.append(Route("/address", _address))
        page.launch(server_port=chosen.port, app_kwargs={"routes": routes})


def _address(request: Request) -> PlainTextResponse:
    """Say whom the app takes for the sender."""
    return PlainTextResponse(address_of(request))


if __name__ == "__main__":
    main()
