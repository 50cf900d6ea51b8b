"""Check everything that must hold for a release, run every test, then tag the version: `make release`.

It never pushes.

python tools/release.py                      check, test, and make the tag
python tools/release.py --check [TAG]        only check, as the release workflow does after its tests
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping

from distribution.release_checks import Release, check_tests, check_tree, checks, source_version


def main(words: list[str]) -> int:
    """Check, and make the tag if nothing is wrong and that is wanted; the exit status."""
    only_check = words[:1] == ["--check"]
    version = source_version()
    release = Release(version, words[1] if only_check and len(words) > 1 else f"v{version}")
    if not all_hold(release, checks()):
        return 1
    return 0 if only_check else tag_after_tests(release)


def all_hold(release: Release, checks_by_name: Mapping[str, Callable[[Release], list[str]]]) -> bool:
    """Run checks and print what they find; whether that is nothing."""
    failed = False
    for name, check in checks_by_name.items():
        problems = check(release)
        failed = failed or bool(problems)
        lines = [f"{'FAILED' if problems else 'ok    '} {name}", *(f"       {line}" for line in problems)]
        print("\n".join(lines), flush=True)
    if failed:
        print(f"{release.tag} is not tagged: mend what failed")
    return not failed


def tag_after_tests(release: Release) -> int:
    """Make the tag of a version whose other checks hold, if every test passes; the exit status."""
    if not all_hold(release, {"every test passes": check_tests, "the tests changed nothing": check_tree}):
        return 1
    message = f"Crossply {release.version}"
    subprocess.run(["git", "-C", release.root, "tag", "--annotate", release.tag, "-m", message], check=True)
    print(f"tagged {release.tag}. To publish it: git push origin {release.tag}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
