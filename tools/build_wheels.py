"""Build the source archive and the wheels twice, in two places, and write them if both are the same.

    python tools/build_wheels.py [DIRECTORY]     the directory is dist/ by default

The second wheels are built from the source archive of the first build.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile

from distribution.paths import DIST
from distribution.source_date import source_date
from distribution.wheels import build_source, build_wheels, digest, unpack_source


def main(words: list[str]) -> int:
    """Build, compare and write; the exit status."""
    directory, date = words[0] if words else DIST, source_date()
    with tempfile.TemporaryDirectory(prefix="crossply-wheels-") as scratch:
        places = [os.path.join(scratch, name) for name in ("first", "second")]
        archives = [build_source(place, date) for place in places]
        source = unpack_source(archives[0], os.path.join(scratch, "source"))
        first = [archives[0], *build_wheels(places[0], date)]
        second = [archives[1], *build_wheels(places[1], date, source)]
        for one, other in zip(first, second, strict=True):
            if digest(one) != digest(other):
                print(f"NOT REPRODUCIBLE: {os.path.basename(one)} differs in a second build", file=sys.stderr)
                return 1
        write(first, directory)
    return 0


def write(paths: list[str], directory: str) -> None:
    """Write the files and their checksums."""
    os.makedirs(directory, exist_ok=True)
    lines = []
    for path in paths:
        shutil.copy(path, directory)
        lines.append(f"{digest(path)}  {os.path.basename(path)}\n")
        print(f"{os.path.basename(path)}: {os.path.getsize(path):,} bytes, sha256 {digest(path)}")
    with open(os.path.join(directory, "SHA256SUMS"), "w", encoding="utf-8") as file:
        file.writelines(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
