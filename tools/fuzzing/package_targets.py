"""Packages: streams of YAML, layers in every compression, archives, and unpacking them."""

from __future__ import annotations

import gzip
import io
import os
import random
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from typing import Any

from crossply.values.yaml import dump
from crossply.xpkg import media_types as media
from crossply.xpkg.archive_reader import read_archive, read_tagged
from crossply.xpkg.archive_writer import write_archive
from crossply.xpkg.blob_content import in_memory
from crossply.xpkg.image import Image, Layer
from crossply.xpkg.layer_unpack import Limits, unpack
from crossply.xpkg.package_lint import check_single_meta, failures
from crossply.xpkg.package_stream_extraction import stream_of
from crossply.xpkg.package_yaml import read
from fuzzing.inputs import as_bytes, as_text, document, mutated, mutated_value, text, value

_LIMITS = Limits(size=8 << 20, entries=1000, file=4 << 20)
_META = {
    "apiVersion": "meta.pkg.crossplane.io/v1",
    "kind": "Configuration",
    "metadata": {"name": "x", "annotations": {"a": "b"}},
    "spec": {
        "crossplane": {"version": ">=v1.14.0"},
        "dependsOn": [{"provider": "xpkg.example.org/a/b", "version": ">=v1.0.0"}],
    },
}
_DEFINITION = {
    "apiVersion": "apiextensions.crossplane.io/v1",
    "kind": "CompositeResourceDefinition",
    "metadata": {"name": "xs.example.org"},
    "spec": {
        "group": "example.org",
        "names": {"kind": "X", "plural": "xs"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "referenceable": True,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object"}}}},
            }
        ],
    },
}
_COMPOSITION = {
    "apiVersion": "apiextensions.crossplane.io/v1",
    "kind": "Composition",
    "metadata": {"name": "x"},
    "spec": {
        "compositeTypeRef": {"apiVersion": "example.org/v1", "kind": "X"},
        "mode": "Pipeline",
        "pipeline": [{"step": "a", "functionRef": {"name": "f"}, "input": {"kind": "Input"}}],
    },
}
_KINDS = (
    ("meta.pkg.crossplane.io/v1", "Provider"),
    ("meta.pkg.crossplane.io/v1", "Function"),
    ("meta.pkg.crossplane.io/v1beta1", "Function"),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
    ("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration"),
    ("ops.crossplane.io/v1alpha1", "Operation"),
    ("protection.crossplane.io/v1beta1", "Usage"),
)
_TYPES = (
    tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE,
    tarfile.FIFOTYPE, tarfile.GNUTYPE_SPARSE, tarfile.CONTTYPE, b"?",
)  # fmt: skip
_NAMES = (
    "package.yaml", "./package.yaml", "a", "a/b", "a/b/c", "../x", "/etc/x", "a/../../x", ".wh.a",
    "a/.wh..wh..opq", ".wh.", ".", "", "x" * 300, "ü", "a//b", "a/./b", "b/" * 140,
)  # fmt: skip


def make_stream(rng: random.Random) -> Any:
    parts = []
    for _ in range(rng.randrange(1, 5)):
        obj = mutated_value(rng, rng.choice((_META, _META, _DEFINITION, _COMPOSITION)))
        if isinstance(obj, dict) and rng.random() < 0.3:
            obj["apiVersion"], obj["kind"] = rng.choice(_KINDS)
        parts.append(dump(obj))
    data = "---\n".join(parts).encode("utf-8", "surrogatepass")
    return as_text(mutated(rng, data) if rng.random() < 0.5 else data)


def run_stream(case_input: Any) -> None:
    package = read(as_bytes(case_input))
    check_single_meta(package)
    failures(package)


def make_layer(rng: random.Random) -> Any:
    """A tar archive of odd entries, compressed, and broken before or after that."""
    plain = _tar(rng)
    if rng.random() < 0.4:
        plain = mutated(rng, plain, _NUMBERS)
    packed = rng.choice((_plain, gzip.compress, _zstd))(plain)
    if rng.random() < 0.3:
        packed = mutated(rng, packed)
    if rng.random() < 0.1:
        packed += rng.choice((packed, b"\0" * 600, b"\x1f\x8b", b"\x28\xb5\x2f\xfd"))
    return {"layer": as_text(packed), "annotated": rng.random() < 0.5}


_NUMBERS = [
    "77777777777",
    "-1",
    "\x80\xff\xff\xff\xff\xff\xff\xff",
    "99 size=1\n",
    "30 GNU.sparse.size=9999999\n",
    "\0",
]


def _tar(rng: random.Random) -> bytes:
    file = io.BytesIO()
    form = rng.choice((tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT))
    with tarfile.open(fileobj=file, mode="w", format=form) as tar:
        for _ in range(rng.randrange(6)):
            info = tarfile.TarInfo(rng.choice(_NAMES))
            info.type, info.linkname = rng.choice(_TYPES), rng.choice(_NAMES)
            info.mode = rng.choice((0o644, 0o7777, 0))
            info.mtime = rng.choice((0, 1e9, 1.5, 8e10))
            if form == tarfile.PAX_FORMAT and rng.random() < 0.4:
                info.pax_headers = {
                    rng.choice(_PAX): rng.choice(("1", "9" * 30, "x", "-5", "0,1", "1.5e400"))
                }
            content = rng.choice((b"", b"a: b\n", b"x" * 2000))
            info.size = len(content) if info.isreg() else 0
            try:
                tar.addfile(info, io.BytesIO(content))
            except (ValueError, UnicodeError):
                continue  # tarfile cannot write it
    return file.getvalue()


_PAX = (
    "size", "path", "linkpath", "mtime", "GNU.sparse.map", "GNU.sparse.size", "GNU.sparse.major", "uid",
    "SCHILY.xattr.user.x", "GNU.sparse.realsize", "GNU.sparse.name", "hdrcharset",
)  # fmt: skip


def _plain(data: bytes) -> bytes:
    return data


def _zstd(data: bytes) -> bytes:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return bytes(zstd.compress(data))


def _image(case_input: Any) -> Image:
    annotations = {media.ANNOTATION: media.BASE} if case_input["annotated"] else {}
    return Image({}, (Layer(in_memory(as_bytes(case_input["layer"])), annotations=annotations),))


def run_layer(case_input: Any) -> None:
    stream_of(_image(case_input))


def run_unpack(case_input: Any) -> None:
    with tempfile.TemporaryDirectory() as directory:
        unpack(_image(case_input), directory, _LIMITS)


def make_archive(rng: random.Random) -> Any:
    layer = make_layer(rng)
    config = rng.choice(
        ({}, {"config": {"Labels": {"a": "b"}}, "rootfs": {"diff_ids": ["x"]}}, value(rng, 3))
    )
    image = _image(layer)._replace(config=config if isinstance(config, dict) else document(rng))
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "x.xpkg")
        write_archive(image, path)
        with open(path, "rb") as file:
            data = file.read()
    return as_text(mutated(rng, data, [*_NUMBERS, "null", "[]", "{}", text(rng)]))


def run_archive(case_input: Any) -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "x.xpkg")
        with open(path, "wb") as file:
            file.write(as_bytes(case_input))
        read_tagged(path)
        stream_of(read_archive(path))


def targets() -> Iterator[tuple[str, Any, Any]]:
    """The name of each target, what makes its input, and what runs it."""
    yield "package-stream", make_stream, run_stream
    yield "package-layer", make_layer, run_layer
    yield "package-unpack", make_layer, run_unpack
    yield "package-archive", make_archive, run_archive
