"""Having pip install a project and what it depends on into a directory, for the Python of an image."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import NamedTuple

from crossply.packages.failures import BuildFailed

_PLATFORMS = {"amd64": "x86_64", "arm64": "aarch64"}
_MANYLINUX = ("manylinux_2_28", "manylinux_2_17", "manylinux2014")


class PipFailed(BuildFailed):
    """pip could not install a project or what it depends on."""

    code = "CP-911"
    hint = "try the same with: pip install --target somewhere ."


class Target(NamedTuple):
    """The Python that something is installed for; without a version it is the one we run on."""

    architecture: str
    version: str = ""

    @property
    def is_ours(self) -> bool:
        """Whether it is the Python that we run on."""
        return self.version in ("", f"{sys.version_info.major}.{sys.version_info.minor}")

    @property
    def flags(self) -> list[str]:
        """What pip must know to choose what fits."""
        if not self.version:
            return []
        machine = _PLATFORMS.get(self.architecture, self.architecture)
        platforms = [f"--platform={name}_{machine}" for name in _MANYLINUX]
        return ["--only-binary=:all:", "--implementation=cp", f"--python-version={self.version}", *platforms]


def install(project: str, site: str, target: Target) -> None:
    """Install a project into a directory. A wheel is made of it first: only wheels fit any Python."""
    wheels = f"{site}-wheels"
    _pip(["wheel", "--no-deps", f"--wheel-dir={wheels}", project])
    made = [os.path.join(wheels, name) for name in sorted(os.listdir(wheels))]
    _pip(["install", "--no-compile", f"--target={site}", *target.flags, *made])


def compile_sources(site: str, root: str) -> None:
    """Compile what was installed, as if it were in another directory, so that it need not be at each start.

    What is compiled names the hash of its source, and says nothing of when and where it was made: the same
    sources give the same bytes. Sources that are not for this Python are left as they are.
    """
    words = [
        "-P",
        "-m",
        "compileall",
        "-q",
        "-f",
        "--invalidation-mode",
        "unchecked-hash",
        "-s",
        site,
        "-p",
        root,
        site,
    ]
    environ = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": ""}
    subprocess.run([sys.executable, *words], env=environ, capture_output=True, check=False)


def _pip(words: list[str]) -> None:
    # -P: modules of the working directory do not stand in for those of pip.
    command = [sys.executable, "-P", "-m", "pip", "--quiet", "--disable-pip-version-check", *words]
    environ = {**os.environ, "SOURCE_DATE_EPOCH": os.environ.get("SOURCE_DATE_EPOCH", "1580601600")}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    if done.returncode:
        told = [line for line in done.stderr.strip().splitlines() if line.startswith("ERROR")]
        sentence = (told or done.stderr.strip().splitlines() or ["unknown error"])[-1]
        raise PipFailed(f"pip {words[0]} failed: {sentence.removeprefix('ERROR: ')}")
