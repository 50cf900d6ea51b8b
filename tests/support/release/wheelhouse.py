"""The wheels that are published, those that they depend on, and environments that have nothing else."""

from __future__ import annotations

import pathlib
import subprocess
import sys
from collections.abc import Iterable
from importlib.metadata import requires

from crossply.xpkg.wheel_writer import write_installed_wheels
from tests.support.paths import ROOT


def run_tool(name: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run one of the programs in tools/."""
    command = [sys.executable, str(ROOT / "tools" / name), *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def build_wheels(directory: pathlib.Path) -> str:
    """Build what is published into a directory; what the tool prints."""
    done = run_tool("build_wheels.py", str(directory))
    assert done.returncode == 0, done.stderr
    return done.stdout


def add_dependencies(directory: pathlib.Path, extras: Iterable[str] = ()) -> None:
    """Write wheels of everything that Crossply depends on, as it is installed here: no index is needed."""
    markers = [f"extra == '{extra}'" for extra in extras]
    requirements = [
        requirement
        for requirement in requires("crossply") or ()
        if "extra ==" not in requirement or any(extra in requirement for extra in markers)
    ]
    write_installed_wheels(requirements, str(directory))


class FreshEnvironment:
    """A virtual environment that has what is installed from a directory of wheels, and nothing else."""

    def __init__(self, directory: pathlib.Path, wheels: pathlib.Path, *requirements: str) -> None:
        self.directory = directory
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(directory)], check=True)
        words = ["-m", "pip", "--python", str(self.bin / "python"), "install", "--no-compile", "--no-index"]
        command = [sys.executable, *words, "--find-links", str(wheels), *requirements]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    @property
    def bin(self) -> pathlib.Path:
        """Where its programs are."""
        return self.directory / "bin"

    @property
    def environ(self) -> dict[str, str]:
        """Variables of a user with nothing but this and the system's programs."""
        home = str(self.directory / "home")
        return {"PATH": f"{self.bin}:/usr/local/bin:/usr/bin:/bin", "HOME": home, "LANG": "C.UTF-8"}
