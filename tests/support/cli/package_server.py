"""Serving a function from its package, with what an index would have for it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

from tests.support.ports import free_port
from tests.support.registry import wait_for


def empty_wheel(directory: Path, name: str, version: str) -> None:
    """A wheel of nothing, which an index would have: it is installed where the tests run, or not needed."""
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(directory / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


@contextlib.contextmanager
def serving(words: list[str], site: str) -> Iterator[str]:
    """A function that is served by what an image runs; its address."""
    port = free_port()
    address = f"127.0.0.1:{port}"
    flags = ["--insecure", "--address", address]
    process = subprocess.Popen([*words, *flags], env={**os.environ, "PYTHONPATH": site})
    try:
        wait_for(port, process)
        yield address
    finally:
        process.terminate()
        process.wait(60)
