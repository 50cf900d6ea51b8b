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
from crossply.xpkg.crossply_modules import NAME, ROOT, own_files
from crossply.xpkg.runtime_requirements import FUNCTION, PROVIDER, SDK_EXTRAS, SDK_NAME, Needs

_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The first time that a zip archive can hold."""
_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][\w.-]*)")
_OF_THE_INSTALLER = {"RECORD", "INSTALLER", "REQUESTED", "direct_url.json"}
_PURE = "Wheel-Version: 1.0\nGenerator: crossply\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
_PURE_TAG = "py3-none-any"


def write_own_wheel(directory: str, needs: Needs = FUNCTION) -> str:
    """Write a wheel of the running Crossply that has, and requires, only what is needed; its path."""
    metadata = _own_metadata(needs.requirements)
    files = _own_files(NAME, needs.modules, metadata, _own_licenses())
    return _write(directory, NAME, __version__, _PURE_TAG, files)


def write_sdk_wheel(directory: str, metadata: str = "", license_text: bytes = b"") -> str:
    """Write the wheel of `crossply-sdk`: what functions and providers need of the running Crossply; its path.

    `metadata` are lines of METADATA beside the name, the version and the requirements. The license is that
    of the installed Crossply unless its text is given.
    """
    modules = (*FUNCTION.modules, *PROVIDER.modules)
    licenses = {"LICENSE": license_text} if license_text else _own_licenses()
    files = _own_files(SDK_NAME, modules, _sdk_metadata(metadata), licenses)
    return _write(directory, SDK_NAME, __version__, _PURE_TAG, files, zipfile.ZIP_DEFLATED)


def _own_files(
    name: str, modules: Iterable[str], metadata: str, licenses: dict[str, bytes]
) -> dict[str, bytes]:
    files = {f"{NAME}/{path}": _read(os.path.join(ROOT, path)) for path in own_files(modules)}
    info = _info(name, __version__)
    files |= {f"{info}/licenses/{file}": text for file, text in licenses.items()}
    return {**files, f"{info}/METADATA": metadata.encode(), f"{info}/WHEEL": _PURE.encode()}


def write_installed_wheels(
    requirements: Iterable[str], directory: str, own_requirements: Iterable[str] = FUNCTION.requirements
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
        pending += own_requirements if name in (NAME, SDK_NAME) else _write_installed_wheel(name, directory)


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


def _own_metadata(requirements: Iterable[str]) -> str:
    lines = ["Metadata-Version: 2.1", f"Name: {NAME}", f"Version: {__version__}", "License: Apache-2.0"]
    lines += [f"Requires-Dist: {name}" for name in requirements]
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


def _sdk_metadata(lines: str) -> str:
    requirements = [
        f"Requires-Dist: {name}; extra == '{extra}'"
        for extra, needs in SDK_EXTRAS.items()
        for name in needs.requirements
    ]
    extras = [f"Provides-Extra: {extra}" for extra in SDK_EXTRAS]
    head = ["Metadata-Version: 2.4", f"Name: {SDK_NAME}", f"Version: {__version__}"]
    return "\n".join([*head, *extras, *requirements]) + f"\n{lines}"


def _own_licenses() -> dict[str, bytes]:
    """The license files of the installed Crossply by name."""
    try:
        files = distribution(NAME).files or ()
    except PackageNotFoundError:
        return {}
    licenses = [file for file in files if file.parent.name == "licenses" and _is_info(file.parts)]
    return {file.name: _read(str(file.locate())) for file in licenses}


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


def _write(
    directory: str,
    name: str,
    version: str,
    tag: str,
    files: dict[str, bytes],
    compression: int = zipfile.ZIP_STORED,
) -> str:
    """Write a wheel of files and the list of them. One that is read once need not be compressed."""
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
            wheel.writestr(entry, data, compression)
    return target


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()
