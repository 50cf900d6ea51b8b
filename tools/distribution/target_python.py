"""The Python in a root file system, run where it lies: without a container, by its own dynamic loader."""

from __future__ import annotations

import glob
import json
import os
import re
import subprocess
from typing import NamedTuple

_ABOUT = "import json, sys; print(json.dumps([list(sys.version_info[:3]), sys.prefix]))"
_PASSED = re.compile(r"(?i)PIP_|SSL_|REQUESTS_CA|HOME$|(https?|no)_proxy$").match
"""What pip is configured by."""
_PLACES = ("usr/local/bin/python3", "usr/bin/python3")


class TargetPython(NamedTuple):
    """An interpreter in a root file system."""

    root: str
    path: str
    """Where it is in that, with a slash at the beginning."""
    version: str
    """All three numbers."""

    @property
    def minor(self) -> str:
        """The version without its last number."""
        return self.version.rpartition(".")[0]

    def run(self, *words: str) -> str:
        """Run it; what it prints."""
        return _run(self.root, self.path, *words)


def target_python(root: str) -> TargetPython:
    """The Python of a root file system."""
    for place in _PLACES:
        if os.path.lexists(os.path.join(root, place)):
            version, _ = json.loads(_run(root, f"/{place}", "-S", "-c", _ABOUT))
            return TargetPython(root, f"/{place}", ".".join(map(str, version)))
    raise SystemExit(f"there is no python3 in {root}")


def _run(root: str, path: str, *words: str) -> str:
    [loader, *_] = sorted(glob.glob(os.path.join(root, "lib64/ld-linux-*.so.*"))) + sorted(
        glob.glob(os.path.join(root, "lib/ld-linux-*.so.*"))
    )
    folders = ("usr/local/lib", "usr/lib/*-linux-gnu", "lib/*-linux-gnu", "usr/lib", "lib")
    libraries = [place for folder in folders for place in sorted(glob.glob(os.path.join(root, folder)))]
    home = os.path.join(root, os.path.dirname(os.path.dirname(path)).lstrip("/"))
    passed = {name: text for name, text in os.environ.items() if _PASSED(name)}
    environ = {**passed, "PYTHONHOME": home, "PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8"}
    command = [loader, "--library-path", ":".join(libraries), _resolved(root, path), *words]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{path} of the base failed: {done.stderr or done.stdout}")
    return done.stdout


def _resolved(root: str, path: str) -> str:
    """Where a program is, whose links are those of the root file system."""
    for _ in range(10):
        full = os.path.join(root, path.lstrip("/"))
        if not os.path.islink(full):
            return full
        path = os.path.join(os.path.dirname(path), os.readlink(full))
    raise SystemExit(f"too many links at {path}")
