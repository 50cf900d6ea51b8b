"""Finds the line of the field that an error names.

Kubernetes writes a field's path as text, in which a name with dots looks like several names. The object
itself settles it: at each step the longest name that is there wins.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from crossply.manifests.manifest import Manifest
from crossply.validation.resource_validation import Finding

_GO_FIELD = re.compile(r"Go struct field [^.]+\.(\S+) of type|unknown field \"([^\"]+)\"")


def place_of(finding: Finding, manifest: Manifest) -> str:
    """Return the file and line of a finding: of its field, or of the nearest thing around it."""
    return f"{manifest.document.source}:{line_of(manifest, segments(field_of(finding), manifest.value))}"


def line_of(manifest: Manifest, steps: Sequence[str | int]) -> int:
    """The line of a field in its file, or of the nearest thing around it that is there."""
    document = manifest.document
    for length in range(len(steps), 0, -1):
        line = document.locate((*manifest.inside, *steps[:length]))
        if line is not None:
            return line
    inside = document.locate(manifest.inside) if manifest.inside else None
    return inside or document.line


def field_of(finding: Finding) -> str:
    """The path of the field that a finding is about, as far as it says."""
    if finding.error is not None:
        quoted = re.match(r'"([^"]*)" must|.* in (\S+)$', finding.error.detail)
        return finding.error.path or (quoted and (quoted[1] or quoted[2])) or ""
    match = _GO_FIELD.search(finding.message)
    return (match[1] or match[2]) if match else ""


def segments(path: str, value: Any) -> list[str | int]:
    """Split the text of a path into names and indexes, as far as the object has them."""
    steps: list[str | int] = []
    while path:
        step, path = _step(path, value)
        if step is None:
            break
        value = value[step]
        steps.append(step)
    return steps


def _step(path: str, value: Any) -> tuple[str | int | None, str]:
    index = re.match(r"\[(\d+)\]", path)
    if index and isinstance(value, list) and int(index[1]) < len(value):
        return int(index[1]), path[index.end() :]
    if isinstance(value, dict):
        for name in sorted(value, key=len, reverse=True):
            for written in (f".{name}", name, f"[{name}]"):
                if path.startswith(written) and path[len(written) : len(written) + 1] in ("", ".", "["):
                    return name, path[len(written) :]
    return None, ""
