"""Endpoints as tools of the Model Context Protocol, on Gradio's own server at /gradio_api/mcp/.

Gradio offers every endpoint, named after its function, and answers in the notation of Python. Here
the tools are those of TOOLS, named as the endpoints are, and each answers with one JSON object,
whose fields are the endpoint's returns. Nothing of GradioMCPServer is part of Gradio's public
interface: check this when Gradio is upgraded.
"""

import json
from collections.abc import Sequence
from contextvars import ContextVar
from tempfile import TemporaryDirectory
from typing import Any, Final

import gradio as gr
import gradio.mcp
from gradio import processing_utils
from gradio.block_function import BlockFunction
from gradio.blocks import BlockContext
from gradio.components import Component
from gradio_client import handle_file
from gradio_client.utils import is_file_obj_with_meta
from mcp import types
from mcp.server import Server

from earshot.core.errors import InputError
from earshot.tabs.shared.docstrings import Doc, read_docstring

# /respeak is missing: it goes on from a visit's last video, and all agents share one visit.
TOOLS: Final = (
    "convert",
    "encode",
    "decode",
    "embed_audio",
    "embed_text",
    "nearest",
    "compare_words",
    "search_sounds",
    "similar_sounds",
    "lip_to_speech",
    "check_listening_test",
)
FILES: Final = "A file is given as an http(s) address, or as a data: URL."
INBOX: Final = "earshot-call-"  # how the folder of a call begins
FILE_INPUTS: Final = (gr.Audio, gr.Video, gr.File)
URI: Final = {"type": "string", "format": "uri"}
# What a return is, by the component that holds it.
TYPES: Final[dict[type, dict[str, Any]]] = {
    gr.Audio: URI,
    gr.Textbox: {"type": "string"},
    gr.JSON: {"type": ["object", "array"]},
}

_inbox: ContextVar[str] = ContextVar("inbox")


class ToolServer(gradio.mcp.GradioMCPServer):
    """The tools of a page."""

    def get_tool_to_endpoint(self) -> dict[str, str]:
        """Name of the tool → path of the endpoint."""
        there = [name for name in TOOLS if f"/{name}" in self.api_info["named_endpoints"]]
        return {
            self.valid_and_unique_tool_name(self.tool_prefix + name, set()): f"/{name}"
            for name in there
        }

    def warn_about_state_inputs(self) -> None:
        """No tool goes on from what an earlier call left in a State."""

    def create_mcp_server(self) -> Server:
        """Gradio's server, with types for what tools answer."""
        server = super().create_mcp_server()
        list_tools = server.request_handlers[types.ListToolsRequest]
        call_tool = server.request_handlers[types.CallToolRequest]

        async def list_typed(request: types.ListToolsRequest) -> types.ServerResult:
            listed = await list_tools(request)
            assert isinstance(listed.root, types.ListToolsResult)
            for tool in listed.root.tools:
                tool.outputSchema = self.output_schema(tool.name)
            return listed

        async def call_typed(request: types.CallToolRequest) -> types.ServerResult:
            # What came inside the call is deleted with it.
            with TemporaryDirectory(prefix=INBOX) as folder:
                _inbox.set(folder)
                called = await call_tool(request)
            answer = called.root
            assert isinstance(answer, types.CallToolResult)
            if not answer.isError and isinstance(answer.content[0], types.TextContent):
                answer.structuredContent = json.loads(answer.content[0].text)
            return called

        server.request_handlers[types.ListToolsRequest] = list_typed
        server.request_handlers[types.CallToolRequest] = call_typed
        return server

    def get_fn_description(
        self, block_fn: BlockFunction, tool_name: str
    ) -> tuple[str, dict[str, str]]:
        """What the tool does and returns, and what each parameter is."""
        _, files = self.get_input_schema(tool_name)
        about = [str(block_fn.api_description), *([FILES] if files else [])]
        return " ".join(about), docstring(block_fn).parameters

    def get_input_schema(
        self, tool_name: str, parameters: dict[str, str] | None = None
    ) -> tuple[dict[str, Any], list[list[str | int]]]:
        """The JSON Schema of a tool's arguments, and the paths of the files among them. Gradio's
        own is not valid for JSON and for lists of files."""
        schema, _ = super().get_input_schema(tool_name, parameters)
        fields, files = schema["properties"], []
        components = [
            component
            for component in self._function(tool_name).inputs
            if not isinstance(component, gr.State)
        ]
        for component, (name, field) in zip(components, fields.items(), strict=True):
            documented = {key: field[key] for key in ("description", "default") if key in field}
            if isinstance(component, FILE_INPUTS):
                several = getattr(component, "file_count", "single") == "multiple"
                fields[name] = documented | ({"type": "array", "items": URI} if several else URI)
                files.append([name])
            elif isinstance(component, gr.JSON):
                fields[name] = documented | TYPES[gr.JSON]
        return schema, files

    def convert_strings_to_filedata(
        self, value: dict[str, Any], filedata_positions: list[list[str | int]]
    ) -> dict[str, Any]:
        """Arguments with their files in place of the files' addresses."""
        files = {
            name: [_file(one) for one in value[name]]
            if isinstance(value[name], list)
            else _file(value[name])
            for (name,) in filedata_positions
            if name in value
        }
        return value | files

    def output_schema(self, tool_name: str) -> dict[str, Any]:
        """The JSON Schema of what a tool answers."""
        block_fn = self._function(tool_name)
        about = docstring(block_fn).returns
        fields = {
            name: {**_type(component), "description": about[name]}
            for name, component in _named(block_fn.outputs).items()
        }
        return {"type": "object", "properties": fields, "required": list(fields)}

    def manual(self) -> str:
        """All tools as Markdown, for a program that reads before it calls."""
        sections = []
        for tool in self.tool_to_endpoint:
            doc, schema = docstring(self._function(tool)), self.get_input_schema(tool)[0]
            inputs = [f"- `{name}`: {doc.parameters[name]}" for name in schema["properties"]]
            returns = [f"- `{label}`: {text}" for label, text in doc.returns.items()]
            lines = [f"## {tool}\n", doc.summary, "", *inputs, "\nReturns:\n", *returns]
            sections.append("\n".join(lines))
        return "\n\n".join(sections) + "\n"

    async def _execute_tool_without_progress(self, job: Any) -> list[Any]:
        (values,) = await super()._execute_tool_without_progress(job)
        return list(values) if isinstance(values, tuple) else [values]

    @staticmethod
    def pop_returned_state(components: Sequence[Component | BlockContext], data: Any) -> list:
        """What an endpoint returned, as one object of its named returns."""
        shown = [v for c, v in zip(components, data, strict=True) if not isinstance(c, gr.State)]
        return [dict(zip(_named(components), shown, strict=True))]

    def postprocess_output_data(
        self, data: Any, root_url: str
    ) -> list[types.TextContent | types.ImageContent]:
        """That object as JSON; a file is its address."""
        (answer,) = processing_utils.add_root_url(data, root_url, None)
        plain = {
            name: value["url"] if is_file_obj_with_meta(value) else value
            for name, value in answer.items()
        }
        return [types.TextContent(type="text", text=json.dumps(plain, ensure_ascii=False))]

    def _function(self, tool_name: str) -> BlockFunction:
        block_fn = self.get_block_fn_from_endpoint_name(self.tool_to_endpoint[tool_name])
        assert block_fn is not None
        return block_fn


def docstring(block_fn: BlockFunction) -> Doc:
    """What the docstring of an endpoint's function says."""
    assert block_fn.fn is not None
    return read_docstring(block_fn.fn, list(_named(block_fn.outputs)))


def _named(components: Sequence[Component | BlockContext]) -> dict[str, Component]:
    """Components by their labels, in order, without those that clients do not see."""
    shown = [c for c in components if isinstance(c, Component) and not isinstance(c, gr.State)]
    return {str(component.label): component for component in shown}


def _file(address: str) -> Any:
    """What gradio_client sends for a file. Raises InputError for no address."""
    if address.startswith("data:"):
        return handle_file(processing_utils.save_base64_to_cache(address, _inbox.get()))
    if address.startswith(("http://", "https://")):
        return handle_file(address)
    raise InputError(FILES)


def _type(component: Component) -> dict[str, Any]:
    return next(schema for kind, schema in TYPES.items() if isinstance(component, kind))
