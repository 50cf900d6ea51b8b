"""What a package needs around it, without the internet: an image with Python, and an index of wheels."""

from __future__ import annotations

import base64
import csv
import gzip
import hashlib
import io
import os
import platform
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from tests.functions.container_image import add_interpreter

from crossply.packages.blobs import digest_of, in_memory
from crossply.packages.image import EMPTY, Image, Layer

ROOT = Path(__file__).parents[2]
SERVING = ("grpcio", "grpcio-health-checking", "grpcio-reflection", "protobuf", "typing-extensions")
"""What a function needs to be served. Of all else that Crossply depends on, the index has an empty wheel:
nobody imports it, and a hundred megabytes more would take minutes."""


def index(directory: Path) -> dict[str, str]:
    """Wheels of Crossply and of what it depends on; gives what makes pip look for them, and nowhere else."""
    wheel = ["pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(directory), str(ROOT)]
    subprocess.run([sys.executable, "-m", *wheel], check=True)
    with open(ROOT / "pyproject.toml", "rb") as project:
        direct = tomllib.load(project)["project"]["dependencies"]
    for name in _needed(direct):
        _wheel(distribution(name), directory, whole=name in SERVING)
    return {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(directory), "PIP_NO_BUILD_ISOLATION": "0"}


def _needed(direct: list[str]) -> set[str]:
    """The names of distributions and of all that they depend on here."""
    found: set[str] = set()
    pending = list(direct)
    while pending:
        current = re.split(r"[^\w.-]", pending.pop(), maxsplit=1)[0]
        current = re.sub(r"[-_.]+", "-", current).lower()
        if current in found:
            continue
        try:
            wanted = distribution(current).requires or ()
        except PackageNotFoundError:
            continue  # on another Python it would be wanted
        found.add(current)
        pending += [each for each in wanted if "extra ==" not in each]
    return found


def _wheel(installed: Distribution, directory: Path, *, whole: bool) -> None:
    """A wheel of what is installed."""
    name = re.sub(r"[-_.]+", "_", installed.metadata["Name"])
    files = [file for file in installed.files or () if not {"..", "__pycache__"} & set(file.parts)]
    tags = re.findall(r"^Tag: (\S+)$", installed.read_text("WHEEL") or "", re.M)
    tag = tags[-1] if whole else "py3-none-any"
    info = f"{name}-{installed.version}.dist-info"
    record = []
    with zipfile.ZipFile(directory / f"{name}-{installed.version}-{tag}.whl", "w") as wheel:
        for file in files:
            inside = file.parts[0].endswith(".dist-info")
            if (inside and file.name not in ("METADATA", "WHEEL")) or not (inside or whole):
                continue
            path = f"{info}/{file.name}" if inside else str(file)
            data = Path(str(file.locate())).read_bytes()
            if inside and file.name == "WHEEL" and not whole:
                data = re.sub(rb"^Tag: .*$", b"Tag: py3-none-any", data, count=1, flags=re.M)
            wheel.writestr(path, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append((path, f"sha256={digest}", len(data)))
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([*record, (f"{info}/RECORD", "", "")])
        wheel.writestr(f"{info}/RECORD", text.getvalue())


def python_image() -> Image:
    """An image with this very interpreter as python3."""
    buffer = io.BytesIO()
    executable = os.path.realpath(sys.executable)
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        add_interpreter(archive)
        link = tarfile.TarInfo("usr/bin/python3")
        link.type, link.linkname = tarfile.SYMTYPE, executable
        archive.addfile(link)
    # Compressed in a hurry: the tutorial waits for it.
    layer = Layer(in_memory(gzip.compress(buffer.getvalue(), 1, mtime=0)))
    config = {"Env": ["PATH=/usr/bin:/bin"]}
    rootfs = {"type": "layers", "diff_ids": [digest_of(buffer.getvalue())]}
    architecture = "arm64" if platform.machine() == "aarch64" else "amd64"
    made = {"os": "linux", "architecture": architecture, "rootfs": rootfs, "config": config}
    return Image({**EMPTY.config, **made}, (layer,))
