"""The layers of an image become a directory; no entry reaches out of it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import tarfile
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crossply.xpkg import layer_unpack
from crossply.xpkg import media_types as media
from crossply.xpkg.blob_content import in_memory
from crossply.xpkg.cancellable_thread import cancellable_thread
from crossply.xpkg.failures import (
    BadArchive,
    PackagesError,
    TooLarge,
    UnsafeEntry,
    WrongDigest,
)
from crossply.xpkg.image import Layer
from crossply.xpkg.layer_unpack import Limits, UnpackingCancelled, unpack
from tests.support.images import archive, image, in_zstd, member

LINK, HARD, CHAR, FIFO = tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A directory to unpack into, with a neighbour that nothing must touch."""
    (tmp_path / "neighbour").mkdir()
    (tmp_path / "neighbour" / "kept").write_text("mine")
    (tmp_path / "root").mkdir()
    return tmp_path / "root"


def untouched(root: Path) -> bool:
    around = sorted(path.name for path in root.parent.iterdir())
    return around == ["neighbour", "root"] and (root.parent / "neighbour" / "kept").read_text() == "mine"


def directory(name: str, mode: int = 0o755) -> Any:
    return member(name, type=tarfile.DIRTYPE, mode=mode)


def link(name: str, target: str) -> Any:
    return member(name, type=LINK, linkname=target)


def test_later_layers_win_over_earlier_ones(root: Path) -> None:
    first = archive([directory("bin"), member("bin/tool", b"old", mode=0o755), member("etc/kept", b"1")])
    second = archive([member("bin/tool", b"new", mode=0o755)])
    unpack(image(first, second), str(root))
    assert (root / "bin" / "tool").read_bytes() == b"new"
    assert (root / "etc" / "kept").read_bytes() == b"1"
    assert os.stat(root / "bin" / "tool").st_mode & 0o7777 == 0o755


def test_a_whiteout_hides_a_file_and_an_opaque_directory_hides_its_earlier_content(root: Path) -> None:
    first = archive([member("a/gone", b"1"), member("a/kept", b"1"), member("b/old", b"1")])
    second = archive([member("a/.wh.gone"), member("b/new", b"2"), member("b/.wh..wh..opq")])
    unpack(image(first, second), str(root))
    files = sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())
    assert files == ["a/kept", "b/new"]


def test_links_are_resolved_from_inside(root: Path) -> None:
    layer = archive(
        [
            directory("usr/lib"),
            link("lib", "/usr/lib"),
            member("lib/a", b"absolute"),
            link("usr/up", "../../../usr/lib"),
            member("usr/up/b", b"above the root is the root"),
        ]
    )
    unpack(image(layer), str(root))
    assert (root / "usr" / "lib" / "a").read_bytes() == b"absolute"
    assert (root / "usr" / "lib" / "b").exists()
    assert untouched(root)


def test_privileges_are_dropped(root: Path) -> None:
    unpack(image(archive([member("su", b"", mode=0o6755), directory("shared", 0o3777)])), str(root))
    assert os.stat(root / "su").st_mode & 0o7777 == 0o755
    assert os.stat(root / "shared").st_mode & 0o7000 == 0


def test_a_hard_link_is_another_name_of_a_file_inside(root: Path) -> None:
    unpack(image(archive([member("a", b"1"), member("b", type=HARD, linkname="a")])), str(root))
    assert os.path.samefile(root / "a", root / "b")


REFUSED = {
    "a path upwards": [member("../neighbour/x", b"evil")],
    "a path upwards in the middle": [member("a/../../neighbour/x", b"evil")],
    "an absolute path": [member("/etc/x", b"evil")],
    "a device": [member("dev/null", type=CHAR, devmajor=1, devminor=3)],
    "a pipe": [member("pipe", type=FIFO)],
    "a hard link upwards": [member("x", type=HARD, linkname="../neighbour/kept")],
    "an absolute hard link": [member("x", type=HARD, linkname="/etc/passwd")],
    "a hard link to a symbolic link": [
        link("passwd", "/etc/passwd"),
        member("x", type=HARD, linkname="passwd"),
    ],
    "a hard link to nothing": [member("x", type=HARD, linkname="missing")],
    "a file below a file": [member("a", b"1"), member("a/b", b"2")],
    "links in a circle": [link("a", "b"), link("b", "a"), member("a/x", b"evil")],
    "a whiteout of the directory itself": [member("a/.wh...")],
    "a name that is too long": [member("a" * 300, b"")],
}


@pytest.mark.parametrize("members", REFUSED.values(), ids=REFUSED.keys())
def test_entries_that_could_escape_are_refused(root: Path, members: list[Any]) -> None:
    with pytest.raises(UnsafeEntry):
        unpack(image(archive(members)), str(root))
    assert untouched(root)


ESCAPES = {
    "written through an absolute link": [link("out", "{neighbour}"), member("out/x", b"evil")],
    "written through a link upwards": [link("out", "../neighbour"), member("out/x", b"evil")],
    "a link replaced by a file": [link("kept", "{neighbour}/kept"), member("kept", b"evil")],
    "a directory where a link was": [link("out", "{neighbour}"), directory("out"), member("out/x", b"evil")],
    "removed through a link": [link("out", "{neighbour}"), member("out/.wh.kept")],
    "emptied through a link": [link("out", "{neighbour}"), member("out/.wh..wh..opq")],
    "a link to itself removed": [link("out", "{neighbour}"), member(".wh.out")],
}


@pytest.mark.parametrize("members", ESCAPES.values(), ids=ESCAPES.keys())
def test_entries_through_a_link_stay_inside(root: Path, members: list[Any]) -> None:
    for info, _ in members:
        info.linkname = info.linkname.replace("{neighbour}", str(root.parent / "neighbour"))
    unpack(image(archive(members)), str(root))
    assert untouched(root)


def test_too_much_is_not_unpacked(root: Path) -> None:
    zeros = archive([member("zeros", bytes(8 << 20))])
    with pytest.raises(TooLarge, match="more than 1048576 bytes"):
        unpack(image(zeros), str(root), Limits(size=1 << 20, file=1 << 30))
    many = archive(member(f"{number}") for number in range(200))
    with pytest.raises(TooLarge, match="more than 100"):
        unpack(image(many), str(root), Limits(entries=100))


def test_what_is_skipped_in_many_layers_counts_as_well(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A whiteout has no content that is written, but what it says to have is read."""
    layer = archive([member(".wh.gone", bytes(1 << 20))])
    monkeypatch.setattr(layer_unpack, "_BESIDE_CONTENT", 8 << 20)
    unpack(image(*[layer] * 4), str(root), Limits(size=1 << 20))
    with pytest.raises(TooLarge, match="with the layers before it"):
        unpack(image(*[layer] * 12), str(root), Limits(size=1 << 20))


def test_a_sparse_file_counts_with_its_full_size(root: Path) -> None:
    """Ten gigabytes that are a hundred bytes in the archive (a sparse file of the PAX kind)."""
    info, data = member("big", b"1\n0\n1\n" + bytes(512 - 6) + b"x")
    info.pax_headers = {
        "GNU.sparse.major": "1",
        "GNU.sparse.minor": "0",
        "GNU.sparse.name": "big",
        "GNU.sparse.realsize": str(10 << 30),
    }
    with pytest.raises(TooLarge):
        unpack(image(archive([(info, data)])), str(root))


def test_a_header_that_would_fill_memory_is_refused(root: Path) -> None:
    huge, _ = member("x")
    huge.type, huge.size = tarfile.XHDTYPE, 1 << 32
    with pytest.raises(TooLarge, match="header"):
        unpack(image(huge.tobuf(tarfile.USTAR_FORMAT) + bytes(1024)), str(root))


def test_a_layer_that_differs_from_the_configuration_is_refused(root: Path) -> None:
    good = image(archive([member("a", b"1")]))
    other = image(archive([member("a", b"2")]))
    with pytest.raises(WrongDigest):
        unpack(good._replace(layers=other.layers), str(root))
    assert list(root.iterdir()) == []


def test_damaged_layers_are_reported(root: Path) -> None:
    plain = archive([member("a", b"1" * 5000)])
    good = image(plain)
    config = {**good.config, "rootfs": {}}
    as_zstd = in_zstd(plain)
    for damaged in (
        good.layers[0].blob.open().read()[:40],
        as_zstd[:-20],
        as_zstd[:6] + b"rest",
    ):
        with pytest.raises(BadArchive):
            unpack(good._replace(config=config, layers=(Layer(in_memory(damaged)),)), str(root))


def test_layers_in_zstd_are_unpacked_like_others(root: Path) -> None:
    """Also of several frames, of which some may be empty."""
    plain = archive([member("a", b"1" * 5000), member("b", b"2" * 300_000)])
    frames = [in_zstd(plain[:700]), in_zstd(b""), in_zstd(plain[700:])]
    layer = Layer(in_memory(b"".join(frames)), media.OCI_LAYER_ZSTD)
    unpack(image(plain)._replace(layers=(layer,)), str(root))
    assert (root / "a").read_bytes() == b"1" * 5000
    assert (root / "b").read_bytes() == b"2" * 300_000


NAMES = st.text(alphabet="ab./.", min_size=1, max_size=12)
ENTRIES = st.lists(
    st.tuples(NAMES, st.sampled_from([tarfile.REGTYPE, tarfile.DIRTYPE, LINK, HARD]), NAMES), max_size=8
)


@settings(max_examples=60, deadline=None)
@given(ENTRIES)
def test_no_layer_writes_outside(tmp_path_factory: pytest.TempPathFactory, entries: Any) -> None:
    top = tmp_path_factory.mktemp("escape")
    for name in ("neighbour", "root"):
        (top / name).mkdir()
    (top / "neighbour" / "kept").write_text("mine")
    members = [member(name, type=kind, linkname=target) for name, kind, target in entries]
    with contextlib.suppress(PackagesError):
        unpack(image(archive(members)), str(top / "root"))
    assert untouched(top / "root")


def test_a_layer_may_end_with_its_last_content_but_not_before(tmp_path: Path) -> None:
    complete = archive([member("a", b"first"), member("b", b"last")])
    end = 512 + 512 + 512 + len(b"last")
    unpack(image(complete[:end]), str(tmp_path))
    assert (tmp_path / "b").read_bytes() == b"last"
    for cut in (end - 1, end - 4):
        with pytest.raises(BadArchive):
            unpack(image(complete[:cut]), str(tmp_path))


def test_directories_that_are_only_implied_count_as_entries(root: Path) -> None:
    """A small layer could have millions of them made."""
    deep = [f"{number}/" + "d/" * 50 + "file" for number in range(10)]
    with pytest.raises(TooLarge, match=r"more than 200 files"):
        unpack(image(archive([member(name, b"") for name in deep])), str(root), Limits(entries=200))
    assert sum(len(directories) + len(files) for _, directories, files in os.walk(root)) <= 200


def test_an_opaque_directory_keeps_the_files_of_its_own_layer(root: Path) -> None:
    first = archive([member("a/b/old", b"1"), member("a/c/old", b"1")])
    second = archive(
        [member("a/b/new", b"2"), member("a/b/.wh..wh..opq", b""), member("a/.wh..wh..opq", b"")]
    )
    unpack(image(first, second), str(root))
    assert sorted(str(path.relative_to(root)) for path in root.rglob("*")) == ["a", "a/b", "a/b/new"]


def test_unpacking_ends_when_it_is_cancelled(root: Path) -> None:
    cancelled = threading.Event()
    cancelled.set()
    with pytest.raises(UnpackingCancelled):
        unpack(image(archive([member("a", b"1")])), str(root), None, cancelled)
    assert list(root.iterdir()) == []


async def test_a_cancelled_waiter_ends_the_work_in_its_thread() -> None:
    finished = threading.Event()

    def work(cancelled: threading.Event) -> None:
        cancelled.wait(60)
        finished.set()

    task = asyncio.create_task(cancellable_thread(work))
    await asyncio.sleep(0)
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(finished.wait, 60)
