"""A server for archives that can misbehave and keeps a log, and a tiny set laid out as CIFAR-10 is."""

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from time import sleep
from types import SimpleNamespace

import pooch
import pytest

from hypersphere.datasets.reading import published

from . import miniatures

PATIENCE = 120  # seconds that a test waits for what must come, on however slow a machine


class Server(ThreadingHTTPServer):
    """Serves the files of ``shelf`` at their names; ``log`` lists the paths asked for.

    ``fault`` is '' if it answers well, or a status, or one of:

    wrong byte, half a file: another file, said to be whole;
    closed, stalled: after half of the answer, with the whole length announced.
    Answers come in ten pieces, ``pause`` seconds apart.
    """

    daemon_threads = True

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.patch, self.fault, self.pause = patch, "", 0.0
        self.first: list[str] = []  # faults of the first answers, before ``fault``
        # answers wait for the former
        self.released, self.over = threading.Event(), threading.Event()
        self.released.set()
        self.log: list[str] = []
        self.shelf: dict[str, bytes] = {}

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def publish(self, dataset: str, contents: dict[str, bytes]) -> None:
        """Serve files by name as the published ones of a dataset, at this server's address and with their md5."""
        listed = {
            name: published.File(
                name, f"{self.address}/{name}", "", hashlib.md5(content).hexdigest()
            )
            for name, content in contents.items()
        }
        self.shelf = {**self.shelf, **contents}
        table = {**published.table(), dataset: published.table()[dataset]._replace(files=listed)}
        self.patch.setattr(published, "table", lambda: table)

    def handle_error(self, request: object, client_address: object) -> None:
        """Quiet: clients are killed, and give up."""


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        server, whole = self.server, self.server.shelf[self.path[1:]]
        fault = server.first.pop(0) if server.first else server.fault
        server.log.append(self.path)
        server.released.wait(PATIENCE)
        if fault.isdigit():
            self.send_error(int(fault))
            return
        half = len(whole) // 2
        wrong = {
            "wrong byte": whole[:half] + b"\0" + whole[half + 1 :],
            "half a file": whole[:half],
        }
        whole = wrong.get(fault, whole)
        self.send_response(200)
        self.send_header("Content-Length", str(len(whole)))
        self.end_headers()
        body = whole[:half] if fault in ("closed", "stalled") else whole
        for piece in range(10):
            self.wfile.write(body[piece * len(body) // 10 : (piece + 1) * len(body) // 10])
            sleep(server.pause)
        if fault == "stalled":
            server.over.wait(PATIENCE)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A running server that behaves well; attempts follow one another at once."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    # Between two attempts pooch waits. The module time itself stays: threads of other tests may wait by it.
    monkeypatch.setattr(pooch.core, "time", SimpleNamespace(sleep=lambda seconds: None))
    with Server(monkeypatch) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield running
        running.released.set()
        running.over.set()
        running.shutdown()
        thread.join()


def take_for_published(patch: pytest.MonkeyPatch, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        patch.setitem(published.checksums(), name, hashlib.sha256(content).hexdigest())


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of ``miniatures.CIFAR10``, taken for the official files."""
    folder = miniatures.write(tmp_path / "tiny" / "cifar-10-batches-py", miniatures.CIFAR10)
    take_for_published(monkeypatch, miniatures.below(folder.name, miniatures.CIFAR10))
    return folder
