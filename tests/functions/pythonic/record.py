"""Record the answers of the published function-pythonic to our cases.

    python -m tests.functions.pythonic.record

It is installed from PyPI into an environment of its own, in the project's cache. It declares
Python 3.12 or later, but what the cases use of it runs with 3.11 too.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import venv
from pathlib import Path

from crossply.functions.builtin.pythonic.program_files import ALLOWED
from tests.functions.record import record
from tests.support.paths import CACHE

HERE = Path(__file__).parent
MODULES = HERE / "modules"
FUNCTION = "crossplane-function-pythonic==0.6.1"
LIBRARIES = ("grpcio", "protobuf==7.35.0", "pyyaml")
ENVIRONMENT = CACHE / "venv-pythonic"


def main() -> None:
    os.environ[ALLOWED] = str(MODULES)
    record("pythonic", shlex.join([_python(), str(HERE / "published.py"), f"--python-path={MODULES}"]))


def _python() -> str:
    """The interpreter of an environment that has the published function."""
    python = str(ENVIRONMENT / "bin" / "python")
    if not ENVIRONMENT.exists():
        venv.create(ENVIRONMENT, with_pip=True, symlinks=True)
        install = [python, "-m", "pip", "install", "--quiet"]
        subprocess.run([*install, *LIBRARIES], check=True)
        # Without what only its own command line needs.
        subprocess.run([*install, "--no-deps", "--ignore-requires-python", FUNCTION], check=True)
    return python


if __name__ == "__main__":
    main()
