"""The image of Crossply: controllers, dashboard and functions in one, for any user."""

from __future__ import annotations

import os
import tempfile
from datetime import UTC, datetime
from typing import Any, NamedTuple

from crossply.version import __version__
from crossply.xpkg.image import Image, Layer, append
from crossply.xpkg.layer_unpack import unpack
from crossply.xpkg.layer_writer import Entry, write_layer
from distribution import installed_site as site_of
from distribution import sbom
from distribution.base_image import (
    PATH,
    DebianPackage,
    debian_packages,
    from_debian,
    from_path,
    machine_architecture,
)
from distribution.debian_lock import read_lock
from distribution.target_python import TargetPython, target_python

BILL = "usr/share/sbom/crossply.cdx.json"
"""Where the image has its own bill of materials."""
_SOURCE = "https://github.com/crossply/crossply"


class Base(NamedTuple):
    """What the image is built on."""

    image: Image
    packages: list[DebianPackage]
    release: str


class BuiltImage(NamedTuple):
    """An image for one architecture, and what is in it."""

    image: Image
    bill: bytes


def debian_base(architecture: str) -> Base:
    """Python on the pinned packages of Debian."""
    lock = read_lock()
    packages = debian_packages(lock, architecture)
    return Base(from_debian(packages, architecture), packages, lock.release.partition(".")[0])


def other_base(path: str, architecture: str) -> Base:
    """An image in a file or an OCI layout, or a root file system; with Python 3.11 or newer, and glibc."""
    return Base(from_path(path, architecture), [], "")


def build(base: Base, wheel: str, date: int, revision: str) -> BuiltImage:
    """The image on a base; its Python is run here, so it must be for this machine, or be Debian's."""
    architecture = str(base.image.config["architecture"])
    with tempfile.TemporaryDirectory(prefix="crossply-image-") as scratch:
        root, site = os.path.join(scratch, "root"), os.path.join(scratch, "site")
        os.mkdir(root)
        runnable = base if architecture == machine_architecture() else debian_base(machine_architecture())
        unpack(runnable.image, root)
        python = target_python(root)
        site_of.install(python, architecture, wheel, site)
        place = site_of.site_packages(python)
        site_of.compile_sources(python, site, place)
        bill = sbom.encode(sbom.bill(site, base.packages, date, architecture, base.release))
        entries = {entry.name: entry for entry in site_of.installed(site, place)}
        own = {name for name in entries if name.removeprefix(f"{place}/").startswith("crossply")}
        image = base.image
        if base.packages:
            image = _with_layer(image, _standard_library(python, root))
        image = _with_layer(image, [entries[name] for name in entries if name not in own])
        image = _with_layer(
            image, [*site_of.environment(python), *(entries[name] for name in own), Entry(BILL, bill)]
        )
        return BuiltImage(_configured(image, python, date, revision), bill)


def _standard_library(python: TargetPython, root: str) -> list[Entry]:
    """The bytecode of Python's own modules: packages of Debian write it when they are installed."""
    place = f"usr/lib/python{python.minor}"
    directory = os.path.join(root, place)
    site_of.compile_sources(python, directory, place)
    return list(site_of.bytecode(directory, place))


def _with_layer(image: Image, entries: list[Entry]) -> Image:
    written = write_layer(site_of.with_parents(entries))
    return append(image, Layer(written.blob), written.diff_id)


def _configured(image: Image, python: TargetPython, date: int, revision: str) -> Image:
    created = datetime.fromtimestamp(date, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    labels = {
        "title": "crossply",
        "description": "A composition engine and control plane in Python, compatible with Crossplane",
        "licenses": "Apache-2.0",
        "version": __version__,
        "source": _SOURCE,
        "created": created,
        "revision": revision,
    }
    standard = {f"org.opencontainers.image.{key}": text for key, text in labels.items() if text}
    inner: dict[str, Any] = {
        **image.inner,
        "Env": _environment(image, python),
        "Entrypoint": ["crossply"],
        "Cmd": ["controller"],
        "User": "65532:65532",
        "WorkingDir": "/tmp",
        "ExposedPorts": {"8080/tcp": {}, "8081/tcp": {}, "9443/tcp": {}},
        "Labels": {**image.labels, **standard},
    }
    return image._replace(config={**image.config, "created": created, "config": inner})


def _environment(image: Image, python: TargetPython) -> list[str]:
    present = dict(text.partition("=")[::2] for text in image.inner.get("Env") or ())
    path = present.get("PATH", PATH.partition("=")[2])
    variables = {
        "PATH": f"/{site_of.VENV}/bin:{path}",
        "PYTHON_VERSION": python.version,  # `function build` and `provider build` read it of their base
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        "HOME": "/tmp",
        "LANG": "C.UTF-8",
        "SSL_CERT_FILE": "/etc/ssl/certs/ca-certificates.crt",
    }
    return [f"{name}={text}" for name, text in {**present, **variables}.items()]
