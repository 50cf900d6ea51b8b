"""The software bill of materials of the image, in CycloneDX 1.6: every package of Debian and of Python."""

from __future__ import annotations

import email
import json
import os
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from email.message import Message
from importlib.metadata import Distribution, PathDistribution
from pathlib import Path
from typing import Any
from urllib.parse import quote

from crossply.version import __version__
from crossply.xpkg.wheel_writer import requirement_name
from distribution.base_image import DebianPackage

Component = dict[str, Any]
_NAMESPACE = uuid.UUID("5a4f7a1e-0c52-5c1b-9a30-6b5f0f3f8f11")
"""Ours, so that the serial number of a bill depends on its content only."""


def bill(
    site: str, packages: list[DebianPackage], date: int, architecture: str, release: str = ""
) -> dict[str, Any]:
    """The bill of what is installed in a directory, on packages of Debian."""
    components = [_debian(package, architecture, release) for package in packages]
    components += [_python(distribution) for distribution in _distributions(site)]
    components.sort(key=lambda component: component["bom-ref"])
    dependencies = [{"ref": entry["bom-ref"]} for entry in components]
    about = {
        "timestamp": datetime.fromtimestamp(date, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "tools": {
            "components": [{"type": "application", "name": "crossply build_image", "version": __version__}]
        },
        "component": {
            "type": "container",
            "bom-ref": "crossply-image",
            "name": "crossply",
            "version": __version__,
            "licenses": [{"expression": "Apache-2.0"}],
        },
    }
    root = {"ref": "crossply-image", "dependsOn": [entry["bom-ref"] for entry in components]}
    content = {"metadata": about, "components": components, "dependencies": [root, *dependencies]}
    serial = uuid.uuid5(_NAMESPACE, json.dumps(content, sort_keys=True))
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{serial}",
        "version": 1,
        **content,
    }


def encode(content: dict[str, Any]) -> bytes:
    """The bill as JSON, always the same."""
    return (json.dumps(content, indent=2) + "\n").encode()


def _distributions(site: str) -> Iterator[Distribution]:
    for name in sorted(os.listdir(site)):
        if name.endswith(".dist-info"):
            yield PathDistribution(Path(site, name))


def _python(distribution: Distribution) -> Component:
    name, version = distribution.metadata["Name"], distribution.version
    reference = f"pkg:pypi/{requirement_name(name)}@{quote(version)}"
    component: Component = {"type": "library", "bom-ref": reference, "name": name, "version": version}
    component["purl"] = reference
    metadata = distribution.metadata
    expression, text = metadata.get("License-Expression"), metadata.get("License")
    if expression:
        component["licenses"] = [{"expression": expression}]
    elif text:
        component["licenses"] = [{"license": {"name": text.splitlines()[0][:100]}}]
    return component


def _debian(package: DebianPackage, architecture: str, release: str) -> Component:
    control: Message = email.message_from_string(package.files.control)
    pinned = package.pinned
    system = f"&distro=debian-{release}" if release else ""
    reference = f"pkg:deb/debian/{quote(pinned.name)}@{quote(pinned.version)}?arch={architecture}{system}"
    component: Component = {
        "type": "library",
        "bom-ref": reference,
        "name": pinned.name,
        "version": pinned.version,
        "purl": reference,
        "hashes": [{"alg": "SHA-256", "content": pinned.sha256}],
    }
    if control["Maintainer"]:
        component["supplier"] = {"name": control["Maintainer"].partition(" <")[0]}
    return component
