"""Processes that start in milliseconds: a server imports slow modules once, and forks a child for each command.

Importing torch or Snakemake takes seconds. The children are real processes: they have an environment, a working folder
and arguments of their own, and take signals. None of the server's modules may be of the package under test, unless the
child is to run this very checkout: a child keeps what the server imported.

Commands that start Python themselves, as Snakemake does for each job, start fast too: in a child, ``sys.executable`` is
a stand-in for Python, a program that hands its arguments, environment and open files to the server, waits, and ends as
the child ends. A child is killed when the program that asked for it is gone.

As a script it is the server: ``python preloaded.py SOCKET MODULE ...``. Each connection sends one command (`_ask`), and
is answered with the child's process number and, once that has ended, its exit status (negative: the signal that killed
it).
"""

import contextlib
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TextIO

STAND_IN = """#!{python} -SI
import os, sys
sys.path.insert(0, {folder!r})
import preloaded
arguments = sys.argv[1:]
if arguments[:1] != ["-m"] and not (arguments and os.path.exists(arguments[0])):  # `-c CODE`, say
    os.execv({python!r}, [{python!r}, *arguments])
preloaded.stand_in({socket!r}, arguments)
"""


class Server:
    """Runs one Python command at a time for this process, and any number for the commands' own processes."""

    def __init__(self, *modules: str) -> None:
        self._folder = tempfile.mkdtemp(prefix="hypersphere-server-")
        self._socket = f"{self._folder}/socket"
        command = [sys.executable, __file__, self._socket, *modules]
        self._server = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._server.stdout is not None
        self._server.stdout.readline()  # it listens
        self.python = f"{self._folder}/python"
        """The stand-in for Python."""

    def run(
        self, arguments: Sequence[str], folder: Path, environment: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str]:
        """Run ``python ARGUMENTS``, which are ``-m MODULE ...`` or ``PATH ...``, to its end.

        ``environment`` is all that it has.
        """
        said = [Path(self._folder, name) for name in ("output", "errors")]
        with open(os.devnull) as nothing, said[0].open("w") as output, said[1].open("w") as errors:
            files = [file.fileno() for file in (nothing, output, errors)]
            answers = _ask(self._socket, arguments, str(folder), environment, files)
        with answers:
            _, status = (int(answers.readline()) for _ in range(2))
        return subprocess.CompletedProcess(
            list(arguments), status, *(path.read_text() for path in said)
        )

    def close(self) -> None:
        """End the server."""
        self._server.communicate(timeout=60)
        shutil.rmtree(self._folder)


def _ask(
    path: str,
    arguments: Sequence[str],
    folder: str,
    environment: Mapping[str, str],
    files: list[int],
) -> TextIO:
    """Send a command, with its standard files, to the server; what it answers."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        request = json.dumps([list(arguments), folder, dict(environment)]).encode()
        socket.send_fds(connection, [len(request).to_bytes(8, "little")], files)
        connection.sendall(request)
        return connection.makefile(encoding="ascii")


def stand_in(path: str, arguments: list[str]) -> None:
    """Be ``python ARGUMENTS`` for whoever started this process."""
    answers = _ask(path, arguments, os.getcwd(), os.environ, [0, 1, 2])
    child = int(answers.readline())
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, _: os.kill(child, number))
    status = int(answers.readline())
    if status < 0:
        if -status != signal.SIGKILL:  # which has no handler to take away
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


def _run(
    arguments: list[str], folder: str, environment: dict[str, str], files: list[int], python: str
) -> None:
    """Be ``python ARGUMENTS``, a child, from its first line to its exit status."""
    import runpy
    import traceback

    status = 1
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for number, file in enumerate(files):
            os.dup2(file, number)
            os.close(file)
        os.environ.clear()
        os.environ.update(environment)
        os.chdir(folder)
        sys.executable, module = python, arguments[0] == "-m"
        sys.argv = arguments[module:]
        if module:
            sys.path[0] = folder
            runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(arguments[0], run_name="__main__")
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _handle(connection: socket.socket, python: str) -> None:
    """Fork a child for a connection's command, and kill it if the connection breaks before it ends."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    start, files, _, _ = socket.recv_fds(connection, 8, 3)
    with connection.makefile("rb") as body:
        request = json.loads(body.read(int.from_bytes(start, "little")))
    # the child alone keeps `ended` open, so that its end is seen beside the connection's
    end, ended = os.pipe()
    child = os.fork()
    if child == 0:
        connection.close()
        os.close(end)
        _run(*request, files, python)
    os.close(ended)
    connection.sendall(f"{child}\n".encode())
    if connection in select.select([connection, end], [], [])[0]:
        os.kill(child, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with contextlib.suppress(BrokenPipeError):
        connection.sendall(f"{status}\n".encode())


def _serve(path: str, *modules: str) -> None:
    import importlib

    for module in modules:
        importlib.import_module(module)
    python = Path(path).with_name("python")
    folder = str(Path(__file__).parent)
    python.write_text(STAND_IN.format(python=sys.executable, folder=folder, socket=path))
    python.chmod(0o755)
    # no one waits for the processes that handle connections
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(path)
    listening.listen()
    print("listening", flush=True)
    while sys.stdin not in select.select([sys.stdin, listening], [], [])[0]:
        connection = listening.accept()[0]
        if os.fork() == 0:
            listening.close()
            _handle(connection, str(python))
            os._exit(0)
        connection.close()


if __name__ == "__main__":
    _serve(*sys.argv[1:])
