"""The target of `trace`, `TYPE[.VERSION][.GROUP][/NAME] [NAME]`, parsed without the server."""

from __future__ import annotations

from typing import NamedTuple

from crossply.errors import CrossplyError

_FORM = "'TYPE[.VERSION][.GROUP][/NAME]'"
_TWICE = (
    "name provided twice, must be provided separately 'TYPE[.VERSION][.GROUP] [NAME]' "
    f"or in the {_FORM} format"
)
_INVALID = f"invalid resource, must be provided in the {_FORM} format"


class TraceError(CrossplyError):
    """The resource to trace has an invalid name, does not exist, or cannot be read."""

    code = "CP-580"


class Target(NamedTuple):
    """A type as the user spelled it, and a name; an empty name means all of the type."""

    type: str
    name: str


class Spelling(NamedTuple):
    """One way to read a type. An empty version or group leaves that open."""

    word: str
    version: str
    group: str


def parse_target(resource: str, name: str) -> Target:
    """Split a target into type and name."""
    parts = resource.split("/")
    if not resource or len(parts) > 2:
        raise TraceError(f"invalid resource and name: {_INVALID}")
    if len(parts) == 1:
        return Target(resource, name)
    if name:
        raise TraceError(f"invalid resource and name: {_TWICE}")
    return Target(*parts)


def spellings(text: str) -> list[Spelling]:
    """The readings of a type, the likelier first: `apps.v1.example.org` has a version, or a long group."""
    word, _, group = text.partition(".")
    parts = text.split(".", 2)
    long = [Spelling(parts[0], parts[1], parts[2])] if len(parts) == 3 else []
    return [*long, Spelling(word, "", group)]
