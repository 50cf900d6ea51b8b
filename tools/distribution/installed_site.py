"""What the image adds to its base: an environment with Crossply, made by the Python of the base."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator
from importlib.util import find_spec

from crossply.xpkg.layer_writer import Entry
from crossply.xpkg.python_project_image import stable_content, stable_files
from distribution.base_image import parents
from distribution.paths import ROOT
from distribution.target_python import TargetPython

VENV = "opt/crossply"
REQUIREMENTS = os.path.join(ROOT, "requirements", "image.txt")
"""The product's dependencies, those of tracing and of KCL, pinned by hash."""
_MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}
_MANYLINUX = ("manylinux_2_39", "manylinux_2_34", "manylinux_2_28", "manylinux_2_17", "manylinux2014")
_SCRIPT = """\
#!/{venv}/bin/python3
import sys
from crossply.cli.main import entry
sys.exit(entry())
"""


def install(python: TargetPython, architecture: str, wheel: str, site: str) -> None:
    """Install the pinned dependencies and the wheel of Crossply into a directory."""
    machine = _MACHINES[architecture]
    platforms = [f"--platform={name}_{machine}" for name in _MANYLINUX]
    fitting = ["--only-binary=:all:", "--implementation=cp", f"--python-version={python.minor}", *platforms]
    _pip(python, *fitting, f"--target={site}", "--no-deps", "--require-hashes", "-r", REQUIREMENTS)
    _pip(python, *fitting, f"--target={site}", "--no-deps", "--no-index", wheel)


def _pip(python: TargetPython, *words: str) -> None:
    """Run the pip of this machine by the Python of the base: so markers of requirements mean the base."""
    spec = find_spec("pip")
    if spec is None or spec.origin is None:
        raise SystemExit("pip is not installed")
    flags = ("install", "--quiet", "--disable-pip-version-check", "--no-compile", "--no-input")
    python.run(os.path.dirname(spec.origin), *flags, *words)


def compile_sources(python: TargetPython, directory: str, place: str) -> None:
    """Compile what is in a directory as if it were at a place in the image.

    Bytecode names the hash of its source and not its time: the same sources give the same bytes.
    """
    flags = ("-q", "-f", "--invalidation-mode", "unchecked-hash", "-s", directory, "-p", f"/{place}")
    python.run("-m", "compileall", *flags, directory)


def environment(python: TargetPython) -> Iterator[Entry]:
    """The files of a virtual environment, without what is installed into it."""
    home = os.path.dirname(python.path)
    config = f"home = {home}\ninclude-system-site-packages = false\nversion = {python.version}\n"
    yield Entry(f"{VENV}/pyvenv.cfg", config.encode())
    yield Entry(f"{VENV}/bin/python3", mode=0o777, link=python.path)
    yield Entry(f"{VENV}/bin/python", mode=0o777, link="python3")
    yield Entry(f"{VENV}/bin/crossply", _SCRIPT.format(venv=VENV).encode(), 0o755)


def site_packages(python: TargetPython) -> str:
    """Where the environment has what is installed."""
    return f"{VENV}/lib/python{python.minor}/site-packages"


def installed(site: str, place: str) -> Iterator[Entry]:
    """What is installed in a directory, as files at a place in the image."""
    for path in stable_files(site):
        mode = 0o755 if os.stat(os.path.join(site, path)).st_mode & 0o111 else 0o644
        yield Entry(f"{place}/{path}", stable_content(site, path), mode)


def bytecode(directory: str, place: str) -> Iterator[Entry]:
    """The compiled modules in a directory, as files at a place in the image."""
    for path in sorted(glob.glob("**/__pycache__/*.pyc", root_dir=directory, recursive=True)):
        with open(os.path.join(directory, path), "rb") as file:
            yield Entry(f"{place}/{path}", file.read())


def with_parents(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Entries in order, each after the directories that it is in."""
    yielded: set[str] = set()
    for entry in sorted(entries):
        for parent in parents(entry.name):
            if parent not in yielded:
                yielded.add(parent)
                yield Entry(parent, mode=0o755, is_directory=True)
        yield entry
