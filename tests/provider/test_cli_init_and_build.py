"""`crossply provider init` and `build`: from nothing to a package."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.images import archive, image, member

from crossply.cli.main import main
from crossply.errors import CrossplyError
from crossply.provider.package_files import CRDS
from crossply.provider.provider_directory import load_provider, python_packages
from crossply.xpkg.image import digest
from crossply.xpkg.layer_unpack import unpack
from crossply.xpkg.provider_image import ROOT, with_provider
from crossply.xpkg.requirements_file import read_requirements


@pytest.fixture
def provider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A new provider. Nothing is fetched: what it needs is installed with Crossply."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    assert main(["provider", "init", "provider-tickets"]) == 0
    return tmp_path / "provider-tickets"


def test_a_new_provider_has_current_crds_and_passes_a_strict_type_check(provider: Path) -> None:
    names = [path.name for path in (provider / CRDS).iterdir()]
    assert "tickets.example.org_notes.yaml" in names
    assert len(names) == 5
    before = {path: path.read_bytes() for path in (provider / CRDS).iterdir()}
    assert main(["provider", "build", "--crds-only", str(provider)]) == 0
    assert {path: path.read_bytes() for path in (provider / CRDS).iterdir()} == before
    check = [sys.executable, "-m", "mypy", "--strict", "tickets_provider"]
    done = subprocess.run(check, cwd=provider, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_an_image_gets_the_code_of_the_provider_and_runs_it(provider: Path, tmp_path: Path) -> None:
    (provider / "tickets_provider" / ".hidden").write_text("")
    base = image(archive([member("usr/bin/python3", b"1")]))
    built = with_provider(base, str(provider), python_packages(str(provider)))
    (tmp_path / "root").mkdir()
    unpack(built, str(tmp_path / "root"))
    own = tmp_path / "root" / ROOT
    assert sorted(str(path.relative_to(own)) for path in own.rglob("*") if path.is_file()) == [
        *("crossplane.yaml", "tickets_provider/__init__.py"),
        *("tickets_provider/config.py", "tickets_provider/note.py"),
    ]
    words = built.inner["Entrypoint"][1:]
    assert words == ["-P", "-m", "crossply.provider", f"/{ROOT}"]
    assert len(load_provider(str(own)).kinds) == 1
    assert digest(with_provider(base, str(provider), python_packages(str(provider)))) == digest(built)


def test_special_files_are_not_packed(provider: Path) -> None:
    (provider / "tickets_provider" / "link").symlink_to("/etc/passwd")
    with pytest.raises(CrossplyError, match="is not a regular file"):
        with_provider(image(), str(provider), python_packages(str(provider)))


def test_code_that_cannot_be_loaded_is_not_built(provider: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (provider / "tickets_provider" / "broken.py").write_text("import no_such_module\n")
    assert main(["provider", "build", "--crds-only", str(provider)]) == 1
    error = capsys.readouterr().err
    assert f"at {provider}/tickets_provider/broken.py:1" in error
    assert "pip install -r" in error
    assert "No module named 'no_such_module'" in error


def test_requirements_may_have_hashes_and_comments(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text(
        "# comment\nfirst==1.0 ; python_version > '3' \\\n    --hash=sha256:abc \\\n    --hash=sha256:def\n"
        "second>=2  # why\n"
    )
    assert read_requirements(str(tmp_path)) == ["first==1.0 ; python_version > '3'", "second>=2"]
