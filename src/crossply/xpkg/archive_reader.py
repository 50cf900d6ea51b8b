"""Images in files: what `docker save` writes, which is also what an xpkg file is, and OCI layouts.

Members are not unpacked: a blob is a part of the archive, read when it is needed.
"""

from __future__ import annotations

import os
import tarfile
import tempfile
from collections.abc import Callable
from typing import Any

import orjson

from crossply.values import Object
from crossply.xpkg import media_types as media
from crossply.xpkg.blob_content import Blob, FilePart, file_part, read_whole
from crossply.xpkg.decompression import uncompressed
from crossply.xpkg.failures import BadArchive, WrongDigest
from crossply.xpkg.image import Image, Layer, decode_object
from crossply.xpkg.image_manifests import architecture, choose, from_manifest
from crossply.xpkg.layer_reader import MAX_ENTRIES, explained_archive_errors
from crossply.xpkg.layer_writer import GZIP_MAGIC, compress

_MOST_MEMBERS = 10_000
_BLOCK = 512
Find = Callable[[str], Blob]


def read_archive(path: str) -> Image:
    """The image in an xpkg file, an image tarball, or an OCI layout that is a directory or a tarball."""
    if os.path.isdir(path):
        return _from_layout(lambda name: _file_below(path, name))
    parts = _members(path)
    find = _finder(path, parts)
    if "manifest.json" in parts or "index.json" not in parts:
        return _from_docker(find)
    return _from_layout(find)


def read_tagged(path: str) -> dict[str, Image]:
    """The images in an xpkg file or an image tarball by their names; those without a name are left out."""
    find = _finder(path, _members(path))
    images = {}
    for entry in _listed(find):
        names = entry.get("RepoTags")
        if isinstance(names, list) and names and isinstance(names[0], str):
            images[names[0]] = _image(find, entry)
    return images


def _finder(path: str, parts: dict[str, tuple[int, int]]) -> Find:
    def find(name: str) -> Blob:
        part = parts.get(os.path.normpath(name))
        if part is None:
            raise BadArchive(f"file {name} not found in tar")
        return file_part(path, *part)

    return find


def _file_below(root: str, name: str) -> Blob:
    path = os.path.join(root, name)
    if os.path.realpath(path) != os.path.join(os.path.realpath(root), name):
        raise BadArchive(f"file {name} is not in {root}")
    if not os.path.isfile(path):
        raise BadArchive(f"file {name} not found in {root}")
    return file_part(path)


def _members(path: str) -> dict[str, tuple[int, int]]:
    """Where each regular member of an archive is: its offset and its size. Links lead to other members."""
    members: dict[str, tuple[int, int]] = {}
    links: dict[str, str] = {}
    with open(path, "rb") as file:
        try:
            with tarfile.open(fileobj=file, mode="r:") as tar:
                for count, info in enumerate(tar):
                    if count > min(_MOST_MEMBERS, MAX_ENTRIES):
                        raise BadArchive(f"{path} has more than {_MOST_MEMBERS} members")
                    name = os.path.normpath(info.name)
                    if info.isreg():
                        members[name] = (info.offset_data, info.size)
                    elif info.issym():
                        links[name] = os.path.normpath(os.path.join(os.path.dirname(name), info.linkname))
        except tarfile.TarError:
            size = os.path.getsize(path)
            if size:
                problem = "unexpected EOF" if size < _BLOCK else "archive/tar: invalid tar header"
                raise BadArchive(problem, place=path, hint="is it an image, and all of it?") from None
    return members | {name: members[target] for name, target in links.items() if target in members}


def _from_docker(find: Find) -> Image:
    listed = _listed(find)
    if len(listed) != 1:
        raise BadArchive("tarball must contain only a single image to be used with tarball.Image")
    return _image(find, listed[0])


def _listed(find: Find) -> list[Object]:
    data = read_whole(find("manifest.json"), media.MAX_MANIFEST, "manifest.json")
    try:
        manifest: Any = orjson.loads(data)
    except orjson.JSONDecodeError as problem:
        raise BadArchive(f"manifest.json is not JSON: {problem}") from None
    if (
        not isinstance(manifest, list)
        or not manifest
        or not all(isinstance(entry, dict) for entry in manifest)
    ):
        raise BadArchive("manifest.json names no image")
    return manifest[:_MOST_MEMBERS]


def _image(find: Find, entry: Object) -> Image:
    config_name, names = entry.get("Config"), entry.get("Layers") or []
    named = isinstance(config_name, str) and isinstance(names, list)
    if not named or not all(isinstance(name, str) for name in names):
        raise BadArchive("manifest.json names no configuration and layers")
    if len(names) > media.MAX_LAYERS:
        raise BadArchive(f"the image has more than {media.MAX_LAYERS} layers")
    config = decode_object(read_whole(find(str(config_name)), media.MAX_CONFIG, "the configuration"), "it")
    layers = tuple(Layer(gzipped(find(name))) for name in names)
    return Image(config, layers).with_label_annotations()


def gzipped(blob: Blob) -> Blob:
    """The blob, compressed if it is not yet, or not like this: images are stored and pushed so."""
    with blob.open() as file:
        if file.read(2) == GZIP_MAGIC:
            return blob
    target = tempfile.NamedTemporaryFile(prefix="crossply-layer-", delete=False)  # noqa: SIM115
    try:
        with blob.open() as source, explained_archive_errors(), uncompressed(source) as plain, target:
            compress(plain, target)  # type: ignore[arg-type]
    except BaseException:
        os.unlink(target.name)
        raise
    return Temporary(file_part(target.name))


class Temporary:
    """A blob in a file of its own, which is removed with it."""

    def __init__(self, part: FilePart) -> None:
        self._part = part
        self.digest, self.size = part.digest, part.size
        self.open = part.open

    def __del__(self) -> None:
        if os.path.exists(self._part.path):
            os.unlink(self._part.path)


def _from_layout(find: Find) -> Image:
    index = decode_object(read_whole(find("index.json"), media.MAX_MANIFEST, "index.json"), "index.json")
    for _ in range(4):
        chosen = choose(index, architecture())
        data = _read_blob(find, chosen, media.MAX_MANIFEST)
        manifest = decode_object(data, "the manifest")
        if "manifests" not in manifest:
            return from_manifest(manifest, lambda described: _blob(find, described))
        index = manifest
    raise BadArchive("indexes of images are nested too deeply")


def _blob(find: Find, described: Object) -> Blob:
    digest = described["digest"]
    blob = find(f"blobs/{digest.replace(':', '/', 1)}")
    if blob.digest != digest:
        raise WrongDigest(f"a blob does not have the digest {digest}")
    return blob


def _read_blob(find: Find, described: Object, most: int) -> bytes:
    return read_whole(_blob(find, described), most, "a manifest")
