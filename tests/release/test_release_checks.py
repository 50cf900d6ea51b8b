"""The release script refuses an unready repository with a reason."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from distribution import release_checks
from distribution.release_checks import Release, checks, source_version

from crossply.version import __version__
from release import tag_after_tests
from tests.support.paths import ROOT
from tests.support.programs import needs, path_of

TODAY = datetime.now(UTC).date()


@pytest.fixture
def release(tmp_path: Path) -> Release:
    """A repository with one commit, whose version is 1.2.3."""
    files = {
        "CHANGELOG.md": f"# Changelog\n\n## 1.2.3 ({TODAY})\n",
        "src/crossply/version.py": '__version__ = "1.2.3"\n',
        "deploy/chart/Chart.yaml": "version: 1.2.3\nappVersion: 1.2.3\n",
        "deploy/manifests/install.yaml": 'app.kubernetes.io/version: "1.2.3"\nimage: crossply:1.2.3\n',
        "docs/how-to/install-on-kubernetes.md": "crossply-1.2.3-image-amd64.tar\n",
        "docs/how-to/install.md": "crossply-1.2.3-py3-none-any.whl\n",
        "SECURITY.md": "crossply-1.2.3-py3-none-any.whl\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "First")
    return Release("1.2.3", "v1.2.3", str(tmp_path))


def git(directory: Path, *words: str) -> None:
    names = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run([path_of("git"), "-C", str(directory), *names, *words], check=True, capture_output=True)


@needs("git")
def test_a_version_that_is_ready_passes_the_quick_checks(release: Release) -> None:
    assert source_version(release.root) == release.version
    for check in list(checks().values())[:4]:
        assert check(release) == []


@needs("git")
def test_files_that_are_not_committed_are_listed(release: Release) -> None:
    (Path(release.root) / "new.py").touch()
    assert release_checks.check_tree(release) == ["not committed: ?? new.py"]


@needs("git")
def test_a_tag_of_another_version_or_commit_is_refused(release: Release) -> None:
    assert "is not that of version 1.2.3" in release_checks.check_tag(release._replace(tag="v1.2.4"))[0]
    git(Path(release.root), "tag", "v1.2.3")
    assert release_checks.check_tag(release) == [], "the tag of this very commit, as in the workflow"
    git(Path(release.root), "commit", "-qm", "Second", "--allow-empty")
    assert "v1.2.3 exists already" in release_checks.check_tag(release)[0]


@needs("git")
@pytest.mark.parametrize(
    ("section", "problem"),
    [
        ("1.2.3 (unreleased)", f"'## 1.2.3 (unreleased)' with '## 1.2.3 ({TODAY})'"),
        (f"1.2.2 ({TODAY})", "is not '## 1.2.3 (YYYY-MM-DD)'"),
        (f"1.2.3 ({TODAY + timedelta(days=2)})", "is in the future"),
    ],
)
def test_the_changelog_needs_a_section_with_a_day(release: Release, section: str, problem: str) -> None:
    (Path(release.root) / "CHANGELOG.md").write_text(f"# Changelog\n\n## {section}\n")
    assert problem in "\n".join(release_checks.check_changelog(release))


@needs("git")
def test_a_file_with_another_version_is_named(release: Release) -> None:
    (Path(release.root) / "deploy/chart/Chart.yaml").write_text("version: 1.2.3\nappVersion: 1.2.2\n")
    (Path(release.root) / "SECURITY.md").write_text("nothing\n")
    problems = release_checks.check_versions(release)
    assert problems == ["deploy/chart/Chart.yaml names version 1.2.2", "SECURITY.md names no version"]


@needs("git", "make")
@pytest.mark.parametrize(("command", "status", "tags"), [("false", 1, ""), ("true", 0, "v1.2.3")])
def test_a_version_is_tagged_only_after_every_test_passed(
    release: Release, monkeypatch: pytest.MonkeyPatch, command: str, status: int, tags: str
) -> None:
    (Path(release.root) / "Makefile").write_text(f"test:\n\t{command}\n")
    git(Path(release.root), "add", ".")
    git(Path(release.root), "commit", "-qm", "Test")
    for name in ("GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"):
        monkeypatch.setenv(name, "a@example.org")
    assert tag_after_tests(release) == status
    listed = subprocess.run(
        [path_of("git"), "-C", release.root, "tag"], capture_output=True, text=True, check=True
    )
    assert listed.stdout.strip() == tags


def test_all_files_of_this_checkout_name_its_version() -> None:
    assert release_checks.check_versions(Release(__version__, f"v{__version__}", str(ROOT))) == []
