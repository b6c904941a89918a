"""Which of a framework's own paths are served."""

from collections.abc import Collection

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send


class ServeOnly:
    """ASGI middleware that finds nothing under a prefix but the paths that are listed: a framework
    has routes that no page of ours asks, and gets more with each release.

    prefix: as in "/api/". served: what may come after it; whatever may follow what ends with "/" or
    "=".
    """

    def __init__(self, app: ASGIApp, prefix: str, served: Collection[str]) -> None:
        self.app, self.prefix = app, prefix
        self.whole = frozenset(path for path in served if not path.endswith(("/", "=")))
        self.begun = tuple(path for path in served if path.endswith(("/", "=")))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the request."""
        path: str = scope.get("path", "")
        asked = path.removeprefix(self.prefix)
        unlisted = asked.rstrip("/") not in self.whole and not f"{asked}/".startswith(self.begun)
        if path.startswith(self.prefix) and unlisted:
            await PlainTextResponse("Not found", 404)(scope, receive, send)
        else:
            await self.app(scope, receive, send)
