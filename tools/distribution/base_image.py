"""The base of the image: Python on packages of Debian, an image in a file, or a root file system."""

from __future__ import annotations

import os
import platform
import stat
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from crossply.xpkg.archive_reader import read_archive
from crossply.xpkg.image import EMPTY, Image, Layer, append
from crossply.xpkg.layer_writer import Entry, write_layer
from distribution.debian_archive import DebianFiles, is_included, read_package
from distribution.debian_lock import Lock, Package, fetch

PATH = "PATH=/usr/local/bin:/usr/bin:/bin"
_CERTIFICATES, _BUNDLE = "usr/share/ca-certificates/", "etc/ssl/certs/ca-certificates.crt"
_USERS = "root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/tmp:/sbin/nologin\n"
_GROUPS = "root:x:0:\nnonroot:x:65532:\n"
_NAMES = "hosts: files dns\n"


class DebianPackage(NamedTuple):
    """A package that is in the base."""

    pinned: Package
    files: DebianFiles


def machine_architecture() -> str:
    """The architecture of this machine as images name it."""
    return {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())


def debian_packages(
    lock: Lock, architecture: str, accepts: Callable[[str], bool] = is_included
) -> list[DebianPackage]:
    """The packages that are pinned for an architecture, with those of their files that are wanted."""
    pinned = lock.packages[architecture]
    return [
        DebianPackage(package, read_package(fetch(package, lock.snapshot), accepts)) for package in pinned
    ]


def from_debian(packages: list[DebianPackage], architecture: str) -> Image:
    """An image of packages, with the files that their installation would write."""
    entries: dict[str, Entry] = {}
    for package in packages:
        entries |= {entry.name: entry for entry in package.files.entries}
    entries |= {entry.name: entry for entry in _configured(packages, entries)}
    return one_layer((entries[name] for name in sorted(entries)), architecture)


def _configured(packages: list[DebianPackage], entries: dict[str, Entry]) -> Iterator[Entry]:
    certificates = [entries[name].data for name in sorted(entries) if name.startswith(_CERTIFICATES)]
    for name, data in {
        _BUNDLE: b"".join(data.rstrip(b"\n") + b"\n" for data in certificates),
        "etc/passwd": _USERS.encode(),
        "etc/group": _GROUPS.encode(),
        "etc/nsswitch.conf": _NAMES.encode(),
        # Scanners read what is installed from here where there is no dpkg.
        **{
            f"var/lib/dpkg/status.d/{package.pinned.name}": package.files.control.encode()
            for package in packages
        },
    }.items():
        for parent in parents(name):
            if parent not in entries:
                yield Entry(parent, mode=0o755, is_directory=True)
        yield Entry(name, data)


def parents(name: str) -> list[str]:
    """The directories that something is in, from the outermost, each with a slash at its end."""
    parts = name.rstrip("/").split("/")[:-1]
    return [f"{'/'.join(parts[: count + 1])}/" for count in range(len(parts))]


def from_path(path: str, architecture: str) -> Image:
    """The image in a tarball or an OCI layout, or an image of a root file system."""
    if os.path.isdir(path) and not os.path.exists(os.path.join(path, "index.json")):
        return one_layer(_tree(path, ""), architecture)
    return read_archive(path)


def one_layer(entries: Iterable[Entry], architecture: str) -> Image:
    """An image with these files."""
    written = write_layer(entries)
    config = {**EMPTY.config, "os": "linux", "architecture": architecture, "config": {"Env": [PATH]}}
    return append(Image(config), Layer(written.blob), written.diff_id)


def _tree(root: str, inside: str) -> Iterator[Entry]:
    for name in sorted(os.listdir(os.path.join(root, inside))):
        inner = os.path.join(inside, name)
        full = os.path.join(root, inner)
        mode = os.lstat(full).st_mode
        if stat.S_ISDIR(mode):
            yield Entry(f"{inner}/", mode=stat.S_IMODE(mode), is_directory=True)
            yield from _tree(root, inner)
        elif stat.S_ISLNK(mode):
            yield Entry(inner, mode=0o777, link=os.readlink(full))
        elif stat.S_ISREG(mode):
            with open(full, "rb") as file:
                yield Entry(inner, file.read(), mode & 0o777)
