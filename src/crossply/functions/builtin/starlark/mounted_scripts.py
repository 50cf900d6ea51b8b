"""Scripts and modules in ConfigMaps and directories.

The published function reads them from its file system, where its Deployment mounts ConfigMaps below
`/scripts`. Here a ConfigMap is required as an extra resource, and a directory is read if it is listed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from crossply.compose.function_messages import Request, Requirements, ResourceSelector
from crossply.functions.builtin.kcl.module_source_policy import DIRECTORIES, access_of
from crossply.functions.builtin.starlark.input import Input
from crossply.values.goquote import quote

NAMESPACE = "crossplane-system"
"""The namespace of the ConfigMaps: that of the published function's Deployment."""
_PREFIX = "crossply.dev/starlark-scripts-"
_ROOT = "/scripts/"
_SUFFIX = ".star"
_MAX_FILE = 1 << 20
_MAX_FILES = 1000


class MountError(Exception):
    """A script or a module cannot be read; the message says why."""


class Mounted(NamedTuple):
    """What is read from ConfigMaps and directories."""

    directories: tuple[str, ...] = ()
    """In the order in which modules are looked for."""
    files: Mapping[str, Mapping[str, str]] = {}
    """The files of each directory."""
    missing: tuple[str, ...] = ()
    """ConfigMaps that were not required yet."""
    requirements: Mapping[str, ResourceSelector] = {}

    def modules(self) -> dict[str, str]:
        """The modules by name; those of the first directory win."""
        files: dict[str, str] = {}
        for directory in reversed(self.directories):
            files.update(self.files.get(directory, {}))
        return {name: text for name, text in files.items() if name.endswith(_SUFFIX)}


def mounted(step_input: Input, request: Request, environ: Mapping[str, str]) -> Mounted:
    """The files of the directories that an input names; raises MountError."""
    directories = list(step_input.module_paths)
    if step_input.reference is not None:
        _check_local("script ConfigMap name", step_input.reference.name)
        _check_local("script key", step_input.reference.key)
        directories.insert(0, _ROOT + step_input.reference.name)
    files, missing, requirements = {}, [], {}
    access = access_of(environ)
    for directory in directories:
        if access.may_read(directory):
            files[directory] = _read(directory)
            continue
        name = _config_map(directory)
        key = _PREFIX + name
        requirements[key] = ResourceSelector("v1", "ConfigMap", name, None, NAMESPACE)
        if key not in request.required_resources:
            missing.append(name)
            continue
        files[directory] = _data(request, key)
    return Mounted(tuple(directories), files, tuple(missing), requirements)


def script_of(step_input: Input, mounts: Mounted) -> str:
    """The text of the script that an input refers to; raises MountError."""
    reference = step_input.reference
    if step_input.source or reference is None:
        return step_input.source
    directory = _ROOT + reference.name
    text = mounts.files.get(directory, {}).get(reference.key)
    if text is None:
        raise MountError(
            f"script file {quote(f'{directory}/{reference.key}')} not found; create the ConfigMap "
            f"{quote(reference.name)} in the namespace {NAMESPACE} with the key {quote(reference.key)}"
        )
    return text


def without_mounts(request: Request) -> Request:
    """The request as the script sees it."""
    resources = {
        key: matches for key, matches in request.required_resources.items() if not key.startswith(_PREFIX)
    }
    return request.with_requirements(
        request.context, resources, request.extra_resources, request.required_schemas
    )


def with_mounts(requirements: Requirements | None, mounts: Mounted) -> Requirements | None:
    """What the script requires, and the ConfigMaps, which have to be required every time."""
    if not mounts.requirements:
        return requirements
    before = requirements or Requirements()
    return before._replace(resources={**before.resources, **mounts.requirements})


def _check_local(field: str, name: str) -> None:
    if not name or name.startswith("/") or ".." in name.split("/"):
        raise MountError(f"{field} {quote(name)} contains path traversal")


def _config_map(directory: str) -> str:
    name = directory.removeprefix(_ROOT).rstrip("/")
    if not directory.startswith(_ROOT) or not name or "/" in name:
        raise MountError(
            f"cannot read modules from {quote(directory)}: it is neither {_ROOT}CONFIGMAP nor below a "
            f"directory that {DIRECTORIES} names"
        )
    return name


def _data(request: Request, key: str) -> dict[str, str]:
    """The data of a required ConfigMap; none if it is not there."""
    for resource in request.required_resources[key]:
        data = resource.object.get("data")
        if isinstance(data, dict):
            return {name: text for name, text in data.items() if isinstance(text, str)}
    return {}


def _read(directory: str) -> dict[str, str]:
    files: dict[str, str] = {}
    try:
        entries = sorted(entry.name for entry in os.scandir(directory) if entry.is_file())
    except OSError as error:
        raise MountError(f"cannot read modules from {quote(directory)}: {error.strerror}") from None
    for name in [name for name in entries if name.endswith(_SUFFIX)][:_MAX_FILES]:
        path = os.path.join(directory, name)
        if os.path.getsize(path) > _MAX_FILE:
            raise MountError(f"file {quote(path)} is longer than {_MAX_FILE} bytes")
        with open(path, encoding="utf-8", errors="replace") as file:
            files[name] = file.read()
    return files
