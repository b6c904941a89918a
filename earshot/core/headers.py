"""The headers by which every answer tells browsers what they may do with it."""

from collections.abc import Mapping
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Gradio's page needs scripts of its own in the page, and makes functions of our handlers' text.
POLICY: Final = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; media-src 'self' data: blob:; "
    "font-src 'self' data:; connect-src 'self' data: blob: ws: wss:; worker-src 'self' blob:; "
    "object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors "
)
# Pages that may show this one in a frame: those of this machine; on a Space also the hub's.
FRAMES: Final = "'self' http://localhost:* http://127.0.0.1:*"
HUB: Final = "https://huggingface.co https://*.huggingface.co https://*.hf.space"


class SafeHeaders:
    """ASGI middleware that lets no browser guess types, and only our own scripts run, in our own
    frames. What an answer says itself stays.
    """

    def __init__(self, app: ASGIApp, environment: Mapping[str, str]) -> None:
        self.app = app
        self.policy = POLICY + (f"{FRAMES} {HUB}" if "SPACE_ID" in environment else FRAMES)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the request."""

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("X-Content-Type-Options", "nosniff")
                headers.setdefault("Content-Security-Policy", self.policy)
            await send(message)

        await self.app(scope, receive, answer)
