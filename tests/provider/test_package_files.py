"""Directories of providers: their kinds are found, their CRDs written and checked."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from crossply.errors import CrossplyError
from crossply.provider.package_files import check_package_files, write_package_files
from crossply.provider.provider_directory import load_provider

KINDS = """
    from dataclasses import dataclass
    from crossply.provider import Ref, managed

    class Methods:
        def observe(self, ctx, params): ...
        def create(self, ctx, params): ...
        def update(self, ctx, params): ...
        def delete(self, ctx, params): ...

    @managed(group="shop.example.org")
    class Knife(Methods):
        @dataclass
        class Parameters:
            room: Ref["Room"] | None = None

    @managed(group="shop.example.org")
    class Room(Methods):
        @dataclass
        class Parameters:
            size: int
"""


@pytest.fixture
def provider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A provider whose package has a name of its own, so that tests do not share modules."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "crossplane.yaml").write_text("kind: Provider")
    for name in ("tests", package_of(tmp_path)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("")
    kinds(tmp_path).write_text(dedent(KINDS))
    return tmp_path


def package_of(path: Path) -> str:
    return f"shop_{path.name}".replace("-", "_")


def kinds(path: Path) -> Path:
    return path / package_of(path) / "kinds.py"


def test_the_kinds_of_all_modules_are_collected(provider: Path):
    loaded = load_provider(str(provider))
    assert [kind.kind.kind for kind in loaded.kinds] == ["Knife", "Room"]
    assert loaded.packages == (package_of(provider),)


def test_crds_are_written_and_checked_against_the_code(provider: Path):
    with pytest.raises(CrossplyError, match="not current"):
        check_package_files(str(provider))
    names = write_package_files(load_provider(str(provider)))
    assert names == ["shop.example.org_knives.yaml", "shop.example.org_rooms.yaml"]
    check_package_files(str(provider))
    (provider / "package/crds" / names[0]).write_text("kind: CustomResourceDefinition")
    (provider / "package/crds/old.yaml").write_text("")
    with pytest.raises(CrossplyError, match=r"old\.yaml, shop\.example\.org_knives\.yaml"):
        check_package_files(str(provider))


@pytest.mark.parametrize(
    ("old", "new", "message", "line"),
    [
        ("from crossply.provider", "from no_such_module", "ModuleNotFoundError", ":2"),
        ("size: int", "size: bytes", "a field cannot be of type bytes", ":16"),
        ("class Room(Methods):", "class Room(Methods)", "SyntaxError", ":17"),
        ('Ref["Room"]', 'Ref["Rom"]', "has no class of this name", ""),
        ("class Methods:", "class Methods(Nothing):", "NameError", ":4"),
    ],
)
def test_code_that_cannot_be_loaded_is_refused_with_its_place(
    provider: Path, old: str, new: str, message: str, line: str
):
    kinds(provider).write_text(dedent(KINDS).strip().replace(old, new, 1))
    with pytest.raises(CrossplyError) as refused:
        load_provider(str(provider))
    assert message in str(refused.value)
    assert refused.value.place == (f"{kinds(provider)}{line}" if line else "")


def test_a_directory_without_kinds_is_refused(provider: Path):
    kinds(provider).write_text("")
    with pytest.raises(CrossplyError, match="declares no kind"):
        load_provider(str(provider))
    (provider / "crossplane.yaml").unlink()
    with pytest.raises(CrossplyError, match=r"has no crossplane\.yaml"):
        load_provider(str(provider))


def test_a_separate_process_writes_the_files_or_reports_the_error(provider: Path):
    command = [sys.executable, "-P", "-m", "crossply.provider.package_files", str(provider)]
    subprocess.run(command, check=True)
    assert len(list((provider / "package/crds").iterdir())) == 2
    kinds(provider).write_text("1 / 0")
    failed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert failed.returncode == 1
    assert f"at: {kinds(provider)}:1" in failed.stderr
    assert "ZeroDivisionError" in failed.stderr
    assert "Traceback" not in failed.stderr
