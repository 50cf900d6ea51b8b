"""Files of YAML: split into documents as Kubernetes does, each one read on its own.

A document of nothing but comments, separators and spaces is blank. Files may have blank documents anywhere.
`read_documents` and `read_first` skip them. `read_stream` shows them as None, and
`load` reads the first document whatever it is, as go-yaml does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from yaml.error import YAMLError

from crossply.values.yaml.errors import LimitError, SeparatorError, YamlError, from_libyaml, place
from crossply.values.yaml.fast_decode import Unusual, build
from crossply.values.yaml.limits import MAX_BYTES, MAX_DOCUMENTS, MAX_NODES

_CONTENT = re.compile(rb"^(?:\xef\xbb\xbf)?+(?:(?:---|\.\.\.)[ \t\r]*+)?+[ \r]*+[^#\n]", re.M)
"""Where a line has more than a mark of a document's start or end, spaces and a comment."""

_BOUNDARY = re.compile(rb"^(?:\xef\xbb\xbf)?(---|\.\.\.)[^\n]*\n?", re.M)


def is_blank(text: bytes) -> bool:
    """Whether a text holds nothing but comments, separators and spaces."""
    return _CONTENT.search(text) is None


class Document(NamedTuple):
    """One document of a stream. A document of comments only has the value None."""

    value: Any
    source: str
    line: int
    text: bytes = b""

    def locate(self, path: tuple[str | int, ...]) -> int | None:
        """Find the line of the field at `path` in the file; None when the document has no such field.

        The text is parsed again for this, so that reading a document without errors costs nothing extra.
        """
        if self.value is None:
            # Blank documents are not parsed when they are read: libyaml may refuse their comments.
            return None
        from crossply.values.yaml.node_tree import compose, find_line

        root = compose(self.text, MAX_NODES)
        line = find_line(root, path) if root is not None else None
        return None if line is None else self.line + line


def read_stream(text: str | bytes, source: str = "", *, strict: bool = False) -> list[Document]:
    """Read every document of a stream.

    The stream is split at lines that start with `---`, wherever they stand, as Kubernetes' reader does it;
    then each part is read by the rules of sigs.k8s.io/yaml. `source` names the file in errors.
    """
    data = with_plain_lines(_to_bytes(text, source))
    documents = []
    left = MAX_NODES
    for line, part in split(data, source):
        if left <= 0:
            raise LimitError(f"yaml: exceeded {MAX_NODES} nodes", place=place(source, line))
        # A part may start with a blank document that ends without a separator: comments and `...`.
        start = start_of_content(part)
        content, at = part[start:], line + part.count(b"\n", 0, start)
        value, nodes = (None, 0) if is_blank(content) else _read(content, source, at, strict, left)
        documents.append(Document(value, source, at, content))
        left -= nodes
    return documents


def read_documents(text: str | bytes, source: str = "", *, strict: bool = False) -> list[Document]:
    """Read every document of a stream that is not blank."""
    return [document for document in read_stream(text, source, strict=strict) if not is_blank(document.text)]


def read_first(text: str | bytes, source: str = "") -> Document:
    """Read the first document that is not blank, and nothing after it. Without one, the value is None."""
    data = _without_inner_marks(_to_bytes(text, source))
    start = start_of_content(data)
    line = data.count(b"\n", 0, start) + 1
    part = data[start:]
    value = None if is_blank(part) else _read(part, source, line, False, MAX_NODES)[0]
    return Document(value, source, line, part)


def start_of_content(data: bytes) -> int:
    """Where the first document starts that is not blank, with the comments above its separator."""
    match = _CONTENT.search(data)
    start = after = 0
    # The line with the content may be the separator itself, as in `--- {kind: A}`.
    for boundary in _BOUNDARY.finditer(data, 0, match.end() if match else 0):
        start = after if boundary[1] == b"---" else boundary.end()
        after = boundary.end()
    return start


def load(text: str | bytes, source: str = "", *, strict: bool = False) -> Any:
    """Read the first document of a text by the rules of sigs.k8s.io/yaml.

    In strict mode a repeated key is an error, otherwise the last one wins.
    """
    return _read(_without_inner_marks(_to_bytes(text, source)), source, 1, strict, MAX_NODES)[0]


def with_plain_lines(data: bytes) -> bytes:
    """A stream that can be split: with line ends of Unix, and byte order marks at its start only."""
    return _without_inner_marks(data.replace(b"\r\n", b"\n"))


def _without_inner_marks(data: bytes) -> bytes:
    """A text without byte order marks at the start of later lines, where files were joined.

    libyaml takes such a mark for a column, so that the next line ends the document: the rest would be lost.
    """
    return data.replace(b"\n\xef\xbb\xbf", b"\n")


def _to_bytes(text: str | bytes, source: str) -> bytes:
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    if len(data) > MAX_BYTES:
        message = f"yaml: input of {len(data)} bytes exceeds the limit of {MAX_BYTES} bytes"
        raise LimitError(message, place=place(source, 1))
    return data


def _read(data: bytes, source: str, line: int, strict: bool, max_nodes: int) -> tuple[Any, int]:
    """Read one document, which starts at `line` of its file; return its value and how many nodes it has."""
    try:
        if strict:
            return _read_carefully(data, strict, max_nodes)
        try:
            return build(data, max_nodes)
        except Unusual:
            return _read_carefully(data, strict, max_nodes)
    except YAMLError as error:
        raise from_libyaml(error, line, source) from None
    except YamlError as error:
        # Below, only the lines of the document are known; here also the file and the lines before it.
        raise error.replace(place=place(source, line + int(error.place or 0))) from None
    except RecursionError:
        # Only when the caller itself stands near the limit: the depth of a document is bounded.
        raise LimitError("yaml: exceeded max depth", place=place(source, line)) from None


def _read_carefully(data: bytes, strict: bool, max_nodes: int) -> tuple[Any, int]:
    from crossply.values.yaml.decode import decode
    from crossply.values.yaml.node_tree import compose

    return decode(compose(data, max_nodes), strict), data.count(b"\n") + 1


def split(data: bytes, source: str) -> Iterator[tuple[int, bytes]]:
    """The documents of a stream with plain lines, each with its first line, not read yet.

    The stream is cut at separator lines; a separator with nothing before it stays part of its document. One
    document is held at a time, and a stream of too many is refused before the first.
    """
    if data.count(b"\n---") > MAX_DOCUMENTS:
        raise LimitError(f"yaml: stream of more than {MAX_DOCUMENTS} documents", place=place(source, 1))
    start, line = 0, 1
    separator = 0 if data.startswith(b"---") else data.find(b"\n---") + 1 or -1
    while separator >= 0:
        end = data.find(b"\n", separator)
        after = len(data) if end < 0 else end + 1
        lines_before = data.count(b"\n", start, separator)
        _check_separator(data[separator + 3 : after], source, line + lines_before)
        if separator > start:
            yield line, data[start:separator]
            start, line = after, line + lines_before + 1
        separator = data.find(b"\n---", after - 1) + 1 or -1
    if start < len(data):
        yield line, data[start:]


def _check_separator(rest: bytes, source: str, line: int) -> None:
    trimmed = rest.decode("utf-8", "replace").strip()
    if trimmed and trimmed[0] != "#":
        raise SeparatorError(f"invalid Yaml document separator: {trimmed}", place=place(source, line))
