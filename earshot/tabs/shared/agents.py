"""The page for programs without a browser: endpoints that are described, tools, and a manual."""

from pathlib import Path
from typing import Final

import gradio.mcp
from gradio.blocks import Blocks
from jinja2 import Environment, FileSystemLoader
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from earshot.core.limits import BUDGETS
from earshot.tabs.shared.tool_server import FILES, ToolServer, docstring

CALLS: Final = BUDGETS["calls"]
RULES: Final = (
    "An error is a sentence that says what is wrong with the input and what to do. Calls wait in "
    "line as visitors do; those of one address may take three quarters of it. An address elsewhere "
    f"gets {CALLS.burst} answers at once, then {CALLS.per_minute} a minute: calls that come faster "
    "wait."
)
# HTML is escaped, and Markdown is not.
TEMPLATES: Final = Environment(
    loader=FileSystemLoader(Path(__file__).parent),
    autoescape=lambda name: bool(name) and ".html" in name,
    keep_trailing_newline=True,
)


def offer_tools(page: Blocks) -> None:
    """Describe the endpoints of a page by what they do and return, for OpenAPI and all clients;
    launched with mcp_server=True, it offers the tools above."""
    for block_fn in page.fns.values():
        if block_fn.api_visibility == "public" and block_fn.fn:
            doc = docstring(block_fn)
            returns = " ".join(f"{name}: {text}" for name, text in doc.returns.items())
            block_fn.api_description = f"{doc.summary} Returns {returns}"
    gradio.mcp.GradioMCPServer = ToolServer


def manual_route(page: Blocks) -> Route:
    """Serve /agents.md: the tools of the page, as a page for browsers and as Markdown for agents to
    read before they call."""

    def answer(request: Request) -> Response:
        server = page.mcp_server_obj
        assert isinstance(server, ToolServer)
        for_people = "text/html" in request.headers.get("accept", "")
        kind = "html" if for_people else "md"
        text = TEMPLATES.get_template(f"agents.{kind}.jinja").render(
            address=request.base_url, files=FILES, rules=RULES, tools=server.described()
        )
        media_type = "text/html" if for_people else "text/markdown"
        return Response(text, media_type=media_type, headers={"Vary": "Accept"})

    return Route("/agents.md", answer)
