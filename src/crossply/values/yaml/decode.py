"""Decode a tree of nodes exactly as go-yaml v2 and sigs.k8s.io/yaml do.

Go works in two steps and so does this module, since their errors come in that order: first the nodes become
typed values (maps may have any scalar as a key), then the typed values become JSON values. Error messages
show values as Go's `%#v` prints them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crossply.values.cancellation import checkpoint
from crossply.values.yaml.errors import LimitError, YamlError, too_deep
from crossply.values.yaml.floats import format_g, through_json, to_key
from crossply.values.yaml.limits import MAX_DEPTH, MAX_NODES, excessive_aliasing
from crossply.values.yaml.node_tree import MAPPING, SCALAR, SEQUENCE, Node
from crossply.values.yaml.scalars import MERGE_TAG, resolve_tagged

_MERGE_NEEDS_MAP = "yaml: map merge requires map or sequence of maps as the value"
# Go sorts keys of different types by where the types lie in the program: in practice in this order.
_TYPE_ORDER = (type(None), str, int, float, bool)

_ESCAPES = {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v"}
_ESCAPES |= {"\\": "\\\\", '"': '\\"'}


def decode(root: Node | None, strict: bool) -> Any:
    """Decode a document; in strict mode a repeated key is an error, otherwise the last one wins."""
    if root is None:
        return None
    decoder = _Decoder(strict)
    typed = decoder.decode(root, 0)
    if decoder.repeated:
        lines = "\n  ".join(message for _, message in decoder.repeated)
        raise YamlError(f"yaml: unmarshal errors:\n  {lines}", place=str(decoder.repeated[0][0]))
    value = _to_json(typed)
    _refuse_unwritable_floats(value)
    return value


class _Decoder:
    """One run over one tree, counting what aliases multiply."""

    __slots__ = ("decoded", "from_aliases", "open_aliases", "repeated", "strict")

    def __init__(self, strict: bool) -> None:
        self.strict = strict
        self.repeated: list[tuple[int, str]] = []
        self.decoded = 0
        self.from_aliases = 0
        self.open_aliases: set[int] = set()

    def decode(self, node: Node, depth: int, into: GoMap | None = None) -> Any:
        """Return the typed value of a node; a map that is merged goes into an existing one."""
        alias = node if node.target is not None else None
        if node.target is not None:
            self._enter_alias(node, depth)
            node = node.target
        self._count(node, depth)
        checkpoint()
        if node.kind is SCALAR:
            value = _scalar(node)
        elif node.kind is SEQUENCE:
            value = []
            for child in node.children:
                value.append(self.decode(child, depth + 1))
        else:
            value = self._decode_map(node, depth + 1, GoMap() if into is None else into)
        if alias is not None:
            self.open_aliases.discard(id(alias))
        return value

    def _enter_alias(self, node: Node, depth: int) -> None:
        self._count(node, depth)
        if id(node) in self.open_aliases:
            raise _fail(node, f"anchor '{node.value}' value contains itself")
        self.open_aliases.add(id(node))

    def _count(self, node: Node, depth: int) -> None:
        self.decoded += 1
        if self.open_aliases:
            self.from_aliases += 1
        if self.decoded > MAX_NODES or excessive_aliasing(self.decoded, self.from_aliases):
            raise LimitError("yaml: document contains excessive aliasing", place=str(node.line))
        if depth > MAX_DEPTH:
            raise too_deep(node.line)

    def _decode_map(self, node: Node, depth: int, into: GoMap) -> GoMap:
        children = iter(node.children)
        for key_node, value_node in zip(children, children, strict=True):
            if _is_merge(key_node):
                for source in _merge_sources(value_node):
                    self.decode(source, depth, into)
                continue
            key = self.decode(key_node, depth)
            if isinstance(key, GoMap | list):
                raise _fail(key_node, f"invalid map key: {_go_syntax(key)}")
            value = self.decode(value_node, depth)
            if self.strict and key in into:
                message = f"line {value_node.line + 1}: key {_go_syntax(key)} already set in map"
                self.repeated.append((value_node.line, message))
            else:
                into[key] = value
        return into


def _merge_sources(node: Node) -> Iterator[Node]:
    """Yield the maps to merge; earlier ones take precedence, so they come last and overwrite."""
    for source in reversed(node.children) if node.kind is SEQUENCE else [node]:
        if (source.target or source).kind is not MAPPING:
            raise YamlError(_MERGE_NEEDS_MAP, place=str(source.line))
        yield source


def _is_merge(node: Node) -> bool:
    return node.value == "<<" and node.kind is SCALAR and (node.implicit or node.tag == MERGE_TAG)


def _scalar(node: Node) -> Any:
    if not node.tag and not node.implicit:
        return node.value
    value, problem = resolve_tagged(node.tag, node.value)
    if problem:
        raise _fail(node, problem)
    return value


def _fail(node: Node, problem: str) -> YamlError:
    return YamlError(f"yaml: {problem}", place=str(node.line))


def _to_json(value: Any) -> Any:
    kind = type(value)
    if kind is GoMap:
        return {_json_key(key, item): _to_json(item) for key, item in value.items()}
    if kind is list:
        return [_to_json(item) for item in value]
    if kind is float:
        return through_json(value)
    if kind is int and value >= 1 << 63:
        return float(value)
    return value


def _refuse_unwritable_floats(value: Any) -> None:
    """Refuse what Go's JSON encoder refuses, in the order in which it meets it."""
    if isinstance(value, dict):
        for key in sorted(value):
            _refuse_unwritable_floats(value[key])
    elif isinstance(value, list):
        for item in value:
            _refuse_unwritable_floats(item)
    elif isinstance(value, float) and value - value != 0:
        shown = "NaN" if value != value else "+Inf" if value > 0 else "-Inf"
        raise YamlError(f"json: unsupported value: {shown}")


def _json_key(key: Any, value: Any) -> str:
    if isinstance(key, str):
        return key
    if isinstance(key, bool):
        return "true" if key else "false"
    if isinstance(key, float):
        return to_key(key)
    if isinstance(key, int) and key < 1 << 63:
        return str(key)
    kind = "uint64" if key is not None else "%!s(<nil>)"
    raise YamlError(
        f"unsupported map key of type: {kind}, key: {_go_syntax(key)}, value: {_go_syntax(value)}"
    )


class GoMap:
    """A map whose keys keep their type: 1, "1", 1.0 and true are four keys, unlike in a dict."""

    __slots__ = ("_items",)

    def __init__(self) -> None:
        self._items: dict[tuple[type, Any], Any] = {}

    def __setitem__(self, key: Any, value: Any) -> None:
        self._items[type(key), key] = value

    def __contains__(self, key: Any) -> bool:
        return (type(key), key) in self._items

    def items(self) -> Iterator[tuple[Any, Any]]:
        """Yield keys and values in the order in which they were set."""
        return ((key, value) for (_, key), value in self._items.items())


def _go_syntax(value: Any) -> str:
    """Print a typed value in Go syntax."""
    return "<nil>" if value is None else _inner(value)


def _inner(value: Any) -> str:
    if value is None:
        return "interface {}(nil)"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return hex(value) if value >= 1 << 63 else str(value)
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, str):
        return _quote(value)
    if isinstance(value, list):
        return f"[]interface {{}}{{{', '.join(map(_inner, value))}}}"
    items = sorted(value.items(), key=_key_order)
    shown = ", ".join(f"{_inner(key)}:{_inner(item)}" for key, item in items)
    return f"map[interface {{}}]interface {{}}{{{shown}}}"


def _key_order(item: tuple[Any, Any]) -> tuple[int, bool, Any]:
    key = item[0]
    is_uint = type(key) is int and key >= 1 << 63
    return _TYPE_ORDER.index(type(key)), not is_uint, 0 if key is None else key


def _float(value: float) -> str:
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "+Inf" if value > 0 else "-Inf"
    return format_g(repr(value))


def _quote(text: str) -> str:
    """Quote a string as Go's strconv.Quote does."""
    return '"' + "".join(map(_escape, text)) + '"'


def _escape(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char.isprintable():
        return char
    code = ord(char)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
