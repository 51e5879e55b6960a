"""Variables that other programs export: which are foreign, and that processes of ours start again without them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hypersphere import foreign

ROOT = Path(__file__).resolve().parents[2]
OTHERS = {
    "a notebook": ("MPLBACKEND", "UV_SYSTEM_PYTHON"),
    "a module of a cluster": ("PYTHONPATH", "PYTHONHOME", "BASH_ENV", "MKL_CBWR"),
    "pip and uv": (
        "PIP_USER",
        "PIP_TARGET",
        "PIP_PREFIX",
        "UV_PYTHON",
        "UV_TARGET",
        "UV_PROJECT_ENVIRONMENT",
    ),
    "another environment": ("VIRTUAL_ENV", "CONDA_PREFIX"),
    "who looks at numbers": (
        "ATEN_CPU_CAPABILITY",
        "ONEDNN_MAX_CPU_ISA",
        "NVIDIA_TF32_OVERRIDE",
        "OMP_THREAD_LIMIT",
    ),
    "a build of packages": ("SOURCE_DATE_EPOCH", "PYTHONOPTIMIZE"),
    "a hook of git": ("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"),
    "a person's Python": ("PYTHONSTARTUP", "PYTHONINSPECT", "MATPLOTLIBRC", "SNAKEMAKE_PROFILE"),
}
"""Who exports them."""
OWN = (
    *(
        "HOME",
        "PATH",
        "TMPDIR",
        "LANG",
        "TZ",
        "HTTPS_PROXY",
        "SSL_CERT_FILE",
        "CUDA_VISIBLE_DEVICES",
        "SLURM_JOB_ID",
    ),
    # from where, and not to where
    *("PIP_INDEX_URL", "PIP_CERT", "UV_INDEX_URL", "UV_DEFAULT_INDEX", "UV_CACHE_DIR"),
    *(
        "OMP_NUM_THREADS",
        "MKL_NUM_THREADS",
        "PYTHONIOENCODING",
        "PYTHONHASHSEED",
        "GIT_CEILING_DIRECTORIES",
    ),
)


@pytest.mark.parametrize("who", OTHERS)
def test_what_others_export_is_foreign(who: str) -> None:
    assert foreign.names_in(dict.fromkeys(OTHERS[who], "1")) == sorted(OTHERS[who])


def test_what_a_machine_needs_is_not() -> None:
    assert foreign.names_in(dict.fromkeys(OWN, "1")) == []


def test_a_path_by_which_python_finds_this_package_stays() -> None:
    """As in a folder of `pip install --target`: its libraries are there, too."""
    of_package = os.pathsep.join(["/elsewhere", str(foreign.PACKAGE.parent)])
    assert foreign.names_in({"PYTHONPATH": of_package, "PYTHONHOME": "/"}) == ["PYTHONHOME"]
    assert foreign.names_in({"PYTHONPATH": "/elsewhere"}) == ["PYTHONPATH"]


def test_a_library_of_another_python_is_not_imported(tmp_path: Path) -> None:
    for module in ("yaml", "pydantic", "numpy"):
        (tmp_path / f"{module}.py").write_text("raise SystemExit('of another Python')\n")
    given = os.environ | {"PYTHONPATH": str(tmp_path)}
    control = subprocess.run(
        [sys.executable, "-c", "import yaml"], env=given, capture_output=True, text=True
    )
    assert "of another Python" in control.stderr
    command = [
        sys.executable,
        str(ROOT / "src" / "hypersphere"),
        "plan",
        "--folder",
        "--set",
        "scale=laptop",
    ]
    done = subprocess.run(command, cwd=ROOT, env=given, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "results/laptop\n", "")


@pytest.mark.parametrize(
    ("given", "left", "starts"),
    [
        (
            {"MPLBACKEND": "x", "GIT_DIR": "x", "PYTHONHASHSEED": "1"},
            ["GIT_DIR", "PYTHONHASHSEED"],
            2,
        ),
        ({"GIT_DIR": "x"}, ["GIT_DIR"], 1),
        # pip and uv alone read them
        ({"VIRTUAL_ENV": "x", "PIP_USER": "1"}, ["PIP_USER", "VIRTUAL_ENV"], 1),
        ({}, [], 1),
    ],
)
def test_a_process_starts_again_once_in_its_folder_with_its_arguments(
    tmp_path: Path, given: dict[str, str], left: list[str], starts: int
) -> None:
    program = tmp_path / "program.py"
    lines = (
        *(
            "import os, sys",
            f"sys.path.insert(0, {str(ROOT / 'src')!r})",
            "from hypersphere import foreign",
        ),
        *("started = os.getcwd()", "os.chdir('/')", "print('start', flush=True)"),
        *(
            "foreign.start_again(__file__, folder=started, kept={'GIT_DIR'})",
            "print(started, sys.argv[1:])",
        ),
        f"print(sorted({set(given)} & os.environ.keys()))",
    )
    program.write_text("\n".join(lines))
    command = [sys.executable, str(program), "a b", "$c"]
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in foreign.names_in(os.environ)
    } | given
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [*["start"] * starts, f"{tmp_path} ['a b', '$c']", str(left)]
