"""Builds a package: a directory becomes a stream, the stream a layer, and the layer part of an image."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from crossply.errors import CrossplyError
from crossply.values import Object
from crossply.xpkg import media_types as media
from crossply.xpkg.failures import BadStream, BuildFailed
from crossply.xpkg.image import EMPTY, Image, Layer, append
from crossply.xpkg.layer_writer import Entry, WrittenLayer, write_layer
from crossply.xpkg.package_directory import Directory, read_directory
from crossply.xpkg.package_lint import check_single_meta, lint
from crossply.xpkg.package_yaml import Package, check_example, decode, write
from crossply.xpkg.run_to_completion_image import LABEL, RUNS_TO_COMPLETION

_EXAMPLES = "examples"
_READING = "failed to initialize package parsing backend"


class BuildPlan(NamedTuple):
    """What to build a package of."""

    root: str
    examples: str
    ignored: Sequence[str] = ()
    base: Image = EMPTY
    """The image of the runtime that the package brings."""


class BuiltPackage(NamedTuple):
    """A package, and the image it is in."""

    package: Package
    image: Image


class PackageSource(NamedTuple):
    """A package, and the layers that it adds to any runtime."""

    package: Package
    layers: tuple[tuple[str, WrittenLayer], ...]
    """What each is for, and the layer."""

    def onto(self, base: Image) -> Image:
        """The image of a runtime with the package in it."""
        image = base
        for purpose, written in self.layers:
            image = _with_layer(image, written, purpose)
        return image


def build(plan: BuildPlan) -> BuiltPackage:
    """Build a package."""
    with reading():
        files = read_directory(plan.root, plan.ignored, plan.examples)
        examples = read_examples(plan.examples, plan.ignored)
    is_completed = plan.base.labels.get(LABEL) == RUNS_TO_COMPLETION
    try:
        content = pack(files, examples, {LABEL: RUNS_TO_COMPLETION} if is_completed else {})
    except BadStream as problem:
        raise _with_examples_hint(problem, plan) from None
    return BuiltPackage(content.package, content.onto(plan.base))


def _with_examples_hint(problem: BadStream, plan: BuildPlan) -> BadStream:
    """The problem; for a file in another directory of examples, with how to name that one."""
    directories = os.path.relpath(os.path.dirname(problem.place), plan.root).split(os.sep)
    if not problem.place or _EXAMPLES not in directories:
        return problem
    path = os.path.join(plan.root, *directories[: directories.index(_EXAMPLES) + 1])
    hint = (
        f"if the file is an example, add --examples-root={path}; by default examples are in {plan.examples}"
    )
    return problem.replace(hint=hint)


@contextlib.contextmanager
def reading(context: str = "") -> Iterator[None]:
    """Say that reading the files of a package failed."""
    prefix = f"{_READING}: {context}: " if context else f"{_READING}: "
    try:
        yield
    except OSError as problem:
        reason = (problem.strerror or "unknown error").lower()
        raise BuildFailed(f"{prefix}lstat {problem.filename}: {reason}") from None
    except CrossplyError as problem:
        raise problem.within(prefix.removesuffix(": ")) from None


def read_examples(root: str, ignored: Sequence[str] = ()) -> Directory | None:
    """The examples of a package; most have none."""
    try:
        return read_directory(root, ignored)
    except FileNotFoundError:
        return None


def pack(
    files: Directory, examples: Directory | None, annotations: Mapping[str, str] = MappingProxyType({})
) -> PackageSource:
    """Check the files of a package, and make layers of them; the package gets annotations beside its own."""
    package = _parse(files)
    check_single_meta(package)
    try:
        lint(package)
    except CrossplyError as problem:
        raise problem.within("failed to lint package") from None
    if annotations:
        package = package._replace(metas=(_annotated(package.meta, annotations),))
    layers = [(media.BASE, write_layer([Entry(media.STREAM_FILE, write(package))]))]
    if examples is not None:
        layers.append((media.EXAMPLES, write_layer([Entry(media.EXAMPLES_FILE, _checked(examples))])))
    return PackageSource(package, tuple(layers))


def _annotated(meta: Object, annotations: Mapping[str, str]) -> Object:
    own = meta["metadata"].get("annotations") or {}
    return {**meta, "metadata": {**meta["metadata"], "annotations": {**own, **annotations}}}


def _parse(files: Directory) -> Package:
    metas: list[Object] = []
    objects: list[Object] = []

    def take(part: bytes) -> None:
        describes, obj = decode(part)
        (metas if describes else objects).append(obj)

    try:
        files.visit(take)
    except CrossplyError as problem:
        raise problem.within("failed to parse package") from None
    return Package(tuple(metas), tuple(objects))


def _checked(examples: Directory) -> bytes:
    try:
        examples.visit(check_example)
    except CrossplyError as problem:
        raise problem.within("failed to parse examples") from None
    return examples.text


def _with_layer(image: Image, written: WrittenLayer, purpose: str) -> Image:
    """The image with one more layer, labelled with what it is for."""
    layer = Layer(written.blob, annotations={media.ANNOTATION: purpose})
    image = append(image, layer, written.diff_id)
    labels = {**image.labels, f"{media.ANNOTATION}:{written.blob.digest}": purpose}
    labelled = {**image.inner, "Labels": dict(sorted(labels.items()))}
    return image._replace(config={**image.config, "config": labelled})


def default_file(root: str, built: BuiltPackage, digest: str) -> str:
    """The default file of a package."""
    from crossply.xpkg.dns_names import friendly_id

    return os.path.join(root, f"{friendly_id(built.package.name, digest.partition(':')[2])}.xpkg")
