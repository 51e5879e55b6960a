"""A folder of DVC objects behind a real sshd or web server on loopback, or behind moto's stand-in for S3."""

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from getpass import getuser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from .one_node_slurm import free_ports
from .released import plant

BUCKET, REGION = "store", "us-east-1"
KEYS = {"access_key_id": "someone", "secret_access_key": "something"}
"""For moto, which accepts any."""


@dataclass(frozen=True)
class Remote:
    """How DVC is told of it, and its objects, by the md5 that is their name, behind DVC's back."""

    settings: dict[str, str]
    read: Callable[[str], bytes]
    write: Callable[[str, bytes], Any]


@contextmanager
def ssh(folder: Path, place: Path) -> Iterator[Remote]:
    """Serve ``folder`` by the system's sshd, to whom a key opens that is made in ``place``."""
    pytest.importorskip("dvc_ssh")
    program = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    if program is None:
        pytest.skip("there is no sshd (apt-get install openssh-server)")
    place.mkdir()
    for name in ("host", "user"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(place / name)]
        subprocess.run(command, check=True)
    port, _ = free_ports()
    (place / "config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nPidFile none\nHostKey {place}/host\n"
        f"AuthorizedKeysFile {place}/user.pub\nStrictModes no\n"
        "PasswordAuthentication no\nUsePAM no\nSubsystem sftp internal-sftp\n"
    )
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)  # sshd asks for it, and only its service makes it
    settings = {
        "url": f"ssh://{getuser()}@127.0.0.1:{port}{folder}",
        "keyfile": str(place / "user"),
    }

    with (place / "server.log").open("w") as log:
        server = subprocess.Popen(
            [program, "-D", "-e", "-f", str(place / "config")], stdout=log, stderr=log
        )
    end = time.monotonic() + 60
    try:
        while not subprocess.run(
            ["ssh-keyscan", "-p", f"{port}", "127.0.0.1"], capture_output=True
        ).stdout:
            if time.monotonic() >= end or server.poll() is not None:
                pytest.fail(f"sshd does not answer: {(place / 'server.log').read_text()}")
            time.sleep(0.1)
        yield _of_folder(folder, settings)
    finally:
        server.terminate()
        server.wait()


class Silent(SimpleHTTPRequestHandler):
    """Hands out files, and writes no log."""

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


@contextmanager
def http(folder: Path, place: Path) -> Iterator[Remote]:
    """Serve ``folder`` by a web server, from which DVC can only pull, as of a release that everybody may read."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Silent, directory=str(folder)))
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield _of_folder(folder, {"url": "http://{}:{}".format(*server.server_address)})
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def s3(folder: Path, place: Path) -> Iterator[Remote]:
    """Serve a copy of ``folder`` by moto's server, which keeps it in memory."""
    for module in ("dvc_s3", "flask_cors"):
        pytest.importorskip(module)
    moto = pytest.importorskip("moto.server")
    import boto3  # where it is not installed, the lines above have skipped the test

    server = moto.ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        address = "http://{}:{}".format(*server.get_host_and_port())
        keys = {f"aws_{name}": key for name, key in KEYS.items()}
        client = boto3.client("s3", endpoint_url=address, region_name=REGION, **keys)
        client.create_bucket(Bucket=BUCKET)
        for path in filter(Path.is_file, folder.rglob("*")):
            client.put_object(
                Bucket=BUCKET, Key=path.relative_to(folder).as_posix(), Body=path.read_bytes()
            )

        yield Remote(
            {"url": f"s3://{BUCKET}", "endpointurl": address, "region": REGION} | KEYS,
            lambda name: client.get_object(Bucket=BUCKET, Key=_key(name))["Body"].read(),
            lambda name, content: client.put_object(Bucket=BUCKET, Key=_key(name), Body=content),
        )
    finally:
        server.stop()


def _of_folder(folder: Path, settings: dict[str, str]) -> Remote:
    """A remote whose objects are files of a folder here."""
    return Remote(
        settings,
        lambda name: (folder / _key(name)).read_bytes(),
        lambda name, content: plant(folder / _key(name), content),
    )


def _key(name: str) -> str:
    """Where DVC puts the object of that md5."""
    return f"files/md5/{name[:2]}/{name[2:]}"


SERVERS = {"ssh": ssh, "s3": s3, "http": http}
