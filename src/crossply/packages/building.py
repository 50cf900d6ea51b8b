"""Building a package: a directory becomes a stream, the stream a layer, and the layer part of an image."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from crossply.errors import CrossplyError
from crossply.packages import media
from crossply.packages.directory import Directory, read_directory
from crossply.packages.failures import BuildFailed
from crossply.packages.image import EMPTY, Image, Layer, append
from crossply.packages.layer_writing import Entry, write_layer
from crossply.packages.lint import check_one_meta, lint
from crossply.packages.stream import Package, check_example, decode, is_empty, write
from crossply.values import Object

_READING = "failed to initialize package parsing backend"


class Plan(NamedTuple):
    """What to build a package of."""

    root: str
    examples: str
    ignored: Sequence[str] = ()
    base: Image = EMPTY
    """The image of the runtime that the package brings."""


class Built(NamedTuple):
    """A package, and the image it is in."""

    package: Package
    image: Image


def build(plan: Plan) -> Built:
    """Build a package."""
    files, examples = _read_files(plan)
    package = _parse(files)
    check_one_meta(package)
    try:
        lint(package)
    except CrossplyError as problem:
        raise problem.within("failed to lint package") from None
    image = _with_file(plan.base, media.STREAM_FILE, write(package), media.BASE)
    if examples is not None:
        image = _with_file(image, media.EXAMPLES_FILE, _checked(examples), media.EXAMPLES)
    return Built(package, image)


def _read_files(plan: Plan) -> tuple[Directory, Directory | None]:
    try:
        files = read_directory(plan.root, plan.ignored, plan.examples)
        try:
            return files, read_directory(plan.examples, plan.ignored)
        except FileNotFoundError:
            return files, None
    except OSError as problem:
        reason = (problem.strerror or "unknown error").lower()
        raise BuildFailed(f"{_READING}: lstat {problem.filename or plan.root}: {reason}") from None
    except CrossplyError as problem:
        raise problem.within(_READING) from None


def _parse(files: Directory) -> Package:
    metas: list[Object] = []
    objects: list[Object] = []

    def take(part: bytes) -> None:
        if not is_empty(part):
            describes, obj = decode(part)
            (metas if describes else objects).append(obj)

    try:
        files.each(take)
    except CrossplyError as problem:
        raise problem.within("failed to parse package") from None
    return Package(tuple(metas), tuple(objects))


def _checked(examples: Directory) -> bytes:
    try:
        examples.each(check_example)
    except CrossplyError as problem:
        raise problem.within("failed to parse examples") from None
    return examples.text


def _with_file(image: Image, name: str, data: bytes, purpose: str) -> Image:
    """The image with one more layer that holds one file, labelled with what it is for."""
    written = write_layer([Entry(name, data)])
    layer = Layer(written.blob, annotations={media.ANNOTATION: purpose})
    image = append(image, layer, written.diff_id)
    labels = {**image.labels, f"{media.ANNOTATION}:{written.blob.digest}": purpose}
    labelled = {**image.inner, "Labels": dict(sorted(labels.items()))}
    return image._replace(config={**image.config, "config": labelled})


def default_file(root: str, built: Built, digest: str) -> str:
    """Where a package is written unless somebody says where."""
    from crossply.packages.naming import friendly_id

    return os.path.join(root, f"{friendly_id(built.package.name, digest.partition(':')[2])}.xpkg")
