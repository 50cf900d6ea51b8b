"""The runtime of a function that is a Python project, made without a container engine.

The base image is any image with Python in it. On it come two layers: what the project depends on,
which seldom changes, and the project itself. Their files have an order and times that are always the same.
"""

from __future__ import annotations

import os
import re
import tempfile
import tomllib
from collections.abc import Callable, Iterable
from typing import NamedTuple

from crossply.values import Object
from crossply.xpkg.failures import BuildFailed
from crossply.xpkg.image import Image, Layer, append
from crossply.xpkg.layer_writer import Entry, write_layer
from crossply.xpkg.python_install import Target, compile_sources, install
from crossply.xpkg.runtime_requirements import FUNCTION, Needs

ROOT = "opt/function/site-packages"
"""Where the image has what was installed."""
_PORT = "9443/tcp"
_NOBODY = "2000:2000"
_SCRIPT = re.compile(r"([\w.]+):(\w+)")
_PROGRAMS = (b"#!", b"\x7fELF")
"""What programs begin with; shared libraries begin as they do."""
_UNSTABLE = ("direct_url.json", "REQUESTED", "INSTALLER")
"""Files that say how and from where something was installed: from another directory on every machine."""


class Project(NamedTuple):
    """What a pyproject.toml says about a function."""

    name: str
    module: str
    function: str
    """What to call, which the project offers as a script."""

    @property
    def distribution(self) -> str:
        """Its name in the names of files."""
        return re.sub(r"[-_.]+", "_", self.name).lower()


def read_project(directory: str) -> Project:
    """The project in a directory; its script `function`, or the only one it has, is what runs."""
    path = os.path.join(directory, "pyproject.toml")
    try:
        with open(path, "rb") as file:
            content = tomllib.load(file)
    except OSError as problem:
        raise BuildFailed(f"cannot read {path}: {(problem.strerror or '').lower()}") from None
    except tomllib.TOMLDecodeError as problem:
        raise BuildFailed(f"{path} is not TOML: {problem}") from None
    described = content.get("project") or {}
    scripts = described.get("scripts") or {}
    chosen = scripts.get("function") or next(iter(scripts.values()), "") if _is_clear(scripts) else ""
    match = _SCRIPT.fullmatch(chosen)
    if match is None or not described.get("name"):
        raise BuildFailed(
            f"{path} does not say what to run",
            hint='add a script: [project.scripts] function = "your_module.main:cli"',
        )
    return Project(str(described["name"]), match.group(1), match.group(2))


def _is_clear(scripts: Object) -> bool:
    return "function" in scripts or len(scripts) == 1


def with_project(base: Image, directory: str, python: str = "", serving: Needs = FUNCTION) -> Image:
    """The base image with a project and what it depends on, ready to run it.

    Where the image does not say which version of Python it has, `python` does. `serving` is what the project
    needs of Crossply beside what it imports itself.
    """
    project = read_project(directory)
    with tempfile.TemporaryDirectory(prefix="crossply-python-") as scratch:
        site = os.path.join(scratch, "site")
        target = _target(base, python)
        install(directory, site, target, serving)
        if target.is_ours:
            compile_sources(site, f"/{ROOT}")
        project_files = _own_files(site, project)
        everything = stable_files(site)
        own = [path for path in everything if _source(path) in project_files]
        dependencies = [path for path in everything if _source(path) not in project_files]
        image = _with_layer(base, _entries(site, dependencies, _mode_by_content))
        image = _with_layer(image, _entries(site, own, _mode_on_disk))
    return image._replace(config={**image.config, "config": _runnable(image.inner, project)})


def _target(base: Image, otherwise: str) -> Target:
    """The Python of the base image, to install for."""
    environ = dict(variable.partition("=")[::2] for variable in _environment(base.inner))
    version = ".".join(environ.get("PYTHON_VERSION", otherwise).split(".")[:2])
    return Target(str(base.config.get("architecture") or "amd64"), version)


def _source(path: str) -> str:
    """The file that another one is compiled from, or the file itself."""
    directory, name = os.path.split(path)
    if os.path.basename(directory) != "__pycache__":
        return path
    return os.path.join(os.path.dirname(directory), f"{name.partition('.')[0]}.py")


def _own_files(site: str, project: Project) -> set[str]:
    """The files of the project itself, which its RECORD lists."""
    for name in os.listdir(site):
        if name.endswith(".dist-info") and name.lower().startswith(f"{project.distribution}-"):
            with open(os.path.join(site, name, "RECORD"), encoding="utf-8") as record:
                return {os.path.normpath(line.rsplit(",", 2)[0].strip('"')) for line in record}
    raise BuildFailed(f"pip did not install {project.name}")


def _entries(site: str, paths: Iterable[str], mode_of: Callable[[str, bytes], int]) -> list[Entry]:
    entries = []
    directories: set[str] = set()
    for path in paths:
        full_path = os.path.join(ROOT, path)
        for parent in _parents(full_path):
            if parent not in directories:
                directories.add(parent)
                entries.append(Entry(f"{parent}/", mode=0o755, is_directory=True))
        data = stable_content(site, path)
        entries.append(Entry(full_path, data, mode_of(os.path.join(site, path), data)))
    return entries


def _mode_on_disk(path: str, _data: bytes) -> int:
    return 0o755 if os.stat(path).st_mode & 0o111 else 0o644


def _mode_by_content(path: str, data: bytes) -> int:
    """The mode of a file of a dependency, the same whether that came from an index or from this environment.

    Some wheels of an index mark modules as executable. Wheels made of what is installed here mark nothing.
    """
    is_program = data.startswith(_PROGRAMS) and ".so" not in os.path.basename(path)
    return 0o755 if is_program else 0o644


def _parents(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]


def _with_layer(image: Image, entries: list[Entry]) -> Image:
    if not entries:
        return image
    written = write_layer(entries)
    return append(image, Layer(written.blob), written.diff_id)


def _environment(inner: Object) -> list[str]:
    variables = inner.get("Env")
    return (
        [variable for variable in variables if isinstance(variable, str)]
        if isinstance(variables, list)
        else []
    )


def _runnable(inner: Object, project: Project) -> Object:
    """How to run the image: the function that the project's script calls."""
    code = f"import sys; from {project.module} import {project.function}; sys.exit({project.function}())"
    variables = [variable for variable in _environment(inner) if not variable.startswith("PYTHONPATH=")]
    ports = inner.get("ExposedPorts")
    changed = {
        "Entrypoint": ["python3", "-c", code],
        "Env": [*variables, f"PYTHONPATH=/{ROOT}", "PYTHONDONTWRITEBYTECODE=1"],
        "ExposedPorts": {**(ports if isinstance(ports, dict) else {}), _PORT: {}},
        "User": inner.get("User") or _NOBODY,
    }
    return {key: value for key, value in {**inner, **changed}.items() if key != "Cmd"}


def stable_files(site: str) -> list[str]:
    """All files below a directory that are the same everywhere: relative paths, in order; without scripts."""
    files = []
    for directory, _, names in os.walk(site):
        inside = os.path.relpath(directory, site)
        if inside.split(os.sep)[0] == "bin":
            continue
        files += [os.path.normpath(os.path.join(inside, name)) for name in names if name not in _UNSTABLE]
    return sorted(files)


def stable_content(site: str, path: str) -> bytes:
    """The content of a file; of a RECORD without the files that are left out."""
    with open(os.path.join(site, path), "rb") as file:
        data = file.read()
    if os.path.basename(path) != "RECORD":
        return data
    lines = [line for line in data.splitlines() if not _is_left_out(line)]
    return b"\n".join(sorted(lines)) + b"\n"


def _is_left_out(line: bytes) -> bool:
    path = line.rsplit(b",", 2)[0].decode("utf-8", "replace")
    return os.path.basename(path) in _UNSTABLE or "bin/" in path[:15] or "__pycache__" in path
