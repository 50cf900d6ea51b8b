"""Any JSON of an image gives an image or an error message."""

from __future__ import annotations

import contextlib
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crossply.errors import CrossplyError
from crossply.xpkg.archive_reader import read_archive
from crossply.xpkg.blob_content import Bytes, digest_of
from crossply.xpkg.dependencies import read_lock
from crossply.xpkg.image import EMPTY, Image, append, digest
from crossply.xpkg.image_manifests import choose, from_manifest
from crossply.xpkg.package_stream_extraction import stream_of
from crossply.xpkg.package_yaml import read
from tests.support.images import archive, member, package

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text("ab/.:", max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["config", "Labels", "rootfs", "diff_ids", "Env", "digest", "size", "platform", "layers"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
DESCRIBED = {"digest": digest_of(b"{}"), "size": 2}


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from(["config", "rootfs", "history", "os", "architecture"]), JSON))
def test_any_configuration_can_be_viewed(config: dict[str, Any]) -> None:
    image = Image(config, package().layers)
    assert isinstance(image.labels, dict)
    assert isinstance(image.platform, dict)
    assert image.with_label_annotations().layers
    assert digest(append(image, package().layers[0], "sha256:0"))


@settings(max_examples=150, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["config", "layers", "manifests", "annotations"]), JSON | st.just(DESCRIBED)
    )
)
def test_any_manifest_is_an_image_or_an_error(manifest: dict[str, Any]) -> None:
    with contextlib.suppress(CrossplyError):
        choose(manifest)
    with contextlib.suppress(CrossplyError):
        from_manifest(manifest, lambda _: Bytes(b"{}", digest_of(b"{}")))


@settings(max_examples=80, deadline=None)
@given(JSON | st.lists(st.fixed_dictionaries({"Config": JSON | st.just("c"), "Layers": JSON}), max_size=2))
def test_any_tarball_is_an_image_or_an_error(tmp_path_factory: pytest.TempPathFactory, manifest: Any) -> None:
    path = tmp_path_factory.mktemp("odd") / "x.tar"
    config = json.dumps(EMPTY.config).encode()
    path.write_bytes(archive([member("manifest.json", json.dumps(manifest).encode()), member("c", config)]))
    with contextlib.suppress(CrossplyError):
        stream_of(read_archive(str(path)))


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_a_stream_or_an_error(data: bytes) -> None:
    with contextlib.suppress(CrossplyError):
        read(b"apiVersion: meta.pkg.crossplane.io/v1\nkind: Function\n" + data)


def test_a_tarball_that_names_files_elsewhere_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("{}")
    manifest = json.dumps([{"Config": "../secret", "Layers": [str(tmp_path / "secret")]}]).encode()
    link = member("c", type=tarfile.SYMTYPE, linkname=str(tmp_path / "secret"))
    (tmp_path / "x.tar").write_bytes(archive([member("manifest.json", manifest), link]))
    with pytest.raises(CrossplyError, match="not found in tar"):
        read_archive(str(tmp_path / "x.tar"))


@pytest.mark.parametrize("lock", [{}, {"packages": None}, {"packages": []}])
def test_an_empty_lock_has_no_packages(lock: dict[str, Any]) -> None:
    assert read_lock(lock) == []
