"""A server for archives that can misbehave, and a tiny set laid out as CIFAR-10 is."""

import hashlib
import io
import pickle
import socket
import struct
import tarfile
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from torchvision.datasets import CIFAR10

from hypersphere import files
from hypersphere.datasets import cifar as module

NAMES = ("batches.meta", *(f"data_batch_{i}" for i in range(1, 6)), "test_batch")


class Server(ThreadingHTTPServer):
    """Serves one archive at every path; ``fault`` says how it goes wrong ('' for not at all)."""

    daemon_threads = True
    archive = b""
    fault = ""
    patch: pytest.MonkeyPatch

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/cifar-10-python.tar.gz"

    def offer(self, content: Path | bytes) -> None:
        """Serve ``content`` (a folder is packed first) as the official CIFAR-10 archive, at this server's address."""
        self.archive = content if isinstance(content, bytes) else pack(content)
        self.patch.setattr(module.SETS[10], "url", self.url)
        self.patch.setattr(module.SETS[10], "tgz_md5", hashlib.md5(self.archive).hexdigest())

    def handle_error(self, request: object, client_address: object) -> None:
        """Quiet: torchvision closes its first connection unread (it only follows redirects with it)."""


class Handler(BaseHTTPRequestHandler):
    """One GET."""

    server: Server

    def do_GET(self) -> None:
        archive, fault = self.server.archive, self.server.fault
        half = archive[: len(archive) // 2]
        if fault == "404":
            self.send_error(404)
            return
        body = {"": archive, "wrong byte": half + b"\0" + archive[len(half) + 1 :], "half a file": half}.get(
            fault, half
        )
        self.send_response(200)
        whole = fault in ("cut short", "dropped", "stalled")  # promises more than it sends
        self.send_header("Content-Length", str(len(archive if whole else body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()
        if fault == "dropped":  # a reset, not an orderly close
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
        if fault == "stalled":
            time.sleep(3)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with Server(("127.0.0.1", 0), Handler) as running:
        running.patch = monkeypatch
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def pack(folder: Path) -> bytes:
    """``folder`` as a .tar.gz; stored, not compressed, to be quick."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=0) as tar:
        tar.add(folder, arcname="cifar-10-batches-py")
    return buffer.getvalue()


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Seven pickles in CIFAR-10's format, two images each, taken for the official files by torchvision and by us."""
    folder = tmp_path / "tiny" / "cifar-10-batches-py"
    folder.mkdir(parents=True)
    for number, name in enumerate(NAMES):
        content: dict[str, object] = {"label_names": [f"class {i}" for i in range(10)]}
        if number:
            data = np.random.default_rng(number).integers(0, 256, (2, 3072), dtype=np.uint8)
            content = {"data": data, "labels": [number, number + 1]}
        (folder / name).write_bytes(pickle.dumps(content))
    md5 = {name: hashlib.md5((folder / name).read_bytes()).hexdigest() for name in NAMES}

    class Tiny(CIFAR10):
        train_list = [[name, md5[name]] for name in NAMES[1:6]]  # noqa: RUF012
        test_list = [["test_batch", md5["test_batch"]]]  # noqa: RUF012
        meta = {"filename": "batches.meta", "key": "label_names", "md5": md5["batches.meta"]}  # noqa: RUF012

    monkeypatch.setitem(module.SETS, 10, Tiny)
    monkeypatch.setitem(module.SHA256, 10, {name: files.sha256(folder / name) for name in NAMES})
    return folder
