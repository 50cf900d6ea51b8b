"""The packages of Debian that the base of the image is made of, pinned by version and hash."""

from __future__ import annotations

import hashlib
import json
import os
import urllib.error
import urllib.request
from typing import NamedTuple

from distribution.paths import ROOT

LOCK = os.path.join(ROOT, "deploy", "base-packages.json")
CACHE = os.path.join(ROOT, ".cache", "debian")
MIRROR = "http://deb.debian.org"
SNAPSHOT = "https://snapshot.debian.org/archive"
"""Has every version that ever was on the mirror."""

PACKAGES = (
    "base-files",
    "ca-certificates",
    "libbz2-1.0",
    "libc6",
    "libexpat1",
    "libffi8",
    "libgcc-s1",
    "liblzma5",
    "libpython3.13-minimal",
    "libpython3.13-stdlib",
    "libsqlite3-0",
    "libssl3t64",
    "libstdc++6",
    "libuuid1",
    "libzstd1",
    "media-types",
    "netbase",
    "python3-minimal",
    "python3.13-minimal",
    "zlib1g",
)
"""Python, and what it and compiled packages are linked with. There is no shell and no package manager."""


class Package(NamedTuple):
    """One file of the archive."""

    name: str
    version: str
    archive: str
    """`debian` or `debian-security`."""
    path: str
    sha256: str


class Lock(NamedTuple):
    """All packages of one state of Debian, for each architecture."""

    suite: str
    release: str
    snapshot: str
    """A day on which the mirror had all of them."""
    packages: dict[str, list[Package]]


def read_lock(path: str = LOCK) -> Lock:
    """The pinned packages."""
    with open(path, encoding="utf-8") as file:
        content = json.load(file)
    packages = {
        architecture: [Package(**entry) for entry in entries]
        for architecture, entries in content["packages"].items()
    }
    return Lock(content["suite"], content["release"], content["snapshot"], packages)


def write_lock(lock: Lock, path: str = LOCK) -> None:
    """Write the pinned packages."""
    packages = {name: [entry._asdict() for entry in entries] for name, entries in lock.packages.items()}
    with open(path, "w", encoding="utf-8") as file:
        json.dump({**lock._asdict(), "packages": packages}, file, indent=2)
        file.write("\n")


def fetch(package: Package, snapshot: str) -> bytes:
    """The file of a package, from the cache, the mirror or the snapshots; its hash is checked."""
    cached = os.path.join(CACHE, f"{package.sha256}.deb")
    if os.path.exists(cached):
        with open(cached, "rb") as file:
            return file.read()
    data = _download(package, snapshot)
    if hashlib.sha256(data).hexdigest() != package.sha256:
        raise SystemExit(f"{package.path} does not have the pinned hash {package.sha256}")
    os.makedirs(CACHE, exist_ok=True)
    with open(f"{cached}.part", "wb") as file:
        file.write(data)
    os.replace(f"{cached}.part", cached)
    return data


def _download(package: Package, snapshot: str) -> bytes:
    places = (MIRROR, f"{SNAPSHOT}/{package.archive}/{snapshot}")
    addresses = (f"{places[0]}/{package.archive}/{package.path}", f"{places[1]}/{package.path}")
    reasons = []
    for address in addresses:
        try:
            return download(address)
        except (urllib.error.URLError, TimeoutError) as problem:
            reasons.append(f"{address}: {problem}")
    raise SystemExit("\n".join([f"cannot fetch {package.name} {package.version}", *reasons]))


def download(address: str) -> bytes:
    """What is at an address."""
    with urllib.request.urlopen(address, timeout=60) as response:
        data: bytes = response.read()
    return data
