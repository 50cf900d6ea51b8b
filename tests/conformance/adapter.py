"""What a conformance suite calls: thin doors into the product, one function a suite."""

from __future__ import annotations

import pathlib
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from crossply.schema import definition_crds as crd
from crossply.values import Object, goformat
from crossply.values import field_path as paths
from crossply.values.yaml import load

_READERS = {
    "get": paths.get,
    "getString": paths.get_string,
    "getInteger": paths.get_integer,
    "getNumber": paths.get_number,
    "getBool": paths.get_bool,
    "getStringArray": paths.get_string_array,
    "getStringObject": paths.get_string_object,
    "expand": paths.expand,
}


def sprintf(format: str, args: list[Any]) -> str:  # noqa: A002 - Go's name for it
    return goformat.sprintf(format, args)


def run(
    op: str,
    path: str,
    object: Any = None,  # noqa: A002 - the name the suites use
    value: Any = None,
    keep_map_values: bool | None = None,
    append_slice: bool | None = None,
) -> Any:
    """Do one field path operation; the writing ones return the whole object."""
    if op == "parse":
        return [{"index" if isinstance(s, int) else "field": s} for s in paths.parse(path)]
    if op in _READERS:
        return _READERS[op](object, path)
    if op == "set":
        paths.set_value(object, path, value)
    elif op == "delete":
        paths.delete(object, path)
    elif op == "merge":
        has_options = keep_map_values is not None or append_slice is not None
        options = paths.MergeOptions(keep_map_values, append_slice) if has_options else None
        paths.merge_value(object, path, value, options)
    else:
        raise ValueError(f"no such operation: {op}")
    return object


def composite_crd(xrd: Object) -> Object:
    return crd.composite_crd(xrd)


def claim_crd(xrd: Object) -> Object:
    return crd.claim_crd(xrd)


def start_apiserver(directory: pathlib.Path) -> tuple[str, str, str, Callable[[], None]]:
    """Start the API server alone and empty: its address, a token, its authority, and its end."""
    return _start(directory, "apiserver", "ready:", "--no-garbage-collection")


def start_control_plane(directory: pathlib.Path) -> tuple[str, str, str, Callable[[], None]]:
    """Start the whole control plane as a user would."""
    return _start(directory, "up", "control plane ready")


def _start(
    directory: pathlib.Path, name: str, sign: str, *flags: str
) -> tuple[str, str, str, Callable[[], None]]:
    command = str(pathlib.Path(sys.executable).parent / "crossply")
    process = subprocess.Popen(
        [command, name, "--data", str(directory), "--listen", "127.0.0.1:0", *flags],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.startswith(sign), line
    kubeconfig = load((directory / "kubeconfig").read_text())
    url = kubeconfig["clusters"][0]["cluster"]["server"]
    token = (directory / "admin.token").read_text()

    def stop() -> None:
        process.terminate()
        process.wait(40)

    return url, token, str(directory / "pki" / "ca.crt"), stop
