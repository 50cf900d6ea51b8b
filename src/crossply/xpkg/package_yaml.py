"""The stream of a package: one object that describes it, and the objects it brings.

What comes out of `read` is typed: it is what a package is written of, and what a control plane would see.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from crossply.kinds.composition_defaults import with_defaults
from crossply.kinds.gostructs import DecodeError, GoType, json_kind, round_trip
from crossply.values import Object
from crossply.values.yaml import LimitError, YamlError, dump, is_blank, read_first
from crossply.values.yaml.stream import split, with_plain_lines
from crossply.xpkg.failures import BadStream, TooLarge
from crossply.xpkg.media_types import MAX_OBJECT
from crossply.xpkg.package_go_types import meta_type, object_type

_MOST_SHOWN = 10_000
_SCHEME = "pkg/runtime/scheme.go:110"
_GO_HEAD = (
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
)


class Package(NamedTuple):
    """The objects that describe a package, of which there should be one, and the objects it brings."""

    metas: tuple[Object, ...]
    objects: tuple[Object, ...]

    @property
    def meta(self) -> Object:
        """The object that describes it."""
        return self.metas[0]

    @property
    def kind(self) -> str:
        """Configuration, Function or Provider."""
        return str(self.meta["kind"])

    @property
    def name(self) -> str:
        """What it calls itself."""
        return str(self.meta["metadata"].get("name", ""))


def read(text: bytes, source: str = "") -> Package:
    """Read the stream of a package."""
    metas: list[Object] = []
    objects: list[Object] = []
    for described, obj in documents(text, source):
        (metas if described else objects).append(obj)
    return Package(tuple(metas), tuple(objects))


def documents(text: bytes, source: str = "") -> Iterator[tuple[bool, Object]]:
    """The objects of a stream one after the other, and whether each describes the package."""
    for part in _parts(text, source):
        if len(part) > MAX_OBJECT:
            raise TooLarge(f"an object of {len(part)} bytes is larger than {MAX_OBJECT} bytes")
        if not is_blank(part):
            yield decode(part)


def _parts(text: bytes, source: str) -> Iterator[bytes]:
    try:
        for _, part in split(with_plain_lines(text), source):
            yield part
    except LimitError as problem:
        raise TooLarge(str(problem)) from None


def decode(part: bytes) -> tuple[bool, Object]:
    """One object, as its Go type holds it, and whether it describes the package."""
    value = read_first(part).value
    api_version, kind = _type_of(value, part)
    described = meta_type(api_version, kind)
    go_type = described or object_type(api_version, kind)
    if go_type is None:
        shown = f'no kind "{kind}" is registered for version "{api_version}" in scheme "{_SCHEME}"'
        raise BadStream(shown, hint="a package holds only kinds that packages of its kind may hold")
    return described is not None, with_defaults(_typed(value, go_type), value)


def _typed(value: Any, go_type: GoType) -> Object:
    try:
        typed: Object = round_trip(value, go_type)
    except DecodeError as problem:
        raise BadStream(str(problem)) from None
    return typed


def _type_of(value: Any, part: bytes) -> tuple[str, str]:
    """The API version and kind of an object, with the sentences of Kubernetes' decoder."""
    problem = "couldn't get version/kind; json parse error: json: cannot unmarshal"
    if value is not None and not isinstance(value, dict):
        raise BadStream(f"{problem} {json_kind(value)} into Go value of type {_GO_HEAD}")
    fields = {}
    for field in ("apiVersion", "kind"):
        child = (value or {}).get(field)
        if child is not None and not isinstance(child, str):
            raise BadStream(f"{problem} {json_kind(child)} into Go struct field .{field} of type string")
        fields[field] = child or ""
    if fields["apiVersion"].count("/") > 1:
        raise BadStream(f"unexpected GroupVersion string: {fields['apiVersion']}")
    text = part[:_MOST_SHOWN].decode("utf-8", "replace")
    if not fields["kind"]:
        raise BadStream(f"Object 'Kind' is missing in '{text}'")
    if not fields["apiVersion"]:
        raise BadStream(f"Object 'apiVersion' is missing in '{text}'")
    return fields["apiVersion"], fields["kind"]


def write(package: Package) -> bytes:
    """The stream of a package that has passed the linter."""
    return "".join(["---\n", *(f"{dump(obj)}---\n" for obj in (package.meta, *package.objects))]).encode()


def check_example(part: bytes) -> None:
    """Raise unless a part of the examples is an object."""
    try:
        value = read_first(part).value
    except YamlError as problem:
        raise problem.within("error converting YAML to JSON") from None
    if isinstance(value, dict) and isinstance(value.get("kind"), str) and value["kind"]:
        return
    from crossply.values.gojson import dumps

    cause = f"Object 'Kind' is missing in '{dumps(value)}'"
    if value is not None and not isinstance(value, dict):
        cause = f"json: cannot unmarshal {json_kind(value)} into Go value of type map[string]interface {{}}"
    raise BadStream(f"error unmarshaling JSON: while decoding JSON: {cause}")
