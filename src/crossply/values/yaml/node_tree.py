"""The nodes of a document, with their lines: `decode` decodes them and `locate` searches them."""

from __future__ import annotations

from typing import Any

from yaml._yaml import CParser
from yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    DocumentEndEvent,
    MappingStartEvent,
    ScalarEvent,
    StreamEndEvent,
)
from yaml.scanner import ScannerError

from crossply.values.yaml.errors import YamlError, too_deep, too_many_nodes
from crossply.values.yaml.limits import MAX_DEPTH

SCALAR, SEQUENCE, MAPPING, ALIAS = "scalar", "sequence", "mapping", "alias"


_MOST_REPARSED = 10_000_000
"""How many bytes may be parsed once more for the sake of colons that libyaml refuses."""


class Node:
    """A scalar, a list, a map (keys and values in turn) or an alias of another node."""

    __slots__ = ("children", "closing", "implicit", "kind", "line", "tag", "target", "value")

    def __init__(self, kind: str, line: int, value: str = "") -> None:
        self.kind = kind
        self.line = line
        self.value = value
        self.tag = ""
        self.implicit = False
        self.closing = ""
        self.children: list[Node] = []
        self.target: Node | None = None


def compose(data: bytes, max_nodes: int) -> Node | None:
    """Parse the first document into nodes; None when there is no document at all."""
    text = data
    for _ in range(1 + _MOST_REPARSED // (len(data) + 1)):
        try:
            return _compose(text, max_nodes, hidden=text is not data)
        except ScannerError as error:
            text = hide_colon(text, error, hidden=text is not data)
    return _compose(text, max_nodes, hidden=True)


def _compose(data: bytes, max_nodes: int, hidden: bool) -> Node | None:
    next_event: Any = CParser(data).get_event
    next_event()
    if type(next_event()) is StreamEndEvent:
        return None
    anchors: dict[str, Node] = {}
    root = Node(SEQUENCE, 0)
    open_nodes = [root]
    nodes = 0
    while True:
        event = next_event()
        if isinstance(event, CollectionEndEvent):
            open_nodes.pop()
            continue
        if type(event) is DocumentEndEvent:
            return root.children[0]
        node = _alias(event, anchors) if type(event) is AliasEvent else _node(event)
        if hidden:
            node.value = show_colons(node.value)
        parent = open_nodes[-1]
        if node.implicit and parent.closing and "?" in node.value:
            raise question_in_flow(data, event.start_mark, parent.closing)
        parent.children.append(node)
        if event.anchor is not None and node.kind is not ALIAS:
            anchors[event.anchor] = node
        nodes += 1
        if nodes > max_nodes:
            raise too_many_nodes(node.line)
        if node.kind is SEQUENCE or node.kind is MAPPING:
            open_nodes.append(node)
            if len(open_nodes) > MAX_DEPTH + 1:
                raise too_deep(node.line)


def _node(event: Any) -> Node:
    line = event.start_mark.line
    if type(event) is ScalarEvent:
        node = Node(SCALAR, line, event.value)
        node.tag = event.tag or ""
        node.implicit = event.implicit[0]
        return node
    is_map = type(event) is MappingStartEvent
    node = Node(MAPPING if is_map else SEQUENCE, line)
    if event.flow_style:
        # A pair in a list, `[a: b]`, is a map without a brace of its own.
        is_bare = event.start_mark.index == event.end_mark.index
        node.closing = "}" if is_map and not is_bare else "]"
    return node


def _alias(event: Any, anchors: dict[str, Node]) -> Node:
    node = Node(ALIAS, event.start_mark.line, event.anchor)
    node.target = anchors.get(event.anchor)
    if node.target is None:
        raise YamlError(f"yaml: unknown anchor '{event.anchor}' referenced", place=str(node.line))
    return node


def find_line(root: Node, path: tuple[str | int, ...]) -> int | None:
    """Return the zero-based line where the field at `path` starts (its key, when it has one)."""
    node, line = root, root.line
    for segment in path:
        if node.target is not None:
            node = node.target
        step = _step(node, segment)
        if step is None:
            return None
        line, node = step
    return line


def _step(node: Node, segment: str | int) -> tuple[int, Node] | None:
    if node.kind is SEQUENCE and isinstance(segment, int):
        if not 0 <= segment < len(node.children):
            return None
        child = node.children[segment]
        return child.line, child
    if node.kind is not MAPPING:
        return None
    # The last one of two equal keys is the one that counts, so search from the end.
    for index in range(len(node.children) - 2, -1, -2):
        if node.children[index].value == segment:
            return node.children[index].line, node.children[index + 1]
    return None


_STAND_IN = "\uf8fb"


def hide_colon(data: bytes, error: Any, hidden: bool) -> bytes:
    """Replace the colon that libyaml stumbled over by a stand-in; raise the error again if it is not that.

    `hidden` says that the text holds stand-ins already; otherwise it must not hold that character.
    """
    at = error.problem_mark.index
    text = _decoded(data)
    if error.problem != "found unexpected ':'" or text[at : at + 1] != ":" or (_STAND_IN in text) != hidden:
        raise error
    return f"{text[:at]}{_STAND_IN}{text[at + 1 :]}".encode()


def show_colons(text: str) -> str:
    """Put the colons back that were hidden."""
    return text.replace(_STAND_IN, ":")


def question_in_flow(data: bytes, start: Any, closing: str) -> YamlError:
    """Refuse an unquoted scalar with a question mark inside brackets, in Go's words."""
    text = _decoded(data)
    question = max(start.index, text.find("?", start.index))
    line = start.line + len(f"{text[start.index : question]}?".splitlines()) - 1
    prefix = f"line {line}: " if line else ""
    return YamlError(f"yaml: {prefix}did not find expected ',' or '{closing}'", place=str(line))


def _decoded(data: bytes) -> str:
    """Return the characters that libyaml's marks count, which leave out the byte order mark."""
    return data.decode("utf-8-sig", "replace")
