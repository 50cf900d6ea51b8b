"""Writes wheels of installed packages: of Crossply itself, and of a function's dependencies.

So a function is packaged with the running Crossply, whether or not an index has it, and without an index if
the image has the Python of this machine. The same files give the same bytes.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import os
import re
import zipfile
from collections.abc import Iterable
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from crossply.version import __version__

NAME = "crossply"
SERVING = ("grpcio", "grpcio-health-checking", "grpcio-reflection", "orjson", "protobuf")
"""What a function that is written with the SDK needs to be served. The other dependencies of Crossply are
those of its command line and its controllers, and would make each image a hundred megabytes larger."""
PROVIDER_SERVING = ("aiohttp", "orjson", "PyYAML", "uvloop")
"""What a provider that is written with the provider kit needs to be served."""

_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The first time that a zip archive can hold."""
_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][\w.-]*)")
_OF_THE_INSTALLER = {"RECORD", "INSTALLER", "REQUESTED", "direct_url.json"}
_PURE = "Wheel-Version: 1.0\nGenerator: crossply\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
_PURE_TAG = "py3-none-any"


def write_own_wheel(directory: str, serving: tuple[str, ...] = SERVING) -> str:
    """Write a wheel of the running Crossply that requires only what serving needs; its path."""
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    files = {f"{NAME}/{path}": _read(os.path.join(root, path)) for path in _sources(root)}
    info = _info(NAME, __version__)
    files[f"{info}/METADATA"] = _own_metadata(serving).encode()
    files[f"{info}/WHEEL"] = _PURE.encode()
    files |= _own_licenses(info)
    return _write(directory, NAME, __version__, _PURE_TAG, files)


def write_installed_wheels(
    requirements: Iterable[str], directory: str, serving: tuple[str, ...] = SERVING
) -> None:
    """Write wheels of installed requirements and all their dependencies.

    Those that are not completely installed are left out: editable installs, and packages with changed files.
    """
    pending, done = list(requirements), set()
    while pending:
        name = requirement_name(pending.pop())
        if name in done:
            continue
        done.add(name)
        pending += serving if name == NAME else _write_installed_wheel(name, directory)


def _write_installed_wheel(name: str, directory: str) -> list[str]:
    """Write a wheel of a distribution if it is installed whole; what it depends on."""
    try:
        installed = distribution(name)
    except (PackageNotFoundError, ValueError):
        return []
    files = _installed_files(installed)
    if files is None:
        return []
    info = _info(installed.metadata["Name"], installed.version)
    _write(
        directory, installed.metadata["Name"], installed.version, _tag(files[f"{info}/WHEEL"].decode()), files
    )
    return [requirement for requirement in installed.requires or () if "extra ==" not in requirement]


def wheel_requirements(path: str) -> list[str]:
    """What a wheel depends on."""
    from email.parser import Parser

    with zipfile.ZipFile(path) as wheel:
        [metadata] = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
        return Parser().parsestr(wheel.read(metadata).decode()).get_all("Requires-Dist") or []


def requirement_name(requirement: str) -> str:
    """The normalized name of the distribution that a requirement names; empty where it names none."""
    match = _REQUIREMENT.match(requirement)
    return re.sub(r"[-_.]+", "-", match.group(1)).lower() if match else ""


def _own_metadata(serving: tuple[str, ...]) -> str:
    lines = ["Metadata-Version: 2.1", f"Name: {NAME}", f"Version: {__version__}", "License: Apache-2.0"]
    lines += [f"Requires-Dist: {name}" for name in serving]
    try:
        extras = [
            requirement for requirement in distribution(NAME).requires or () if "extra ==" in requirement
        ]
    except PackageNotFoundError:
        extras = []
    names = {
        match.group(1)
        for requirement in extras
        if (match := re.search(r"extra == ['\"]([\w-]+)", requirement))
    }
    lines += [f"Provides-Extra: {name}" for name in sorted(names)]
    lines += [f"Requires-Dist: {requirement}" for requirement in sorted(extras)]
    return "\n".join(lines) + "\n"


def _own_licenses(info: str) -> dict[str, bytes]:
    try:
        files = distribution(NAME).files or ()
    except PackageNotFoundError:
        return {}
    licenses = [file for file in files if file.parent.name == "licenses" and _is_info(file.parts)]
    return {f"{info}/licenses/{file.name}": _read(str(file.locate())) for file in licenses}


def _sources(root: str) -> Iterable[str]:
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name != "__pycache__"]
        for name in names:
            if not name.endswith(".pyc"):
                yield os.path.relpath(os.path.join(folder, name), root)


def _installed_files(installed: Distribution) -> dict[str, bytes] | None:
    """The files of an installed distribution by their paths in a wheel; None if it is not there whole."""
    info = _info(installed.metadata["Name"], installed.version)
    files: dict[str, bytes] = {}
    for file in installed.files or ():
        if ".." in file.parts or "__pycache__" in file.parts or file.suffix == ".pth":
            continue
        inside = _is_info(file.parts)
        if inside and (file.name in _OF_THE_INSTALLER or file.name.startswith("uv_")):
            continue
        try:
            data = _read(str(file.locate()))
        except OSError:
            return None
        if file.hash is not None and file.hash.value != _digest(data):
            return None
        files["/".join((info, *file.parts[1:])) if inside else file.as_posix()] = data
    is_complete = f"{info}/WHEEL" in files and any(not path.startswith(f"{info}/") for path in files)
    return files if is_complete else None


def _is_info(parts: tuple[str, ...]) -> bool:
    return parts[0].endswith(".dist-info")


def _tag(wheel: str) -> str:
    """The tags of a WHEEL file as the name of a wheel has them."""
    tags = [line.split(":", 1)[1].strip().split("-") for line in wheel.splitlines() if line[:4] == "Tag:"]
    columns = zip(*tags, strict=True)
    return "-".join(".".join(dict.fromkeys(column)) for column in columns) or _PURE_TAG


def _info(name: str, version: str) -> str:
    return f"{_escaped(name)}-{version}.dist-info"


def _escaped(name: str) -> str:
    return re.sub(r"[-_.]+", "_", name).lower()


def _write(directory: str, name: str, version: str, tag: str, files: dict[str, bytes]) -> str:
    """Write a wheel of files and the list of them; it is not compressed, since it is read once."""
    rows: list[tuple[str, str, int | str]] = [
        (path, f"sha256={_digest(data)}", len(data)) for path, data in sorted(files.items())
    ]
    record = f"{_info(name, version)}/RECORD"
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([*rows, (record, "", "")])
    target = os.path.join(directory, f"{_escaped(name)}-{version}-{tag}.whl")
    with zipfile.ZipFile(target, "w") as wheel:
        for path, data in [*sorted(files.items()), (record, text.getvalue().encode())]:
            entry = zipfile.ZipInfo(path, _EPOCH)
            entry.external_attr = 0o100644 << 16
            wheel.writestr(entry, data)
    return target


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()
