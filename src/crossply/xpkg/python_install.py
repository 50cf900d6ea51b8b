"""Installs a project and its dependencies with pip into a directory, for the Python of an image."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import tomllib
from typing import NamedTuple

from crossply.xpkg.failures import BuildFailed
from crossply.xpkg.runtime_requirements import FUNCTION, SDK_NAME, Needs, needs_of, sources_of_wheels
from crossply.xpkg.wheel_writer import (
    wheel_requirements,
    write_installed_wheels,
    write_own_wheel,
    write_sdk_wheel,
)

_PLATFORMS = {"amd64": "x86_64", "arm64": "aarch64"}
_SDK = re.compile(rf"{SDK_NAME}(\[[^]]*\])?", re.IGNORECASE)
_MANYLINUX = ("manylinux_2_28", "manylinux_2_17", "manylinux2014")


class PipFailed(BuildFailed):
    """pip could not install a project or what it depends on."""

    code = "CP-911"
    hint = (
        "pip takes what is installed here and fits the Python of the image, and the rest from an index "
        "(PIP_INDEX_URL) or a directory of wheels (PIP_FIND_LINKS); without either, the image must have the "
        "version of Python that Crossply runs on"
    )


class Target(NamedTuple):
    """The Python that something is installed for; without a version it is the one we run on."""

    architecture: str
    version: str = ""

    @property
    def is_ours(self) -> bool:
        """Whether it is the Python that we run on."""
        return self.version in ("", f"{sys.version_info.major}.{sys.version_info.minor}")

    @property
    def is_here(self) -> bool:
        """Whether packages for the running Python fit, including compiled ones."""
        machine = _PLATFORMS.get(self.architecture, self.architecture)
        return self.is_ours and machine == platform.machine()

    def __str__(self) -> str:
        version = self.version or f"{sys.version_info.major}.{sys.version_info.minor}"
        return f"Python {version} on {self.architecture}"

    @property
    def flags(self) -> list[str]:
        """What pip must know to choose what fits."""
        if not self.version:
            return []
        machine = _PLATFORMS.get(self.architecture, self.architecture)
        platforms = [f"--platform={name}_{machine}" for name in _MANYLINUX]
        return ["--only-binary=:all:", "--implementation=cp", f"--python-version={self.version}", *platforms]


def install(project: str, site: str, target: Target, serving: Needs = FUNCTION) -> None:
    """Install a project into a directory. A wheel is made of it first: only wheels fit any Python.

    Crossply is the one that runs, with the modules and the requirements that `serving` names and that the
    project imports. What else the project depends on is taken from here if all of it is installed and fits
    the target: so it is what the project was tried with, and no index is needed.
    """
    built, local = f"{site}-wheels", f"{site}-local"
    _pip(["wheel", "--no-deps", *_isolation(project), f"--wheel-dir={built}", project])
    wheels = [os.path.join(built, name) for name in sorted(os.listdir(built))]
    os.mkdir(local)
    needs, requirements = needs_of(sources_of_wheels(wheels), serving), _requirements(wheels)
    write_installed_wheels(requirements, local, needs.requirements)
    words = ["install", "--no-compile", f"--target={site}", *target.flags, f"--find-links={local}"]
    words += [*wheels, *_own_wheels(local, needs, requirements)]
    if target.is_here:
        try:
            _pip([*words, "--no-index"])
        except PipFailed:
            pass
        else:
            return
    try:
        _pip(words)
    except PipFailed as problem:
        raise PipFailed(f"{problem} (for {target})") from None


def _own_wheels(directory: str, needs: Needs, requirements: list[str]) -> list[str]:
    """What has pip take the wheels of the running Crossply, which are written into a directory.

    An index may have another Crossply, or an unrelated project of the name.
    """
    from pathlib import Path

    constraints = os.path.join(directory, "constraints.txt")
    with open(constraints, "w", encoding="utf-8") as file:
        file.write(f"crossply @ {Path(write_own_wheel(directory, needs)).as_uri()}\n")
    place = Path(write_sdk_wheel(directory)).as_uri()
    # pip applies a constraint that has a place to no requirement with extras, so those are requirements.
    names = [match.group() for requirement in requirements if (match := _SDK.match(requirement))]
    return [f"--constraint={constraints}", *(f"{name} @ {place}" for name in names)]


def _requirements(wheels: list[str]) -> list[str]:
    return [requirement for wheel in wheels for requirement in wheel_requirements(wheel)]


def _isolation(project: str) -> list[str]:
    """Without an environment of its own for the build, where all that it requires is installed here.

    A requirement with a version is left to pip.
    """
    from importlib.metadata import PackageNotFoundError, distribution

    with open(os.path.join(project, "pyproject.toml"), "rb") as file:
        system = tomllib.load(file).get("build-system") or {}
    required = system.get("requires")
    try:
        if isinstance(required, list) and all(distribution(str(name)) for name in required):
            return ["--no-build-isolation"] if required else []
    except (PackageNotFoundError, ValueError):
        return []
    return []


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
    command = [*_pip_program(), "--quiet", "--disable-pip-version-check", *words]
    environ = {**os.environ, "SOURCE_DATE_EPOCH": os.environ.get("SOURCE_DATE_EPOCH", "1580601600")}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        errors = [line for line in lines if line.startswith("ERROR")]
        sentence = (errors or lines or ["unknown error"])[-1]
        raise PipFailed(f"pip {words[0]} failed: {sentence.removeprefix('ERROR: ')}")


def _pip_program() -> list[str]:
    """pip of this environment, or else the one that comes with Python for new environments."""
    from importlib.util import find_spec

    if find_spec("pip"):
        # -P: modules of the working directory do not stand in for those of pip.
        return [sys.executable, "-P", "-m", "pip"]
    bundled = find_spec("ensurepip")
    folder = os.path.join(os.path.dirname((bundled and bundled.origin) or ""), "_bundled")
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        if name.startswith("pip-") and name.endswith(".whl"):
            return [sys.executable, "-P", os.path.join(folder, name, "pip")]
    raise PipFailed("pip is not installed", hint="install it beside Crossply, as with: uv pip install pip")
