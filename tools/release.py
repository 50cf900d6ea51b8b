"""Check everything that must hold for a release, then tag the version: `make release`. It never pushes.

python tools/release.py                      check, and make the tag
python tools/release.py --check [TAG]        only check, as the release workflow does
"""

from __future__ import annotations

import subprocess
import sys

from distribution.paths import ROOT
from distribution.release_checks import Release, checks, source_version


def main(words: list[str]) -> int:
    """Check, and make the tag if nothing is wrong and that is wanted; the exit status."""
    only_check = words[:1] == ["--check"]
    version = source_version()
    release = Release(version, words[1] if only_check and len(words) > 1 else f"v{version}")
    failed = False
    for name, check in checks().items():
        problems = check(release)
        failed = failed or bool(problems)
        print(
            "\n".join(
                [f"{'FAILED' if problems else 'ok    '} {name}", *(f"       {line}" for line in problems)]
            )
        )
    if failed:
        print(f"{release.tag} is not tagged: mend what failed")
        return 1
    if not only_check:
        subprocess.run(
            ["git", "-C", ROOT, "tag", "--annotate", release.tag, "-m", f"Crossply {version}"], check=True
        )
        print(f"tagged {release.tag}. To publish it: git push origin {release.tag}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
