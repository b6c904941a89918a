"""What programs without a browser find: endpoints that are described, tools, and a manual."""

from typing import Final

import gradio.mcp
from gradio.blocks import Blocks
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from earshot.tabs.shared.tool_server import FILES, ToolServer, docstring

MANUAL: Final = """\
# Earshot

Speech systems to call: voice conversion, acoustic word embeddings, sound search, lip to speech,
listening tests.

- MCP (streamable HTTP): {address}gradio_api/mcp/
- Python: `gradio_client.Client("{address}").predict(…, api_name="/convert")`
- HTTP: {address}gradio_api/openapi.json

{files} An error is a sentence that says what is wrong with the input and what to do. Calls wait
in line as visitors do; those of one address may take three quarters of it.

{tools}"""


def offer_tools(page: Blocks) -> None:
    """Describes the endpoints of a page by what they do and return, for OpenAPI and all clients;
    launched with mcp_server=True, it offers the tools above."""
    for block_fn in page.fns.values():
        if block_fn.api_visibility == "public" and block_fn.fn:
            doc = docstring(block_fn)
            returns = " ".join(f"{name}: {text}" for name, text in doc.returns.items())
            block_fn.api_description = f"{doc.summary} Returns {returns}"
    gradio.mcp.GradioMCPServer = ToolServer


def manual_route(page: Blocks) -> Route:
    """Serves /agents.md: the tools of the page as Markdown, for agents to read before they call."""

    def answer(request: Request) -> Response:
        server = page.mcp_server_obj
        assert isinstance(server, ToolServer)
        address = str(request.base_url)
        text = MANUAL.format(address=address, files=FILES, tools=server.manual())
        return PlainTextResponse(text, media_type="text/markdown")

    return Route("/agents.md", answer)
