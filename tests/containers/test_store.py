"""The store of images: each once, whole or not at all, within its size, for one user alone."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from crossply.containers.failures import BadImage, ImageMissing, StoreFull
from crossply.containers.image_store import Store, StoredImage, in_use
from crossply.xpkg.failures import TooLarge, UnsafeEntry
from crossply.xpkg.image import Image, digest
from crossply.xpkg.image_reference import parse
from tests.support.images import archive, image, member

MEGABYTE = 1 << 20


def sized(name: str, size: int = MEGABYTE) -> Image:
    return image(archive([member(name, os.urandom(size), mode=0o600)]))


def add(store: Store, container_image: Image) -> StoredImage:
    return store.add(container_image, digest(container_image))


def test_an_image_is_unpacked_once_and_loaded_by_its_digest(tmp_path: Path) -> None:
    store, container_image = Store(str(tmp_path / "s")), sized("a")
    first = add(store, container_image)
    marker = Path(first.root, "a").stat().st_ino
    assert (
        add(store, container_image)
        == first
        == store.get(first.digest)
        == Store(str(tmp_path / "s")).get(first.digest)
    )
    assert Path(first.root, "a").stat().st_ino == marker
    assert store.get("sha256:" + "0" * 64) is None


def test_only_its_user_can_enter_the_store(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "s"))
    add(store, sized("a"))
    assert oct((tmp_path / "s").stat().st_mode & 0o777) == "0o700"


def test_a_root_has_the_mount_points_of_a_container_even_where_links_are_there(tmp_path: Path) -> None:
    link = {"type": tarfile.SYMTYPE, "linkname": "/run/resolv"}
    outward = {"type": tarfile.SYMTYPE, "linkname": "../../../../outside"}
    container_image = image(archive([member("etc/resolv.conf", **link), member("tls", **outward)]))
    container_image = container_image._replace(
        config={**container_image.config, "config": {"WorkingDir": "/a/b", "Volumes": {"/data": {}}}}
    )
    root = Path(add(Store(str(tmp_path / "s")), container_image).root)
    assert all((root / name).is_dir() for name in ("proc", "dev", "tmp", "a/b", "data", "outside/server"))
    assert (root / "etc/resolv.conf").is_file()
    assert not (root / "etc/resolv.conf").is_symlink()
    assert not (tmp_path / "outside").exists()


def test_an_image_without_room_for_it_is_refused(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "s"))
    with pytest.raises(BadImage, match="no room for what a container needs"):
        add(store, image(archive([member("proc", b"a file")])))
    assert not any(path.is_dir() for path in (tmp_path / "s" / "images").iterdir())


@pytest.mark.parametrize("name", ["../x", "/x"])
def test_an_image_that_leads_outside_leaves_nothing(tmp_path: Path, name: str) -> None:
    store, container_image = Store(str(tmp_path / "s")), image(archive([member("a"), member(name, b"x")]))
    with pytest.raises(UnsafeEntry):
        add(store, container_image)
    assert store.get(digest(container_image)) is None
    assert not any(path.is_dir() for path in (tmp_path / "s" / "images").iterdir())


def test_the_least_recently_used_is_evicted(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "s"), most=int(2.5 * MEGABYTE))
    old, recent = add(store, sized("a")), add(store, sized("b"))
    os.utime(old.directory + ".lock", (1, 1))
    new = add(store, sized("c"))
    assert [store.get(stored.digest) is not None for stored in (old, recent, new)] == [False, True, True]
    with pytest.raises(ImageMissing), in_use(old):
        pass


def test_an_image_in_use_is_never_removed(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "s"), most=int(1.5 * MEGABYTE))
    used = add(store, sized("a"))
    with in_use(used):
        with pytest.raises(StoreFull, match="the images in use need all of the 1 MiB"):
            add(store, sized("b"))
        assert store.get(used.digest) is not None
    add(store, sized("b"))
    assert store.get(used.digest) is None


def test_an_image_larger_than_the_store_is_not_unpacked(tmp_path: Path) -> None:
    with pytest.raises(TooLarge):
        add(Store(str(tmp_path / "s"), most=MEGABYTE // 2), sized("a"))


def test_many_threads_unpack_it_once(tmp_path: Path) -> None:
    container_image = sized("a", 100)
    with ThreadPoolExecutor(8) as pool:
        stored_images = list(pool.map(lambda _: add(Store(str(tmp_path / "s")), container_image), range(16)))
    assert len(set(map(str, stored_images))) == 1
    assert len([path for path in (tmp_path / "s" / "images").iterdir() if path.is_dir()]) == 1


def test_an_image_that_another_process_uses_is_removed_only_after_it_exits(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "s"), most=int(1.5 * MEGABYTE))
    used = add(store, sized("a"))
    program = (
        "import sys; from crossply.containers.image_store import *; "
        f"image = Store({str(tmp_path / 's')!r}).get({used.digest!r})\n"
        "with in_use(image): print('used', flush=True); sys.stdin.read()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "used\n"
    with pytest.raises(StoreFull):
        add(store, sized("b"))
    process.kill()
    process.communicate()
    add(store, sized("b"))
    assert store.get(used.digest) is None


def test_work_that_a_killed_process_left_unfinished_is_redone(tmp_path: Path) -> None:
    store, container_image = Store(str(tmp_path / "s")), sized("a", 10)
    half = tmp_path / "s" / "images" / (".new-" + digest(container_image).partition(":")[2])
    half.mkdir(parents=True)
    (half / "root").mkdir()
    (half / "root" / "other").write_text("half")
    assert sorted(os.listdir(add(store, container_image).root))[0] == "a"
    assert not half.exists()


def test_abandoned_pulls_are_removed_a_day_later(tmp_path: Path) -> None:
    old, new = (tmp_path / "s" / f"pull-{name}" for name in ("old", "new"))
    for directory in (old, new):
        directory.mkdir(parents=True)
        (directory / "layer").write_text("half")
    os.utime(old, (1, 1))
    add(Store(str(tmp_path / "s")), sized("a", 10))
    assert [old.exists(), new.exists()] == [False, True]


def test_a_name_refers_to_the_last_image_fetched_by_it(tmp_path: Path) -> None:
    store, name = Store(str(tmp_path / "s")), parse("registry.example.org/a/b:v1")
    assert store.recall(name) is None
    stored = add(store, sized("a", 10))
    store.remember(name, stored.digest)
    assert store.recall(name) == stored == store.recall(name.at(stored.digest))
