"""Processes that start in milliseconds: a server imports slow modules once, and forks a child for each command.

Importing torch or Snakemake takes seconds. The children are real processes: they have an environment, a working folder
and arguments of their own, and take signals. None of the server's modules may be of the package under test, unless the
child is to run this very checkout: a child keeps what the server imported.

As a script it is the server: ``python preloaded.py MODULE ...`` reads a line of JSON for each command, and answers with
the child's process number, and once that has ended with its exit status (negative: the signal that killed it).
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path


class Server:
    """Runs one Python command at a time."""

    def __init__(self, *modules: str) -> None:
        command = [sys.executable, __file__, *modules]
        self._server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def start(self, arguments: Sequence[str], folder: Path, environment: Mapping[str, str], log: Path) -> int:
        """Run ``python ARGUMENTS`` and return its process number.

        Args:
            arguments: ``-m MODULE ...`` or ``PATH ...``.
            folder: where it runs.
            environment: all of its environment.
            log: file that gets its standard output; ``log`` with ``.err`` appended gets its standard error.
        """
        request = json.dumps([list(arguments), str(folder), dict(environment), str(log)])
        assert self._server.stdin is not None
        self._server.stdin.write(f"{request}\n")
        self._server.stdin.flush()
        return self._answer()

    def wait(self) -> int:
        """Wait for the command that was started, and return its exit status."""
        return self._answer()

    def run(
        self, arguments: Sequence[str], folder: Path, environment: Mapping[str, str], log: Path
    ) -> subprocess.CompletedProcess[str]:
        """Run ``python ARGUMENTS`` to its end."""
        self.start(arguments, folder, environment, log)
        status = self.wait()
        output, errors = log.read_text(), Path(f"{log}.err").read_text()
        return subprocess.CompletedProcess(list(arguments), status, output, errors)

    def _answer(self) -> int:
        assert self._server.stdout is not None
        return int(self._server.stdout.readline())

    def close(self) -> None:
        """End the server."""
        self._server.communicate(timeout=60)


def _become(arguments: list[str], folder: str, environment: dict[str, str], log: str) -> None:
    """Turn this process into ``python ARGUMENTS``."""
    import runpy
    import signal

    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, path in ((1, log), (2, f"{log}.err")):
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, number)
        os.close(file)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    if arguments[0] == "-m":
        sys.path[0] = folder
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        runpy.run_path(arguments[0], run_name="__main__")


def _serve() -> None:
    import importlib
    import traceback

    for module in sys.argv[1:]:
        importlib.import_module(module)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                _become(*json.loads(line))
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
        print(child, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    _serve()
