"""What must hold before a version is tagged. Each check returns what is wrong, in lines."""

from __future__ import annotations

import datetime
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import NamedTuple

from distribution.paths import ROOT

_SECTION = re.compile(r"^## (\S+) \((.*)\)$", re.M)
_VERSIONS = {
    "deploy/chart/Chart.yaml": r"^(?:version|appVersion): (\S+)$",
    "deploy/manifests/install.yaml": r'app\.kubernetes\.io/version: "([^"]+)"|image: crossply:(\S+)',
    "docs/how-to/install-on-kubernetes.md": r"crossply-(\d+\.\d+\.\d+)-image",
    "docs/how-to/install.md": r"crossply-(\d+\.\d+\.\d+)-py3|(?:crossply|Version:) v(\d+\.\d+\.\d+)$",
    "SECURITY.md": r"crossply(?:-|:)(\d+\.\d+\.\d+)",
}
"""Files that name the version, and how."""


class Release(NamedTuple):
    """A version that is about to be tagged."""

    version: str
    tag: str
    root: str = ROOT


def source_version(root: str = ROOT) -> str:
    """The version that the sources say."""
    match = re.search(r'^__version__ = "(.+)"$', _read(root, "src/crossply/version.py"), re.M)
    return match.group(1) if match else ""


def checks() -> dict[str, Callable[[Release], list[str]]]:
    """All checks by name, the quick ones first. The tests come after them: they take longest."""
    return {
        "the working tree is clean": check_tree,
        "the tag is that of the version": check_tag,
        "the changelog has a dated section": check_changelog,
        "all files name the same version": check_versions,
        "generated pages are current": check_docs,
        "manifests are current": check_manifests,
        "workflows, chart and manifests are clean": check_lint,
        "two builds of the wheels are the same": check_wheels,
    }


def check_tree(release: Release) -> list[str]:
    """Nothing is changed or forgotten."""
    return [f"not committed: {line}" for line in _git(release, "status", "--porcelain").splitlines()]


def check_tag(release: Release) -> list[str]:
    """The tag is for this version; if it exists, it is this commit."""
    if release.tag != f"v{release.version}":
        return [f"the tag {release.tag} is not that of version {release.version}"]
    tagged = _git(release, "rev-list", "-n1", release.tag)
    head = _git(release, "rev-parse", "HEAD")
    return [f"{release.tag} exists already, at {tagged[:12]}"] if tagged and tagged != head else []


def check_changelog(release: Release) -> list[str]:
    """The first section is that of the version, and has the day of the release."""
    section = _SECTION.search(_read(release.root, "CHANGELOG.md"))
    if section is None or section.group(1) != release.version:
        return [f"the first section of CHANGELOG.md is not '## {release.version} (YYYY-MM-DD)'"]
    try:
        day = datetime.date.fromisoformat(section.group(2))
    except ValueError:
        return [
            f"CHANGELOG.md: {release.version} has no date. On the day of the release, replace",
            f"'{section.group(0)}' with '## {release.version} ({_today()})', commit it, and run this again.",
        ]
    return [f"CHANGELOG.md: {day} is in the future: today is {_today()}"] if day > _today() else []


def _today() -> datetime.date:
    return datetime.datetime.now(datetime.UTC).date()


def check_versions(release: Release) -> list[str]:
    """Every file that names the version names this one."""
    problems = []
    for path, pattern in _VERSIONS.items():
        versions = [
            next(filter(None, match.groups()))
            for match in re.finditer(pattern, _read(release.root, path), re.M)
        ]
        others = sorted(set(versions) - {release.version})
        problems += [f"{path} names version {other}" for other in others]
        problems += [] if versions else [f"{path} names no version"]
    return problems


def check_docs(release: Release) -> list[str]:
    """Generated pages are what the code says."""
    return _tool(release, "generate_docs.py", "--check")


def check_manifests(release: Release) -> list[str]:
    """The plain manifests are what the chart makes."""
    return _tool(release, "manifests.py", "--check")


def check_lint(release: Release) -> list[str]:
    """actionlint, zizmor, Helm and kubeconform find nothing."""
    return _tool(release, "lint_release.py")


def check_wheels(release: Release) -> list[str]:
    """The wheels and the source archive are reproducible."""
    with tempfile.TemporaryDirectory(prefix="crossply-release-") as scratch:
        return _tool(release, "build_wheels.py", scratch)


def check_tests(release: Release) -> list[str]:
    """`make test` passes. It takes long, and prints its own output."""
    done = subprocess.run(["make", "test"], cwd=release.root, check=False)
    return ["make test failed: its output is above"] if done.returncode else []


def _tool(release: Release, name: str, *words: str) -> list[str]:
    command = [sys.executable, os.path.join(release.root, "tools", name), *words]
    done = subprocess.run(command, cwd=release.root, capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).strip().splitlines() or [f"{name} failed"] if done.returncode else []


def _git(release: Release, *words: str) -> str:
    command = ["git", "-C", release.root, *words]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def _read(root: str, path: str) -> str:
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()
