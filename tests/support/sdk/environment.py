"""The published Python SDK in an environment of its own."""

from __future__ import annotations

import fcntl
import subprocess
import venv
from pathlib import Path

import pytest

from tests.support.paths import CACHE

ENVIRONMENT = CACHE / "venv-sdk"


PACKAGE = "crossplane-function-sdk-python"


@pytest.fixture(scope="session")
def sdk_python() -> str:
    """The interpreter of an environment that has the SDK."""
    python = ENVIRONMENT / "bin" / "python"
    ENVIRONMENT.parent.mkdir(exist_ok=True)
    with open(ENVIRONMENT.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # suites that run side by side make it once
        return make_environment(python)


def make_environment(python: Path) -> str:
    if not has_the_sdk(python):
        venv.create(ENVIRONMENT, with_pip=True, clear=True, symlinks=True)
        install = [str(python), "-m", "pip", "install", "--quiet", PACKAGE]
        done = subprocess.run(install, capture_output=True, text=True)
        if done.returncode != 0:
            pytest.skip(
                f"NOT TESTED AGAINST THE PUBLISHED SDK: {PACKAGE} cannot be installed: {done.stderr[-300:]}"
            )
    return str(python)


def has_the_sdk(python: Path) -> bool:
    probe = [str(python), "-c", "import crossplane.function.runtime"]
    return python.exists() and subprocess.run(probe, capture_output=True).returncode == 0
