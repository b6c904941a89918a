"""A Hugging Face hub of one repository on this machine: as much of it as downloads, and uploads
without large-file storage, use."""

import base64
import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.support.serving import serving

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@contextmanager
def serve(repository: str, root: Path) -> Iterator[str]:
    """Serve the files below root as the repository → the address for HF_ENDPOINT."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(body=True)

        def do_HEAD(self) -> None:
            self._answer(body=False)

        def do_POST(self) -> None:
            sent = self.rfile.read(int(self.headers["Content-Length"]))
            if self.path == "/api/repos/create":
                self._send(json.dumps({"url": f"http://{self.headers['Host']}/{repository}"}), True)
            elif self.path == "/api/validate-yaml":
                self._send(json.dumps({"errors": [], "warnings": []}), True)
            elif self.path == f"/api/models/{repository}/preupload/main":
                names = [file["path"] for file in json.loads(sent)["files"]]
                modes = [
                    {"path": name, "uploadMode": "regular", "shouldIgnore": False} for name in names
                ]
                self._send(json.dumps({"files": modes}), True)
            elif self.path == f"/api/models/{repository}/commit/main":
                _commit(root, sent)
                url = f"http://{self.headers['Host']}/{repository}/commit/{COMMIT}"
                self._send(json.dumps({"commitOid": COMMIT, "commitUrl": url}), True)
            else:
                self.send_error(404)

        def _answer(self, body: bool) -> None:
            path = self.path.split("?")[0]
            files = [str(p.relative_to(root)) for p in sorted(root.rglob("*")) if p.is_file()]
            start = f"/{repository}/resolve/{COMMIT}/"
            if path.startswith(f"/api/models/{repository}/tree"):
                self._send(json.dumps([_entry(root / name, name) for name in files]), body)
            elif path.startswith(f"/api/models/{repository}"):
                sizes = {name: (root / name).stat().st_size for name in files}
                siblings = [{"rfilename": name, "size": size} for name, size in sizes.items()]
                info = {"id": repository, "sha": COMMIT, "siblings": siblings}
                self._send(json.dumps(info), body)
            elif path.startswith(start) and path.removeprefix(start) in files:
                self._send((root / path.removeprefix(start)).read_bytes(), body)
            else:
                self.send_error(404)

        def _send(self, content: str | bytes, body: bool) -> None:
            content = content.encode() if isinstance(content, str) else content
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.send_header("ETag", f'"{hashlib.sha256(content).hexdigest()}"')
            self.send_header("X-Repo-Commit", COMMIT)
            self.end_headers()
            if body:
                self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            """Print nothing: tests print enough."""

    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as address:
        yield address


def _commit(root: Path, sent: bytes) -> None:
    """Writes the files of a commit, which comes as lines of JSON."""
    for line in map(json.loads, sent.splitlines()):
        if line["key"] == "file":
            path = root / line["value"]["path"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(base64.b64decode(line["value"]["content"]))


def _entry(path: Path, name: str) -> dict[str, str | int]:
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return {"type": "file", "path": name, "size": path.stat().st_size, "oid": digest[:40]}
