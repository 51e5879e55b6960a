"""A folder of DVC objects behind a real sshd on loopback, or behind moto's stand-in for S3."""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from getpass import getuser
from pathlib import Path
from typing import Any

import pytest

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


def _need(*modules: str) -> None:
    """Skip the test, visibly, if a package is not installed."""
    for module in modules:
        pytest.importorskip(module, reason=f"the Python package {module} is not installed")


@contextmanager
def ssh(folder: Path, place: Path) -> Iterator[Remote]:
    """Serve ``folder`` by the system's sshd, to whom a key opens that is made in ``place``."""
    _need("dvc_ssh")
    program = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    if program is None:
        pytest.skip("there is no sshd (apt-get install openssh-server)")
    place.mkdir()
    for name in ("host", "user"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(place / name)]
        subprocess.run(command, check=True)
    port = _free_port()
    (place / "config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nPidFile none\nHostKey {place}/host\n"
        f"AuthorizedKeysFile {place}/user.pub\nStrictModes no\n"
        "PasswordAuthentication no\nUsePAM no\nSubsystem sftp internal-sftp\n"
    )
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)  # sshd asks for it, and only its service makes it
    settings = {"url": f"ssh://{getuser()}@127.0.0.1:{port}{folder}", "keyfile": str(place / "user")}

    with _process(place, port, program, "-D", "-e", "-f", str(place / "config")):
        yield _of_files(settings, folder)


@contextmanager
def s3(folder: Path, place: Path) -> Iterator[Remote]:
    """Serve a copy of ``folder`` by moto's server, which keeps it in memory."""
    _need("dvc_s3", "moto", "flask_cors")
    import boto3  # where it is not installed, the line above has skipped the test

    place.mkdir()
    port = _free_port()
    address = f"http://127.0.0.1:{port}"
    with _process(place, port, sys.executable, "-m", "moto.server", "-p", str(port)):
        client = boto3.client(
            "s3",
            endpoint_url=address,
            region_name=REGION,
            aws_access_key_id=KEYS["access_key_id"],
            aws_secret_access_key=KEYS["secret_access_key"],
        )
        client.create_bucket(Bucket=BUCKET)
        for path in filter(Path.is_file, folder.rglob("*")):
            client.put_object(Bucket=BUCKET, Key=path.relative_to(folder).as_posix(), Body=path.read_bytes())

        yield Remote(
            {"url": f"s3://{BUCKET}", "endpointurl": address, "region": REGION} | KEYS,
            lambda name: client.get_object(Bucket=BUCKET, Key=_key(name))["Body"].read(),
            lambda name, content: client.put_object(Bucket=BUCKET, Key=_key(name), Body=content),
        )


def _key(name: str) -> str:
    """Where DVC puts the object of that md5."""
    return f"files/md5/{name[:2]}/{name[2:]}"


def _of_files(settings: dict[str, str], folder: Path) -> Remote:
    """One whose objects are files of this machine."""
    return Remote(
        settings,
        lambda name: (folder / _key(name)).read_bytes(),
        lambda name, content: plant(folder / _key(name), content),
    )


SERVERS = {"ssh": ssh, "s3": s3}


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def _process(place: Path, port: int, *command: str) -> Iterator[None]:
    """A server, from when it answers on its port until the end of the block."""
    with (place / "server.log").open("w") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        _wait(server, port, place / "server.log")
        yield
    finally:
        server.terminate()
        server.wait()


def _wait(server: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end and server.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.1)
    pytest.fail(f"{server.args!r} does not answer: {log.read_text()}")
