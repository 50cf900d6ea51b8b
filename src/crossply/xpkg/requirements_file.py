"""requirements.txt as lists of packages: of a function that is one file, and of a provider."""

from __future__ import annotations

import os
import re

from crossply.xpkg.failures import BuildFailed

REQUIREMENTS = "requirements.txt"
_HASH = re.compile(r"\s--hash=\S+")


def read_requirements(directory: str) -> list[str]:
    """What a program imports beside Crossply. Hashes are left out: installed packages have none."""
    try:
        with open(os.path.join(directory, REQUIREMENTS), encoding="utf-8") as file:
            text = file.read()
    except FileNotFoundError:
        return []
    except UnicodeDecodeError:
        raise BuildFailed(f"{REQUIREMENTS} is not text") from None
    joined = re.sub(r"\\\n", " ", text)
    lines = [_HASH.sub("", f" {line}").partition(" #")[0].strip() for line in joined.splitlines()]
    requirements = [line for line in lines if line and line[0] != "#"]
    for line in requirements:
        if line[0] == "-":
            raise BuildFailed(
                f"{REQUIREMENTS} has an option of pip: {line}",
                hint="list packages only, or make a project of it: crossply new function",
            )
    return requirements
