"""`python -m crossply.sdk.shim main.py ...`: run a program that was written for the published SDK."""

from __future__ import annotations

import os
import runpy
import sys

from crossply.sdk import shim


def main() -> None:
    """Run the program as Python would, with our `crossplane.function`."""
    if len(sys.argv) < 2:
        sys.exit("usage: python -m crossply.sdk.shim FILE [ARGUMENT ...]")
    shim.use(shim.CROSSPLY)
    del sys.argv[0]
    sys.path.insert(0, os.path.dirname(os.path.abspath(sys.argv[0])))
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
