"""`fromYaml`: YAML as go-yaml v3 decodes it into an untyped value.

It differs from the YAML of Kubernetes tools (`values.yaml`): `yes` and `on` are strings, dates are times, and
a duplicate key is an error.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from yaml.error import YAMLError

from crossply.functions.builtin.go_templating.engine.go_types import Uint64
from crossply.functions.builtin.go_templating.engine.limits import check_size
from crossply.functions.builtin.go_templating.engine.printing import plain
from crossply.functions.builtin.go_templating.engine.signatures import FunctionFailed
from crossply.values.goquote import quote
from crossply.values.yaml.errors import YamlError, from_libyaml
from crossply.values.yaml.limits import MAX_DEPTH, excessive_aliasing
from crossply.values.yaml.node_tree import MAPPING, SCALAR, SEQUENCE, Node, compose
from crossply.values.yaml.scalars import MERGE_TAG, is_timestamp, resolve, resolve_tagged

MAX_NODES = 200_000
"""The most nodes that a template may read at once; a node takes many times the memory of its text."""

_BOOLEANS = frozenset(("true", "True", "TRUE", "false", "False", "FALSE"))
_TIMESTAMP = "tag:yaml.org,2002:timestamp"
_LAYOUTS = (
    "2006-1-2T15:4:5.999999999Z07:00",
    "2006-1-2t15:4:5.999999999Z07:00",
    "2006-1-2 15:4:5.999999999",
    "2006-1-2",
)


def from_yaml(text: str) -> Any:
    """Read the first document of a text."""
    check_size(len(text))
    try:
        root = compose(text.encode("utf-8", "surrogateescape"), MAX_NODES)
        return None if root is None else _Reader().read(root, 0)
    except YAMLError as error:
        raise FunctionFailed(str(from_libyaml(error, 1, ""))) from None
    except YamlError as error:
        raise FunctionFailed(str(error)) from None


class _Reader:
    """One run over one tree, counting what aliases multiply."""

    __slots__ = ("_from_aliases", "_open_aliases", "_read")

    def __init__(self) -> None:
        self._read = 0
        self._from_aliases = 0
        self._open_aliases: set[int] = set()

    def read(self, node: Node, depth: int) -> Any:
        """The value of a node."""
        self._count(depth)
        if node.target is not None:
            return self._read_alias(node, depth)
        if node.kind is SCALAR:
            return _scalar(node)
        if node.kind is SEQUENCE:
            return [self.read(child, depth + 1) for child in node.children]
        return self._read_map(node, depth + 1)

    def _count(self, depth: int) -> None:
        self._read += 1
        if self._open_aliases:
            self._from_aliases += 1
        if self._read > MAX_NODES or excessive_aliasing(self._read, self._from_aliases):
            raise FunctionFailed("yaml: document contains excessive aliasing")
        if depth > MAX_DEPTH:
            raise FunctionFailed(f"yaml: exceeded max depth of {MAX_DEPTH}")

    def _read_alias(self, node: Node, depth: int) -> Any:
        assert node.target is not None
        if id(node) in self._open_aliases:
            raise FunctionFailed(f"yaml: anchor '{node.value}' value contains itself")
        self._open_aliases.add(id(node))
        value = self.read(node.target, depth + 1)
        self._open_aliases.discard(id(node))
        return value

    def _read_map(self, node: Node, depth: int) -> dict[str, Any]:
        value: dict[str, Any] = {}
        lines: dict[str, int] = {}
        merged: list[Node] = []
        children = iter(node.children)
        for key_node, value_node in zip(children, children, strict=True):
            if _is_merge(key_node):
                merged.append(value_node)
                continue
            key = self.read(key_node, depth)
            name = key if isinstance(key, str) else plain(key)
            if name in lines:
                raise _repeated(key_node, name, lines[name])
            lines[name] = key_node.line
            value[name] = self.read(value_node, depth)
        for merged_map in merged:
            self._merge(merged_map, value, depth)
        return value

    def _merge(self, node: Node, into: dict[str, Any], depth: int) -> None:
        """Add what a merged map has and the map itself has not; the first of several counts."""
        for source in _merge_sources(node):
            for key, value in self.read(source, depth).items():
                into.setdefault(key, value)


def _merge_sources(node: Node) -> Iterator[Node]:
    for source in node.children if node.kind is SEQUENCE else [node]:
        if (source.target or source).kind is not MAPPING:
            raise FunctionFailed("yaml: map merge requires map or sequence of maps as the value")
        yield source


def _is_merge(node: Node) -> bool:
    return node.value == "<<" and node.kind is SCALAR and (node.implicit or node.tag == MERGE_TAG)


def _repeated(node: Node, name: str, first_line: int) -> FunctionFailed:
    return FunctionFailed(
        f"yaml: unmarshal errors:\n  line {node.line + 1}: mapping key {quote(name)} "
        f"already defined at line {first_line + 1}"
    )


def _scalar(node: Node) -> Any:
    if not node.tag and not node.implicit:
        return node.value
    if node.tag in ("", _TIMESTAMP) and node.value[:1].isdigit() and is_timestamp(node.value):
        return _timestamp(node.value)
    if node.tag:
        value, error = resolve_tagged(node.tag, node.value)
        if error:
            raise FunctionFailed(f"yaml: {error}")
        return value
    value = resolve(node.value)
    if isinstance(value, bool):
        return value if node.value in _BOOLEANS else node.value
    return Uint64(value) if isinstance(value, int) and value >= 1 << 63 else value


def _timestamp(text: str) -> Any:
    from crossply.functions.builtin.go_templating.sprig.date_parser import TimeParseError, read
    from crossply.functions.builtin.go_templating.sprig.go_time_type import time_value

    for layout in _LAYOUTS:
        try:
            return time_value(read(layout, text))
        except TimeParseError:
            continue
    return text
