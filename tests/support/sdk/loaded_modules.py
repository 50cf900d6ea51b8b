"""Which modules an import loads."""

from __future__ import annotations

import subprocess
import sys


def imported(statement: str, *, root: set[str]) -> set[str]:
    """The modules that a statement loads: those of a library, or all."""
    program = f"import sys; before = set(sys.modules); {statement}; print(*set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return {name for name in done.stdout.split() if not root or name.split(".")[0] not in root}
