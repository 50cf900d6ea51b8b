"""`python -P -m crossply.provider DIR` serves the provider in a directory."""

from __future__ import annotations

import os
import sys

from crossply.provider.process import main

if __name__ == "__main__":
    status = main()
    sys.stderr.flush()
    # A method of the provider that never returns would keep its thread, and with it the process.
    os._exit(status)
