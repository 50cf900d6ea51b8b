"""Names in KCL models. They are those of KCL's own importer, which spells them as Go programs do.

`ec2.aws.m.upbound.io` in `v1beta1` becomes the package `io.upbound.awsm.ec2.v1beta1`: the words of a group in
reverse, with a single letter at the word before it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

_INITIALISMS = frozenset(
    (
        *("ACL", "API", "ASCII", "CPU", "CSS", "DNS", "EOF", "GUID", "HTML", "HTTPS", "HTTP", "ID"),
        *("IP", "IPV4", "IPV6", "JSON", "LHS", "OAI", "QPS", "RAM", "RHS", "RPC", "SLA", "SMTP", "SQL"),
        *("SSH", "TCP", "TLS", "TTL", "UDP", "UI", "UID", "UUID", "URI", "URL", "UTF8", "VM", "XML"),
        *("XMPP", "XSRF", "XSS"),
    )
)
"""Abbreviations that stay in capitals."""
_LONGEST = max(map(len, _INITIALISMS))
_PIECES = re.compile(r"[^\W_]+")
_VERSION = re.compile(r"v\d+((alpha|beta)\d+)?")
_KEYWORDS = frozenset(
    (
        *("True", "False", "None", "Undefined", "import", "and", "or", "in", "is", "not", "as", "if"),
        *("else", "elif", "for", "schema", "mixin", "protocol", "check", "assert", "all", "any", "map"),
        *("filter", "lambda", "rule", "type"),
    )
)
_PLAIN = re.compile(r"[A-Za-z_]\w*", re.ASCII)


class Package(NamedTuple):
    """Where the model of a kind is."""

    folders: tuple[str, ...]
    file: str

    @property
    def path(self) -> str:
        return "/".join((*self.folders, self.file))


@lru_cache(maxsize=4096)
def go_name(text: str) -> str:
    """A name as an exported one of Go: `kmsKeyId` is `KmsKeyID`."""
    name = "".join(_titled(word) for word in _words(text))
    return name[:1].upper() + name[1:]


def _titled(word: str) -> str:
    if word.upper() in _INITIALISMS:
        return word.upper()
    return word if len(word) == 1 else word[0].upper() + word[1:].lower()


def _words(text: str) -> list[str]:
    """The words of a name: between other characters, before capitals, and around abbreviations."""
    words: list[str] = []
    for piece in _PIECES.findall(text):
        start = 0
        while start < len(piece):
            end = start + _initialism_at(piece, start)
            if end == start:
                end += 1
                while end < len(piece) and not piece[end].isupper():
                    end += 1
            words.append(piece[start:end])
            start = end
    return words


def _initialism_at(piece: str, start: int) -> int:
    """The length of the abbreviation at a place, which must be a whole word; 0 if there is none."""
    for length in range(min(_LONGEST, len(piece) - start), 1, -1):
        end = start + length
        is_whole = end == len(piece) or piece[end].isupper()
        if is_whole and piece[start:end].upper() in _INITIALISMS:
            return length
    return 0


def package_of(group: str, version: str, kind: str) -> Package:
    """The package and the file of a kind's model."""
    words = [word.lower() for word in _words(go_name(f"{group}.{version}.{kind}"))]
    place = next((index for index, word in enumerate(words) if index and _VERSION.fullmatch(word)), None)
    if place is None:  # a version that does not look like one
        words = [*reversed(group.split(".")), version, kind.lower()]
        # An empty word must not begin an absolute path.
        parts = [re.sub(r"\W", "_", word) or "_" for word in words]
        return Package(tuple(parts[:-1]), f"{parts[-1]}.k")
    return Package((*reversed(words[:place]), words[place]), f"{''.join(words[place + 1 :])}.k")


def property_name(name: str) -> str:
    """The name of a field in a schema: keywords and odd characters are marked."""
    if name in _KEYWORDS:
        return f"${name}"
    return name if _PLAIN.fullmatch(name) else '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
