"""Finds the newest versions of packages in Debian's archive, whose signatures are checked."""

from __future__ import annotations

import datetime
import hashlib
import lzma
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator

from distribution.debian_lock import MIRROR, PACKAGES, Lock, Package, download

SUITE = "trixie"
ARCHITECTURES = ("amd64", "arm64")
_KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


def newest(names: tuple[str, ...] = PACKAGES, suite: str = SUITE) -> Lock:
    """The newest versions of packages, by default of those that the base has."""
    packages: dict[str, dict[str, Package]] = {architecture: {} for architecture in ARCHITECTURES}
    release = ""
    for archive, name in (("debian", suite), ("debian-security", f"{suite}-security")):
        text = _release(archive, name)
        release = release or _field(text, "Version")
        for architecture in ARCHITECTURES:
            for package in _packages(archive, name, architecture, text):
                if package.name not in names:
                    continue
                other = packages[architecture].get(package.name)
                if other is None or _is_newer(package.version, other.version):
                    packages[architecture][package.name] = package
    missing = {(name, arch) for arch in ARCHITECTURES for name in names if name not in packages[arch]}
    if missing:
        raise SystemExit(f"{suite} does not have {sorted(missing)}")
    today = datetime.datetime.now(datetime.UTC).strftime("%Y%m%dT000000Z")
    listed = {arch: [packages[arch][name] for name in sorted(names)] for arch in ARCHITECTURES}
    return Lock(suite, release, today, listed)


def _release(archive: str, suite: str) -> str:
    """The Release file of a suite, if a key of Debian has signed it."""
    with tempfile.TemporaryDirectory() as scratch:
        signed, plain = os.path.join(scratch, "InRelease"), os.path.join(scratch, "Release")
        with open(signed, "wb") as file:
            file.write(download(f"{MIRROR}/{archive}/dists/{suite}/InRelease"))
        words = ["gpgv", "--quiet", "--status-fd", "1", "--keyring", _KEYRING, "--output", plain, signed]
        # A file has several signatures; keys that this machine does not have yet make no difference.
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if "[GNUPG:] GOODSIG" not in done.stdout or "[GNUPG:] BADSIG" in done.stdout:
            raise SystemExit(f"no signature of {archive} {suite} can be verified:\n{done.stderr}")
        with open(plain, encoding="utf-8") as file:
            return file.read()


def _packages(archive: str, suite: str, architecture: str, release: str) -> Iterator[Package]:
    path = f"main/binary-{architecture}/Packages.xz"
    match = re.search(rf"^ ([0-9a-f]{{64}}) +\d+ {re.escape(path)}$", release, re.M)
    data = download(f"{MIRROR}/{archive}/dists/{suite}/{path}")
    if match is None or hashlib.sha256(data).hexdigest() != match.group(1):
        raise SystemExit(f"{suite}/{path} does not have the hash that its signed list says")
    for paragraph in lzma.decompress(data).decode().split("\n\n"):
        if paragraph:
            fields = (_field(paragraph, name) for name in ("Package", "Version", "Filename", "SHA256"))
            name, version, file, checksum = fields
            yield Package(name, version, archive, file, checksum)


def _field(paragraph: str, name: str) -> str:
    match = re.search(rf"^{name}: (.*)$", paragraph, re.M)
    return match.group(1) if match else ""


def _is_newer(version: str, other: str) -> bool:
    return subprocess.run(["dpkg", "--compare-versions", version, "gt", other], check=False).returncode == 0
