"""Nothing outside the root is read, written or removed, whatever is put below it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from provider_local.confined_tree import ConfinedTree, FileRefused, ParentMissing, _unfinished
from provider_local.relative_path import PathRefused, path_components


@pytest.mark.parametrize(
    "path",
    [
        "",
        ".",
        "..",
        "../x",
        "a/../b",
        "/etc/passwd",
        "a//b",
        "a/",
        "a\0b",
        "a\nb",
        "x" * 600,
        "a/" * 20 + "b",
    ],
)
def test_a_path_that_is_not_plainly_below_is_refused(path: str) -> None:
    with pytest.raises(PathRefused):
        path_components(path)


def test_a_file_is_written_whole_with_its_mode_and_read_back(root: Path) -> None:
    tree = ConfinedTree(str(root))
    tree.make_directory(("site",), 0o750)
    tree.write(("site", "page"), b"old", 0o600)
    tree.write(("site", "page"), b"new content", 0o640)
    assert tree.read(("site", "page"), 3) == (b"new", 11, 0o640)
    assert tree.directory_mode(("site",)) == 0o750
    assert tree.entries(("site",)) == ["page"]


def test_what_a_killed_write_left_goes_with_the_next_write_and_with_the_file(root: Path) -> None:
    tree = ConfinedTree(str(root))
    leftover = root / _unfinished("page")
    for finish in (lambda: tree.write(("page",), b"new", 0o600), lambda: tree.remove_file(("page",))):
        leftover.write_bytes(b"ne")
        finish()
        assert not leftover.exists()
    assert tree.entries(()) == []


def test_a_missing_parent_is_named(root: Path) -> None:
    tree = ConfinedTree(str(root))
    with pytest.raises(ParentMissing, match=f"directory {root}/site does not exist"):
        tree.write(("site", "page"), b"", 0o600)
    assert tree.read(("site", "page"), 1) is None
    tree.remove_file(("site", "page"))
    tree.remove_directory(("site",))


def test_a_symbolic_link_is_not_followed(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    (root / "link").symlink_to(outside)
    (root / "page").symlink_to(outside / "secret")
    tree = ConfinedTree(str(root))
    for refused in (
        lambda: tree.read(("link", "secret"), 10),
        lambda: tree.read(("page",), 10),
        lambda: tree.write(("link", "secret"), b"mine", 0o600),
        lambda: tree.remove_file(("link", "secret")),
        lambda: tree.make_directory(("link", "new"), 0o700),
        lambda: tree.directory_mode(("link",)),
        lambda: tree.make_directory(("link",), 0o777),
    ):
        with pytest.raises(FileRefused, match="is a symbolic link, which is not followed"):
            refused()
    tree.write(("page",), b"mine", 0o600)  # replaces the link, not what it names
    assert (outside / "secret").read_text() == "secret"
    assert not (root / "page").is_symlink()


def test_removing_a_directory_with_its_content_removes_links_and_not_what_they_name(
    root: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").touch()
    (root / "site" / "deep").mkdir(parents=True)
    (root / "site" / "deep" / "file").touch()
    (root / "site" / "deep" / "link").symlink_to(outside)
    tree = ConfinedTree(str(root))
    with pytest.raises(OSError, match="not empty"):
        tree.remove_directory(("site",))
    tree.remove_directory(("site",), with_content=True)
    assert not (root / "site").exists()
    assert (outside / "kept").exists()


def test_what_is_no_regular_file_is_refused_at_once(root: Path) -> None:
    os.mkfifo(root / "pipe")  # opening it for reading would wait for a writer
    (root / "directory").mkdir()
    tree = ConfinedTree(str(root))
    for name in ("pipe", "directory"):
        with pytest.raises(FileRefused, match="is not a regular file"):
            tree.read((name,), 1)
    with pytest.raises(FileRefused, match="is a directory"):
        tree.write(("directory",), b"", 0o600)
    with pytest.raises(FileRefused, match="cannot be removed"):
        tree.remove_file(("directory",))
    assert tree.entries(()) == ["directory", "pipe"]
