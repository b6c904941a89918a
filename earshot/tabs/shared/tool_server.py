"""Endpoints for programs: described by their docstrings, offered as tools of the Model Context
Protocol on Gradio's own server at /gradio_api/mcp/, and explained in a manual.

Gradio offers every endpoint, named after its function, and answers in the notation of Python. Here
the tools are those of TOOLS, named as the endpoints are, and each answers with one JSON object,
whose fields are the endpoint's returns. Nothing of GradioMCPServer is part of Gradio's public
interface: check this when Gradio is upgraded. More than 400 lines: all that a program meets.
"""

import base64
import inspect
import json
import logging
import re
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

import gradio as gr
import gradio.mcp
import mcp
from gradio import processing_utils
from gradio.block_function import BlockFunction
from gradio.blocks import BlockContext, Blocks
from gradio.components import Component
from gradio.data_classes import FileData, PredictBodyInternal
from gradio.server_messages import ProcessCompletedMessage, ProgressMessage
from gradio_client.utils import is_file_obj_with_meta, is_http_url_like
from jinja2 import Environment, FileSystemLoader
from mcp import types
from mcp.server import Server
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from earshot.core.errors import InputError
from earshot.core.json_limits import MAX_JSON_BYTES, check_json
from earshot.core.limits import BUDGETS, address_of
from earshot.provenance.mark import number_in_marks
from earshot.tabs.shared.events import OUR_FAULT
from earshot.tabs.shared.gradio_internals import MAX_PATH, among_uploads, made_for, upload_folder
from earshot.tabs.shared.sessions import is_upload

# /respeak is missing: it goes on from a visit's last video, and every call is a visit of its own.
TOOLS: Final = (
    "convert",
    "encode",
    "decode",
    "transcribe",
    "embed_audio",
    "embed_text",
    "nearest",
    "compare_words",
    "check_pronunciation",
    "search_sounds",
    "similar_sounds",
    "lip_to_speech",
    "check_listening_test",
    "draft_listening_test",
    "detect",
)
# As browsers write it, a comma may stand in the parameters: video/webm;codecs=vp8,opus;base64,
DATA: Final = "data:"
CONTENT: Final = re.compile(";base64,", re.I)
MEDIA_TYPE: Final = re.compile(r"[\w.+/-]*")
WHITE: Final = " \t\n\r\f\v"
# Signs of base64, and white space in it, as addresses have them.
ESCAPED: Final = {
    "%2b": "+",
    "%2f": "/",
    "%3d": "=",
    **dict.fromkeys(("%09", "%0a", "%0d", "%20"), ""),
}
FILES: Final = (
    "A file is given as a data: URL of at most 700 kB, as the path that POST /gradio_api/upload "
    "answers, or as the address that another tool answered. Other http addresses are fetched only "
    "where whoever runs the server allows it."
)
MAX_FILES: Final = 8  # in a call: of no tool takes more
TOO_MANY_FILES: Final = f"Give {MAX_FILES} files at most."
INBOX: Final = "upload-call-"  # how the folder of a call begins
FILE_PATH: Final = "/gradio_api/file="  # in the address of a file of this server
JOIN: Final = "/gradio_api/queue/join"
# Returns that only other tools read, and that are long: the address of their JSON.
BY_ADDRESS: Final = ("units",)
# What such a return says of a recording, which is answered itself: nobody has to fetch it.
NOTICES: Final = {
    "type": "array",
    "items": {"type": "string"},
    "description": "sentences about the recording: what is not as it should be",
}
FILE_INPUTS: Final = (gr.Audio, gr.Video, gr.File)
URI: Final = {"type": "string", "format": "uri"}
# What a return is, by the component that holds it.
TYPES: Final[dict[type, dict[str, Any]]] = {
    gr.Audio: URI,
    gr.Textbox: {"type": "string"},
    gr.JSON: {"type": ["object", "array"]},
}

_inbox: ContextVar[str] = ContextVar("inbox")
CALLS: Final = BUDGETS["calls"]
RULES: Final = (
    "An error is a sentence that says what is wrong with the input and what to do. Calls wait in "
    "line as visitors do; those of one address may take three quarters of it. An address elsewhere "
    f"gets {CALLS.burst} answers at once, then {CALLS.per_minute} a minute: calls that come faster "
    "wait."
)
MARKED: Final = (
    "All speech that is made here carries a mark in its sound, which says so; no call leaves it "
    "out."
)
NOT_MARKED: Final = "Whoever runs this server leaves the mark out of the sound of what is made."
# HTML is escaped, and Markdown is not.
TEMPLATES: Final = Environment(
    loader=FileSystemLoader(Path(__file__).parent),
    autoescape=lambda name: bool(name) and ".html" in name,
    keep_trailing_newline=True,
)


class Doc(NamedTuple):
    """A docstring taken apart; of parameters and returns: name → what it says."""

    summary: str
    parameters: dict[str, str]
    returns: dict[str, str]


def read_docstring(function: Callable, returns: Sequence[str]) -> Doc:
    """Take apart a docstring with Args: and Returns:, whose entries, "name: what it is", may go on
    for several lines. returns: the names of what the function returns."""
    text = inspect.getdoc(function) or ""
    head, _, rest = text.partition("\nArgs:")
    arguments, _, returned = rest.partition("\nReturns:")
    parameters = list(inspect.signature(function).parameters)
    return Doc(" ".join(head.split()), _entries(arguments, parameters), _entries(returned, returns))


def _entries(section: str, names: Sequence[str]) -> dict[str, str]:
    entries: dict[str, str] = {}
    name = ""
    for line in section.splitlines():
        start, colon, rest = line.strip().partition(":")
        if colon and start in names:
            name, entries[start] = start, rest.strip()
        elif name:
            entries[name] = f"{entries[name]} {line.strip()}".strip()
    return entries


class ToolServer(gradio.mcp.GradioMCPServer):
    """The tools of a page."""

    def get_tool_to_endpoint(self) -> dict[str, str]:
        """Map the name of each tool → path of the endpoint."""
        there = [name for name in TOOLS if f"/{name}" in self.api_info["named_endpoints"]]
        return {
            self.valid_and_unique_tool_name(self.tool_prefix + name, set()): f"/{name}"
            for name in there
        }

    def warn_about_state_inputs(self) -> None:
        """Warn of nothing: no tool goes on from what an earlier call left in a State."""

    def create_mcp_server(self) -> Server:
        """Make Gradio's server, with types for what tools answer."""
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
            if self._has_too_many_files(request.params):  # each is checked, while all others wait
                text = types.TextContent(type="text", text=TOO_MANY_FILES)
                return types.ServerResult(types.CallToolResult(content=[text], isError=True))
            # What came inside the call is deleted with it.
            upload_folder().mkdir(parents=True, exist_ok=True)
            with TemporaryDirectory(prefix=INBOX, dir=upload_folder()) as folder:
                _inbox.set(folder)
                web_request = server.request_context.request
                with made_for(address_of(web_request) if web_request else ""):
                    result = await call_tool(request)
            answer = result.root
            assert isinstance(answer, types.CallToolResult)
            if not answer.isError and isinstance(answer.content[0], types.TextContent):
                answer.structuredContent = json.loads(answer.content[0].text)
            return result

        server.request_handlers[types.ListToolsRequest] = list_typed
        server.request_handlers[types.CallToolRequest] = call_typed
        return server

    def get_fn_description(
        self, block_fn: BlockFunction, tool_name: str
    ) -> tuple[str, dict[str, str]]:
        """Return what the tool does and returns, and what each parameter is."""
        _, files = self.get_input_schema(tool_name)
        about = [str(block_fn.api_description), *([FILES] if files else [])]
        return " ".join(about), docstring(block_fn).parameters

    def get_input_schema(
        self, tool_name: str, parameters: dict[str, str] | None = None
    ) -> tuple[dict[str, Any], list[list[str | int]]]:
        """Write the JSON Schema of a tool's arguments, and list the paths of the files among them.
        Gradio's own is not valid for JSON and for lists of files.
        """
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
                kinds = [*TYPES[gr.JSON]["type"], *(["string"] if name in BY_ADDRESS else [])]
                fields[name] = documented | {"type": kinds}
        return schema, files

    def convert_strings_to_filedata(
        self, value: dict[str, Any], filedata_positions: list[list[str | int]]
    ) -> dict[str, Any]:
        """Put files in place of the files' addresses in arguments."""
        addresses = {name: value[name] for (name,) in filedata_positions if name in value}
        files = {
            name: [_file(one) for one in each] if isinstance(each, list) else _file(each)
            for name, each in addresses.items()
        }
        jsons = {name: _json(value[name]) for name in value.keys() & BY_ADDRESS}
        return value | files | jsons

    def _has_too_many_files(self, call: types.CallToolRequestParams) -> bool:
        if call.name not in self.tool_to_endpoint:
            return False
        _, files = self.get_input_schema(call.name)
        values = [(call.arguments or {}).get(str(name)) for (name,) in files]
        return any(isinstance(each, list) and len(each) > MAX_FILES for each in values)

    def output_schema(self, tool_name: str) -> dict[str, Any]:
        """Write the JSON Schema of a tool's answer."""
        block_fn = self._function(tool_name)
        about = docstring(block_fn).returns
        fields = {
            name: {**_type(component), "description": about[name]}
            for name, component in _named(block_fn.outputs).items()
        }
        for name in fields.keys() & BY_ADDRESS:
            fields[name] |= URI | {"description": f"{about[name]}, as the address of its JSON"}
            fields["notices"] = NOTICES
        return {"type": "object", "properties": fields, "required": list(fields)}

    def described(self) -> list["Described"]:
        """List the tools, for those who read before they call."""
        return [
            Described(
                tool,
                docstring(self._function(tool)),
                list(self.get_input_schema(tool)[0]["properties"]),
            )
            for tool in self.tool_to_endpoint
        ]

    def _get_or_create_client(self) -> Any:
        """Make a stand-in for a client of this server, over its own network: its queue."""
        return self

    def submit(self, *inputs: Any, api_name: str, headers: dict[str, str]) -> "_Job":
        """Note a call of an endpoint, for the two functions that follow."""
        return _Job(self.get_block_fn_from_endpoint_name(api_name), list(inputs))

    async def _execute_tool_without_progress(self, job: "_Job") -> list[Any]:
        return await self._answer(job, None)

    async def _execute_tool_with_progress(self, job: "_Job", progress_token: str | int) -> Any:
        return await self._answer(job, progress_token)

    async def _answer(self, job: "_Job", token: str | int | None) -> list[Any]:
        """Wait in the queue as everybody does, as a visit of its own, from the agent's address.

        Raises InputError where the queue, or the endpoint, says what is wrong.
        """
        context = self.mcp_server.request_context
        assert job.function is not None and context.request is not None
        scope = {**context.request.scope, "path": JOIN, "raw_path": JOIN.encode()}
        request, app = Request(scope), self.blocks.app
        body = PredictBodyInternal(data=job.inputs, fn_index=job.function._id, request=request)
        queue = self.blocks._queue
        queue.set_server_app(app)
        success, event, _ = await queue.push(body, request, None)
        if not success:
            raise InputError(str(event))
        session, step = str(event), 0
        messages = queue.pending_messages_per_session[session]
        try:
            while not isinstance(message := await messages.get(), ProcessCompletedMessage):
                if token is not None and isinstance(message, ProgressMessage):
                    text = " ".join(filter(None, (unit.desc for unit in message.progress_data)))
                    await context.session.send_progress_notification(
                        token, step, message=text, related_request_id=str(context.request_id)
                    )
                    step += 1
        finally:
            await queue.clean_events(session_hash=session)
            queue.pending_messages_per_session.pop(session, None)
            queue.pending_event_ids_session.pop(session, None)
            app.state_holder.session_data.pop(session, None)
        output = message.model_dump()["output"]
        if not message.success:
            raise InputError(output.get("error") or OUR_FAULT)
        return output["data"]

    @staticmethod
    def pop_returned_state(components: Sequence[Component | BlockContext], data: Any) -> list:
        """Write an endpoint's result as one object of its named returns."""
        values = [v for c, v in zip(components, data, strict=True) if not isinstance(c, gr.State)]
        return [dict(zip(_named(components), values, strict=True))]

    def postprocess_output_data(
        self, data: Any, root_url: str
    ) -> list[types.TextContent | types.ImageContent]:
        """Write that object as JSON; a file is its address."""
        (answer,) = processing_utils.add_root_url(data, root_url, None)
        for name in answer.keys() & BY_ADDRESS:
            answer["notices"] = answer[name]["notices"]
            text, folder = json.dumps(answer[name]).encode(), str(upload_folder())
            path = processing_utils.save_bytes_to_cache(text, f"{name}.json", folder)
            self.blocks.upload_file_set.add(path)  # of no component: deleted with uploads
            answer[name] = f"{root_url}{FILE_PATH}{path}"
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
    """Read the docstring of an endpoint's function."""
    assert block_fn.fn is not None
    return read_docstring(block_fn.fn, list(_named(block_fn.outputs)))


def _named(components: Sequence[Component | BlockContext]) -> dict[str, Component]:
    """Index components by their labels, in order, without those that clients do not see."""
    public = [c for c in components if isinstance(c, Component) and not isinstance(c, gr.State)]
    return {str(component.label): component for component in public}


class Described(NamedTuple):
    """A tool: what its docstring says, and the names of its inputs."""

    name: str
    doc: Doc
    inputs: list[str]


@dataclass(frozen=True)
class _Job:
    """A call of an endpoint's function."""

    function: BlockFunction | None
    inputs: list[Any]


def _file(address: str) -> dict[str, Any]:
    """Describe a file as a page sends it. Raises InputError for what names none."""
    if address[: len(DATA)].lower() == DATA:
        head, *rest = CONTENT.split(address, maxsplit=1)
        media_type = head[len(DATA) :].partition(";")[0].strip().lower()
        if not rest or not MEDIA_TYPE.fullmatch(media_type):
            raise InputError(FILES)
        # base64url is as common among programs; Gradio would drop its letters and decode noise.
        content = rest[0].translate(str.maketrans("-_", "+/", WHITE))
        for escape, sign in ESCAPED.items():
            content = content.replace(escape, sign).replace(escape.upper(), sign)
        content += "=" * (-len(content) % 4)
        try:
            base64.b64decode(content, validate=True)
            url = f"data:{media_type};base64,{content}"
            path = processing_utils.save_base64_to_cache(url, _inbox.get())
        except (ValueError, IndexError) as error:
            raise InputError(FILES) from error
    elif FILE_PATH in address:
        path = str(_served(address))
    elif is_http_url_like(address) or is_upload(address):
        path = address
    else:
        raise InputError(FILES)
    return FileData(path=path, orig_name=Path(path).name).model_dump()


def _json(value: Any) -> Any:
    """Read an argument, given as itself or as the address that another tool answered."""
    if not isinstance(value, str) or FILE_PATH not in value:
        return value
    path = _served(value)
    try:
        with path.open("rb") as file:
            text = file.read(MAX_JSON_BYTES + 1)
        check_json(text)
        return json.loads(text)
    except (OSError, ValueError) as error:
        raise InputError("There is no JSON at this address, or no longer.") from error


def _served(address: str) -> Path:
    """Find the file of an address of this server's. Raises InputError where it is none of a
    visitor's or of a result."""
    name = address.partition(FILE_PATH)[2]
    path = among_uploads(unquote(name)) if len(name) <= 3 * MAX_PATH else None
    if path is None:
        raise InputError(FILES)
    return path


def _type(component: Component) -> dict[str, Any]:
    return next(schema for kind, schema in TYPES.items() if isinstance(component, kind))


def log_no_messages() -> None:
    """Write nothing of what programs send into the log from now on: of each message that it cannot
    use, mcp writes all, in the name of Python's main logger or its own."""
    folder = str(Path(mcp.__file__).parent)

    def is_another(record: logging.LogRecord) -> bool:
        return record.levelno >= logging.ERROR or not record.pathname.startswith(folder)

    logging.getLogger().addFilter(is_another)
    logging.getLogger("mcp.server").setLevel(logging.ERROR)


def offer_tools(page: Blocks) -> None:
    """Describe the endpoints of a page by what they do and return, for OpenAPI and all clients;
    launched with mcp_server=True, it offers the tools above."""
    log_no_messages()
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
        about = RULES + " " + (NOT_MARKED if number_in_marks() is None else MARKED)
        text = TEMPLATES.get_template(f"agents.{kind}.jinja").render(
            address=request.base_url, files=FILES, rules=about, tools=server.described()
        )
        media_type = "text/html" if for_people else "text/markdown"
        return Response(text, media_type=media_type, headers={"Vary": "Accept"})

    return Route("/agents.md", answer)
