"""Fetched packages are cached on disk, verified, and evicted."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from crossply.xpkg.image_reference import parse
from crossply.xpkg.package_cache import PackageCache

SOURCE = parse("registry.test/acme/function-x:v1")
DIGEST = f"sha256:{'ab' * 32}"


def only_file(directory: Path) -> Path:
    (path,) = directory.iterdir()
    return path


def test_a_cached_package_is_read_back(tmp_path: Path) -> None:
    cache = PackageCache(str(tmp_path / "cache"))
    assert cache.get(SOURCE, DIGEST) is None
    cache.put(SOURCE, DIGEST, b"stream")
    assert cache.get(SOURCE, DIGEST) == b"stream"
    assert cache.get(SOURCE, f"sha256:{'cd' * 32}") is None
    assert cache.get(parse("registry.test/other/x:v1"), DIGEST) is None


def test_files_have_the_names_and_modes_of_crossplane(tmp_path: Path) -> None:
    cache = PackageCache(str(tmp_path))
    cache.put(SOURCE, DIGEST, b"stream")
    assert only_file(tmp_path).name == "registry-test-acme-function-x-abababababab.gz"
    assert gzip.decompress(only_file(tmp_path).read_bytes()) == b"stream"
    only_file(tmp_path).write_bytes(gzip.compress(b"from crossplane"))
    assert cache.get(SOURCE, DIGEST) == b"from crossplane"


@pytest.mark.parametrize("cut", [1, 30, 60], ids=["the end", "the middle", "nearly all"])
def test_a_truncated_file_is_refetched(tmp_path: Path, cut: int) -> None:
    cache = PackageCache(str(tmp_path))
    cache.put(SOURCE, DIGEST, b"stream")
    path = only_file(tmp_path)
    path.write_bytes(path.read_bytes()[:-cut])
    assert cache.get(SOURCE, DIGEST) is None
    assert not path.exists()


def test_a_modified_file_is_not_trusted(tmp_path: Path) -> None:
    cache = PackageCache(str(tmp_path))
    cache.put(SOURCE, DIGEST, b"stream")
    path = only_file(tmp_path)
    cache.put(SOURCE, DIGEST, b"evil")
    evil = path.read_bytes()
    cache.put(SOURCE, DIGEST, b"stream")
    good = path.read_bytes()
    digest = good[10 : good.index(b"\x00", 10)]
    path.write_bytes(evil[:10] + digest + evil[evil.index(b"\x00", 10) :])
    assert cache.get(SOURCE, DIGEST) is None


def test_an_image_whose_digest_only_begins_the_same_is_another(tmp_path: Path) -> None:
    cache = PackageCache(str(tmp_path))
    cache.put(SOURCE, DIGEST, b"stream")
    assert cache.get(SOURCE, f"{DIGEST[:-1]}0") is None


def test_the_least_recently_used_is_evicted(tmp_path: Path) -> None:
    cache = PackageCache(str(tmp_path), most=3000)
    digests = [f"sha256:{str(number) * 64}" for number in range(1, 4)]
    for age, digest in enumerate(digests):
        cache.put(SOURCE, digest, os.urandom(1000))
        for path in tmp_path.iterdir():
            os.utime(path, (path.stat().st_mtime - 100 + age, path.stat().st_mtime - 100 + age))
    assert [cache.get(SOURCE, digest) is not None for digest in digests] == [False, True, True]


def test_a_package_larger_than_the_cache_is_not_cached(tmp_path: Path) -> None:
    cache = PackageCache(str(tmp_path), most=100)
    cache.put(SOURCE, DIGEST, os.urandom(1000))
    assert list(tmp_path.iterdir()) == []
