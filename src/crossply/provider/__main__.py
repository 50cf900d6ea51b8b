"""`python -P -m crossply.provider DIR` serves the provider in a directory."""

from __future__ import annotations

import sys

from crossply.provider.process import main

if __name__ == "__main__":
    sys.exit(main())
