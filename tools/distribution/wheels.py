"""Builds the source archive and the wheels of `crossply`, and the wheel of `crossply-sdk`."""

from __future__ import annotations

import email
import email.message
import hashlib
import os
import subprocess
import sys
import tarfile
import zipfile

from distribution.paths import ROOT

_SDK_SUMMARY = (
    "What composition functions and providers need of Crossply: the function SDK and the provider kit."
)
_SDK_README = os.path.join(os.path.dirname(__file__), "sdk_readme.md")
_SHARED = ("Author", "License-Expression", "License-File", "Keywords", "Classifier", "Requires-Python")
_WRITE_SDK = """\
import pathlib, sys
from crossply.xpkg.wheel_writer import write_sdk_wheel
directory, metadata, license_file = sys.argv[1:]
write_sdk_wheel(directory, pathlib.Path(metadata).read_text(), pathlib.Path(license_file).read_bytes())
"""


def build_source(directory: str, date: int, source: str = ROOT) -> str:
    """Build the source archive from a directory of sources; its path."""
    _hatchling("sdist", directory, date, source)
    return only(directory, "crossply-*.tar.gz")


def build_wheels(directory: str, date: int, source: str = ROOT) -> list[str]:
    """Build both wheels from a directory of sources; their paths."""
    _hatchling("wheel", directory, date, source)
    wheel = only(directory, "crossply-*.whl")
    with open(os.path.join(directory, "sdk-metadata"), "w", encoding="utf-8") as file:
        file.write(sdk_metadata(wheel))
    # The Crossply of these sources writes the wheel of itself.
    environ = {**os.environ, "PYTHONPATH": os.path.join(source, "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    words = [sys.executable, "-P", "-c", _WRITE_SDK, directory, file.name, os.path.join(source, "LICENSE")]
    subprocess.run(words, env=environ, check=True)
    os.unlink(file.name)
    return [wheel, only(directory, "crossply_sdk-*.whl")]


def _hatchling(target: str, directory: str, date: int, source: str) -> None:
    os.makedirs(directory, exist_ok=True)
    environ = {**os.environ, "SOURCE_DATE_EPOCH": str(date)}
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", directory]
    done = subprocess.run(command, cwd=source, env=environ, check=False, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"hatchling cannot build the {target}:\n{done.stderr}")


def only(directory: str, pattern: str) -> str:
    """The one file in a directory that matches a pattern."""
    import glob

    [path] = glob.glob(os.path.join(directory, pattern))
    return path


def sdk_metadata(wheel: str) -> str:
    """The lines of METADATA that the SDK takes from the wheel of `crossply`, its summary and its text."""
    metadata = metadata_of(wheel)
    lines = [f"Summary: {_SDK_SUMMARY}"]
    for name in (*_SHARED, "Project-URL"):
        lines += [f"{name}: {value}" for value in metadata.get_all(name) or ()]
    with open(_SDK_README, encoding="utf-8") as file:
        return "\n".join([*lines, "Description-Content-Type: text/markdown", "", file.read()])


def metadata_of(wheel: str) -> email.message.Message:
    """The METADATA of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        return email.message_from_bytes(archive.read(name))


def unpack_source(archive: str, directory: str) -> str:
    """Unpack a source archive; the directory of the sources."""
    with tarfile.open(archive) as tar:
        tar.extractall(directory, filter="data")
    [name] = os.listdir(directory)
    return os.path.join(directory, name)


def digest(path: str) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
