"""The first page before it is opened: its description, its size, its scripts, and how a phone
comes to it.
"""

import asyncio
import gzip
import json
import mimetypes
import re
import threading
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import quote

import brotli
from markupsafe import Markup
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from earshot.core.connections import UNREACHABLE, address_for_others
from earshot.core.limits import LOCAL, RateLimit, address_of
from earshot.core.paths import ASSETS
from earshot.core.templates import qr_code

TITLE: Final = "Earshot"
DESCRIPTION: Final = (
    "Speech systems that you can hear, look inside, and try with your own voice: voice conversion, "
    "acoustic words, sound search, lip to speech, and listening tests."
)
PICTURE: Final = ASSETS / "screenshots" / "thumbnail.png"
GRADIOS: Final = re.compile(
    rb'<meta\s+(?:property|name)="(?:og|twitter):[^"]*"\s+content="[^"]*"\s*/>\s*'
)
BODY: Final = re.compile(rb"<body[^>]*>")
EXAMPLE: Final = "example"  # where the sounds of the card are
# What is large and text, in addition to what Gradio compresses by itself.
INFO: Final = "/gradio_api/info"
COMPRESSED: Final = ("/", "/config", INFO, "/gradio_api/openapi.json")
# What Gradio's answers to them depend on, in addition to the address: where the page says it is.
ADDRESS_HEADERS: Final = ("host", "x-forwarded-host", "x-forwarded-proto", "x-gradio-server")
MAX_KEPT: Final = 16  # answers
MAX_SERVER_NAME: Final = 1_000  # letters of what names the server in a request
LONG_SERVER_NAME: Final = "The name by which this request calls the server is too long."
GZIP_LEVEL: Final = 5  # of 9: a fifth of the size in a sixth of the time
# Scripts and styles that the page asks for, one after the other, and what other tabs ask for when
# they are first opened: python -m scripts.list_frontend.
FIRST_FILES: Final = tuple(Path(__file__).with_name("first_files.txt").read_text().split())
LATER_FILES: Final = tuple(Path(__file__).with_name("later_files.txt").read_text().split())
HASHED: Final = re.compile(r"[\w.-]+-[\w-]{8,}\.(?:js|css)")  # a name that has its content's hash
BROTLI_LEVEL: Final = 7  # of 11
COMPRESSORS: Final[dict[str, Callable[[bytes], bytes]]] = {  # the best first
    "br": lambda content: brotli.compress(content, quality=BROTLI_LEVEL),
    "gzip": lambda content: gzip.compress(content, GZIP_LEVEL),
}
CACHE_FOREVER: Final = "public, max-age=31536000, immutable"
PRELOADS: Final = "".join(
    f'<link rel="modulepreload" href="./assets/{name}" crossorigin>'
    if name.endswith(".js")
    else f'<link rel="preload" as="style" href="./assets/{name}" crossorigin>'
    for name in FIRST_FILES
)
# They come as soon as a pointer is over a tab, so that opening it does not wait for them.
LATER: Final = """<script>
document.addEventListener("pointerover", function fetch_later(event) {
  if (!event.target.closest("[role=tab]")) return;
  document.removeEventListener("pointerover", fetch_later);
  for (const name of %s)
    document.head.append(Object.assign(document.createElement("link"), {rel: "prefetch",
      as: name.endsWith(".js") ? "script" : "style", href: "./assets/" + name}));
});
</script>"""
# What Gradio's scripts do in vain while a page is made, by the beginning of the file's name, and
# what they do instead. Each of 470 components asked all 400 events for its own, and was looked for
# among all others; all was made twice; and code was loaded for what is in tabs that are not open.
# It is most of what they compute. A clock of tenths of a second was drawn in every frame, and for
# ever where it was taken from the page before its work had ended; and a recording is drawn a
# hundred times a second, of which a screen shows sixty and an eye sees twenty.
SHORTER_CODE: Final = {
    "core-": (
        (
            "let n=t.filter(t=>t.targets.find(([t])=>t===e.id)).map(t=>{let n=t.targets.find("
            "([t])=>t===e.id);return n?n[1]:null}).filter(Boolean);"
            "return e.props.shared_props.attached_events=n,e}",
            "if(this.events_of!==t){this.events_of=t;this.events=new Map;for(const d of t)"
            "for(const[i,n]of new Map([...d.targets].reverse()))"
            "n&&this.events.set(i,[...this.events.get(i)??[],n])}"
            "return e.props.shared_props.attached_events=this.events.get(e.id)??[],e}",
        ),
        (
            "function Z(e,t){if(e.id===t)return e;if(e.children)for(let n of e.children)"
            "{let e=Z(n,t);if(e)return e}return null}",
            "let by_id=new WeakMap;function Z(e,t){let m=by_id.get(e);if(!m){m=new Map;"
            "const w=n=>{m.set(n.id,n);n.children?.forEach(w)};w(e);by_id.set(e,m)}"
            "return m.get(t)??null}",
        ),
        (
            "a.children=i.children,",
            "by_id=new WeakMap,a.children=i.children,load_visible(a,this.#r.api_url),",
        ),
        ("postprocess(e){this.root=", "postprocess(e){this.events_of=null;this.root="),
        ("[e=>je(e,this.#r.api_url),e=>Me", "[e=>Me"),
        (
            "e=>Ne(e,this.components_to_register,this.#d)])}",
            "e=>Ne(e,this.components_to_register,this.#d)]);"
            "load_visible(this.root,this.#r.api_url)}",
        ),
        (
            "s=a.shared_props.visible===!1?null:G(i.type,i.component_class_id,"
            "this.#r.api_url||``);",
            "s=null;",
        ),
        (
            "function je(e,t){",
            "function load_visible(e,t){if(!e.props.shared_props.visible)return;"
            "if(!e.component){const n=G(e.type,e.component_class_id,t);"
            "e.component=n.component;e.runtime=n.runtime}"
            "e.children.forEach(c=>load_visible(c,t))}function je(e,t){",
        ),
    ),
    "Blocks-": (("v(),oe(()=>{O.reload(", "v()&&oe(()=>{O.reload("),),
    # Of every upload's progress the console was told that it cannot be closed.
    "index-": (
        (
            "function Ot(e,t={}){let n={close:()=>{console.warn(`Method not implemented.`)}",
            "function Ot(e,t={}){let c=new AbortController;t.signal||(t={...t,signal:c.signal});"
            "let n={close:()=>c.abort()",
        ),
    ),
    "statustracker-": (
        (
            "me(()=>{F(Pe,(performance.now()-w(de))/1e3),W&&ze()})",
            "setTimeout(()=>{F(Pe,(performance.now()-w(de))/1e3),W&&U&&ze()},100)",
        ),
    ),
    "record.esm-": (("}))}}}),10);return{onDestroy:", "}))}}}),50);return{onDestroy:"),),
}
# Scripts that nothing here needs, and what stands for them: a player of streams over HTTP, a fifth
# of all that came, for sounds and videos that stream (is_stream), of which there are none.
UNUSED: Final = {"hls-": "const n=()=>!1,r=()=>()=>{},t=()=>({destroy(){}});export{n,r,t};"}
# The configuration of the page that stands in its HTML.
START: Final = b"window.gradio_config = "
# Descriptions for programs, which ask for them elsewhere.
UNREAD: Final = ("api_info", "api_info_as_input", "api_info_as_output", "example_inputs")
MIN_SHARED: Final = 300  # characters of code that is worth a place of its own
PARAMETERS: Final = "element,trigger,props,server,upload,watch"  # of Gradio's js_on_load
ESCAPES: Final = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "'": "\\u0027"}

MAX_ADDRESS: Final = 500  # characters of an address that is drawn as one
TOO_LONG: Final = "This address is too long for a QR code."
PHONE: Final = (
    '<img src="data:image/svg+xml,{picture}" width="180" height="180" '
    'alt="QR code of this page’s address"><p><a href="{address}">{address}</a></p>'
)
NO_MICROPHONE: Final = (
    "Over http a phone’s browser gives the page neither microphone nor camera: start Earshot with "
    "<code>--https</code> for these."
)
TRUST: Final = (
    "The phone will say that it does not know this server, for it has certified itself. Go on all "
    'the same (<i>Advanced</i>), or <a href="earshot.crt">trust its certificate</a>.'
)
CERTIFICATE_HEADERS: Final = {"Content-Disposition": 'attachment; filename="earshot.crt"'}
META: Final = """<meta name="description" content="{description}">
<meta property="og:type" content="website"><meta property="og:title" content="{title}">
<meta property="og:url" content="{address}"><meta property="og:description" content="{description}">
<meta property="og:image" content="{address}preview.png">
<meta name="twitter:card" content="summary_large_image">
"""


class FrontPage:
    """ASGI middleware that describes the page as ours, not as Gradio's, compresses it, and keeps
    it: it is the same for everybody, and Gradio takes 0.1 s, in which all others wait, to make it.
    """

    def __init__(self, app: ASGIApp, opened: threading.Event, card: str = "") -> None:
        """Wrap the app. opened: is set when the page is first asked for; card: HTML that is shown
        until Gradio has made the page."""
        self.app, self._opened, self._card = app, opened, card
        self._makings = RateLimit.of("first pages")
        self._answers: dict[tuple, list[Message]] = {}  # the oldest first

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the request."""
        if scope["type"] != "http" or (path := scope["path"].rstrip("/") or "/") not in COMPRESSED:
            await self.app(scope, receive, send)
            return
        query = scope["query_string"]
        if path == "/":
            self._opened.set()
            query = b""  # it is read in the browser
        if path == INFO:
            # Of no page Gradio gives to all what names the server as who came first called it.
            query += b"&page="
        scope = {**scope, "path": path, "query_string": query}
        headers = Headers(scope=scope)
        accepted = headers.get("Accept-Encoding", "")
        encoding = next((name for name in COMPRESSORS if name in accepted), "")
        names = [headers.get(name, "") for name in ADDRESS_HEADERS]
        if max(map(len, names)) > MAX_SERVER_NAME:  # they stand in the page hundreds of times
            await PlainTextResponse(LONG_SERVER_NAME, 400)(scope, receive, send)
            return
        where = (scope["scheme"], scope.get("root_path"), *names)
        question = (scope["method"], path, query, encoding, *where)
        answer = self._answers.get(question)
        if answer is None:
            address = address_of(HTTPConnection(scope))
            if address not in LOCAL and self._makings.take(address):
                refusal = PlainTextResponse(self._makings.refusal, 429, {"Retry-After": "60"})
                await refusal(scope, receive, send)
                return
            answer = await self._answer(scope, receive, encoding)
            if answer[0]["status"] == 200:
                self._answers[question] = answer
                if len(self._answers) > MAX_KEPT:
                    del self._answers[next(iter(self._answers))]
        for message in answer:
            # A copy, for whoever passes it on adds headers to it.
            copied = {"headers": [*message["headers"]]} if "headers" in message else {}
            await send({**message, **copied})

    async def _answer(self, scope: Scope, receive: Receive, encoding: str) -> list[Message]:
        start: Message = {}
        body = bytearray()

        async def collect(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start":
                start = message
            body.extend(message.get("body", b""))

        await self.app(scope, receive, collect)
        headers = MutableHeaders(scope=start)
        content = bytes(body)
        if scope["path"] == "/" and headers.get("content-type", "").startswith("text/html"):
            content = _own(content, str(Request(scope).base_url), self._card)
        if encoding:
            content = await asyncio.to_thread(COMPRESSORS[encoding], content)
            headers["Content-Encoding"] = encoding
        headers["Content-Length"] = str(len(content))
        headers.add_vary_header("Accept-Encoding")
        return [start, {"type": "http.response.body", "body": content}]


class Packed(NamedTuple):
    """A file of the frontend in memory, as it is and by Brotli."""

    content: bytes
    compressed: bytes
    kind: str


class FrontendFiles:
    """ASGI middleware that serves Gradio's scripts and styles from memory, compressed once and for
    browsers to keep: Gradio reads and compresses each of a hundred anew for every page.
    """

    def __init__(self, app: ASGIApp, folder: Path) -> None:
        """Wrap the app. folder: of the files, whose names are taken as they are now."""
        self.app, self._folder = app, folder
        self._names = {f.name for f in folder.iterdir() if HASHED.fullmatch(f.name)}
        self._packed: dict[str, Packed] = {}
        threading.Thread(target=self._pack_first, daemon=True).start()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the request."""
        prefix = f"{scope.get('root_path', '')}/assets/"
        name = scope["path"].removeprefix(prefix) if scope["type"] == "http" else ""
        if name not in self._names or scope["method"] != "GET":
            await self.app(scope, receive, send)
            return
        file = self._packed.get(name) or await asyncio.to_thread(self._pack, name)
        accepted = "br" in Headers(scope=scope).get("Accept-Encoding", "")
        headers = {"Cache-Control": CACHE_FOREVER, "Vary": "Accept-Encoding"}
        if accepted:
            headers["Content-Encoding"] = "br"
        content = file.compressed if accepted else file.content
        await Response(content, 200, headers, file.kind)(scope, receive, send)

    def _pack_first(self) -> None:
        for name in FIRST_FILES:
            if name in self._names:
                self._pack(name)

    def _pack(self, name: str) -> Packed:
        content = saving((self._folder / name).read_text(), name).encode()
        kind = mimetypes.guess_type(name)[0] or "text/plain"
        compressed = COMPRESSORS["br"](content)
        self._packed[name] = file = Packed(content, compressed, kind)
        return file


def saving(script: str, name: str) -> str:
    """Return a script of Gradio's without what it does in vain: see UNUSED and SHORTER_CODE."""
    for beginning, instead in UNUSED.items():
        if name.startswith(beginning):
            return instead
    for beginning, changes in SHORTER_CODE.items():
        if name.startswith(beginning):
            for old, new in changes:
                script = script.replace(old, new)
    return script


def routes(host: str | None, certificate: bytes = b"") -> list[Route]:
    """List the picture that links to the page show, the QR code of its address, how a phone comes
    to it, the sounds of the finished example, and the certificate of a server at that host that has
    one of its own."""

    def address_of_page(request: Request) -> str:
        address = address_for_others(str(request.base_url), host)
        if address and len(address) > MAX_ADDRESS:
            raise HTTPException(414, TOO_LONG)
        return address or ""

    def code(request: Request) -> Response:
        address = address_of_page(request)
        if not address:
            return PlainTextResponse(UNREACHABLE, 404)
        return Response(qr_code(address), media_type="image/svg+xml")

    def on_phone(request: Request) -> HTMLResponse:
        address = address_of_page(request)
        if not address:
            return HTMLResponse(f"<p>{UNREACHABLE} {NO_MICROPHONE}</p>")
        lines = [Markup(PHONE).format(picture=quote(qr_code(address)), address=address)]
        lines += [f"<p>{NO_MICROPHONE}</p>"] if address.startswith("http://") else []
        lines += [f"<p>{TRUST}</p>"] if certificate else []
        return HTMLResponse("".join(lines))

    def own_certificate(request: Request) -> Response:
        return Response(certificate, 200, CERTIFICATE_HEADERS, "application/x-x509-ca-cert")

    pages = [Route("/preview.png", _picture), Route("/qr.svg", code), Route("/phone", on_phone)]
    pages.append(Route(f"/{EXAMPLE}/{{name}}", _example_sound))
    return pages + ([Route("/earshot.crt", own_certificate)] if certificate else [])


def _own(page: bytes, address: str, card: str) -> bytes:
    values = {"title": TITLE, "description": DESCRIPTION, "address": address}
    meta = META.format(**{name: escape(value) for name, value in values.items()}) + PRELOADS
    meta += LATER % json.dumps(LATER_FILES)
    page = GRADIOS.sub(b"", lean(page)).replace(b"<head>", b"<head>" + meta.encode(), 1)
    return BODY.sub(lambda body: body[0] + card.encode(), page, count=1)


def lean(page: bytes) -> bytes:
    """Return the page with a smaller configuration: without what no script of Gradio's reads, and
    with the code that several components share written once."""
    before, start, rest = page.partition(START)
    if not start:
        return page
    text = rest.decode()
    config, end = json.JSONDecoder().raw_decode(text)
    shared = _share([component["props"] for component in config["components"]])
    for component in config["components"]:
        for name in UNREAD:
            component.pop(name, None)
    written = json.dumps(config, ensure_ascii=False, separators=(",", ":"))
    for character, code in ESCAPES.items():
        written = written.replace(character, code)
    return b"".join([before, shared.encode(), start, written.encode(), text[end:].encode()])


def _share(all_props: list[dict[str, Any]]) -> str:
    """Replace long code of components by a call of it, and long styles by a reference, which are
    filled in as Gradio makes a component: the script that has each of them once."""
    numbers: dict[tuple[str, str], int] = {}
    for props in all_props:
        for name in ("js_on_load", "css_template"):
            code = props.get(name) or ""
            if len(code) < MIN_SHARED or (name == "css_template" and "${" in code):
                continue
            number = numbers.setdefault((name, code), len(numbers))
            call = f"return shared_code[{number}]({PARAMETERS})"
            props[name] = call if name == "js_on_load" else f"${{shared_code[{number}]}}"
    written = (
        f"function({PARAMETERS}){{{code}\n}}" if name == "js_on_load" else json.dumps(code)
        for name, code in numbers
    )
    code = ",\n".join(written).replace("</script", "<\\/script")
    return f"window.shared_code=[{code}];\n"


async def _example_sound(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in ("finished-source.ogg", "finished-converted.ogg"):
        return PlainTextResponse("There is no such sound.", status_code=404)
    return FileResponse(ASSETS / "examples" / name)


async def _picture(request: Request) -> Response:
    return FileResponse(PICTURE)
