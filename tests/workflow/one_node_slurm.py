"""A real Slurm of one node and two pretended GPUs, for tests: its daemons are started here, and stopped again.

It needs Debian's slurm-wlm and munge, and root, because slurmd runs jobs as those who submitted them. Its configuration
has to be in /etc/slurm: job steps read it there. A machine that has a Slurm of its own is left alone.
"""

import fcntl
import os
import platform
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

ETC = Path("/etc/slurm")
OURS = "# One node with two pretended GPUs, written by hypersphere's tests\n"
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "scancel")
PATIENCE = 60.0
CLUSTER = "hypersphere_tests"
"""Its name, which every process of a job has in its environment."""
GPUS = ("/dev/null", "/dev/zero")
"""Device files that pose as GPUs: each needs one of its own."""
SHARDS = 2 * len(GPUS)
"""Jobs that can share the GPUs, where each asks for a shard."""

SLURM_CONF = Path(__file__).with_name("slurm.conf")


class NotStartedError(RuntimeError):
    """The programs are there, but this machine does not let them work."""


def why_not() -> str:
    """Why there can be no Slurm here; empty if there can."""
    missing = [name for name in PROGRAMS if _found(name) is None]
    if missing:
        return f"there is no {', '.join(missing)} (apt install slurm-wlm munge)"
    if os.getuid() != 0:
        return "Slurm's daemons need root"
    conf = ETC / "slurm.conf"
    if conf.exists() and not conf.read_text().startswith(OURS):
        return f"{conf}: this machine has a Slurm of its own"
    return ""


@contextmanager
def started(folder: Path) -> Iterator[None]:
    """Run Slurm while the block runs; its state and logs are in ``folder``, which must not exist yet.

    There is one at a time: another process that asks for one waits.
    """
    host = _host()
    controller, daemon = free_ports()
    for name in ("state", "spool"):
        (folder / name).mkdir(parents=True)
    values = {
        "cluster": CLUSTER,
        "host": host,
        "controller": controller,
        "daemon": daemon,
        "folder": folder,
    }
    gpus = "".join(f"Name=gpu Type=fake File={file}\n" for file in GPUS)
    shards = f"Name=shard Count={SHARDS}\n"
    written = {
        "slurm.conf": SLURM_CONF.read_text().format(**values, gpus=len(GPUS), shards=SHARDS),
        "gres.conf": gpus + shards,
        "cgroup.conf": "",
    }
    alone = os.open(ETC, os.O_RDONLY)
    try:
        fcntl.flock(alone, fcntl.LOCK_EX)
        for name, text in written.items():
            (ETC / name).write_text(OURS + text)
        with (
            _munge(folder),
            _daemon(folder, "slurmctld", "-D", "-c"),
            _daemon(folder, "slurmd", "-D", "-N", host),
        ):
            _wait_for(_takes_jobs, "the node does not come up")
            try:
                yield
            finally:
                _cancel_all()
    finally:
        for name in written:
            (ETC / name).unlink(missing_ok=True)
        os.close(alone)


def ask(*command: str) -> str:
    """What one of Slurm's commands says; it must succeed."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stdout}{done.stderr}"
    return done.stdout


def lose_node() -> None:
    """Declare the node down, with the jobs on it. Its slurmd lives, so that it is soon back."""
    ask("scontrol", "update", f"nodename={_host()}", "state=down", "reason=test")


def _found(program: str) -> str | None:
    """Where a program lies; daemons lie in folders that PATH may lack."""
    return shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")


def _host() -> str:
    return platform.node().partition(".")[0]


def _wait_for(condition: Callable[[], object], failure: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() >= deadline:
            raise NotStartedError(failure)
        time.sleep(0.1)


def _takes_jobs() -> bool:
    asked = subprocess.run(
        ["sinfo", "--noheader", "--format=%T"], capture_output=True, text=True, check=False
    )
    return asked.stdout.startswith(("idle", "mixed", "allocated"))


def _cancel_all() -> None:
    """End what is still queued or running, so that no job outlives its daemons."""
    ask("scancel", "--user=root")
    with suppress(NotStartedError):
        _wait_for(lambda: not ask("squeue", "--noheader"), "jobs do not end")
    # linuxproc loses sight of a process whose parent has ended.
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended, too
            if f"SLURM_CLUSTER_NAME={CLUSTER}".encode() in (process / "environ").read_bytes().split(
                b"\0"
            ):
                os.kill(int(process.name), signal.SIGKILL)


def free_ports() -> list[int]:
    """Two ports that nothing listens on."""
    with socket.socket() as first, socket.socket() as second:
        for one in (first, second):
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in (first, second)]


@contextmanager
def _munge(folder: Path) -> Iterator[None]:
    """Run munged with a key and a socket of its own."""
    key = folder / "munge.key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o600)
    files = {"key-file": key, "socket": folder / "munge.socket", "pid-file": folder / "munged.pid"}
    files |= {"log-file": folder / "munged.log", "seed-file": folder / "munged.seed"}
    # --force: the folder may be one that others write to, such as a test's under /tmp.
    with _daemon(
        folder,
        "munged",
        "--foreground",
        "--force",
        *(f"--{name}={path}" for name, path in files.items()),
    ):
        _wait_for(files["socket"].exists, "munged does not listen")
        yield


@contextmanager
def _daemon(folder: Path, *command: str) -> Iterator[None]:
    """Run a daemon in the foreground, as a child of this process; its log says why it ended."""
    with (folder / f"{command[0]}.out").open("w") as said:
        found = _found(command[0]) or command[0]
        process = subprocess.Popen(
            [found, *command[1:]], stdin=subprocess.DEVNULL, stdout=said, stderr=said
        )
    try:
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=PATIENCE)
        process.kill()
        process.wait()
