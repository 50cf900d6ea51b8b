"""Rules that differ in the names of fields only are compiled once.

The definitions of a provider have thousands of rules such as `has(self.forProvider.name)`, each about another
field. With the names of fields replaced by numbered ones, in the expression and in the type, most of them are
the same, and so are their costs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from crossply.apiserver.apiextensions.cel_size_estimates import Sized
from crossply.schema.cel_expression_rewriting import TOKEN
from crossply.schema.cel_types import Declared

_PREFIX = "field_"
_WORD = re.compile(r"[A-Za-z_]\w*")


class Renamed(NamedTuple):
    """An expression with numbered fields, the type of its data, and the sizes of that."""

    text: str
    declared: Declared
    size: Sized


def with_numbered_fields(text: str, declared: Declared, size: Sized) -> Renamed:
    """Number the fields that an expression uses, unless a name of one may mean something else in it, too."""
    words = list(_words(text))
    if any(word.startswith(_PREFIX) for word, _, _ in words):
        return Renamed(text, declared, size)
    others = {word for word, _, is_field in words if not is_field}
    candidates = [word for word, _, is_field in words if is_field and word not in others]
    fields = _fields_of(declared)
    used = [word for word in dict.fromkeys(candidates) if word in fields]
    numbered = {word: f"{_PREFIX}{number}" for number, word in enumerate(used)}
    parts, end = [], 0
    for word, start, _ in words:
        if word in numbered:
            parts += [text[end:start], numbered[word]]
            end = start + len(word)
    return Renamed("".join([*parts, text[end:]]), _renamed(declared, numbered), _renamed_size(size, numbered))


def _words(text: str) -> Iterator[tuple[str, int, bool]]:
    """The words of an expression, where each starts, and whether it selects a field."""
    tokens = [token for token in TOKEN.finditer(text) if token.lastgroup != "blank"]
    for index, token in enumerate(tokens):
        if token.lastgroup != "text" and _WORD.fullmatch(token[0]):
            before = tokens[index - 1][0] if index else ""
            after = tokens[index + 1][0] if index + 1 < len(tokens) else ""
            yield token[0], token.start(), before == "." and after != "("


def _fields_of(declared: Declared) -> set[str]:
    names = {escaped for escaped, _, _ in declared.fields}
    below = [member for _, _, member in declared.fields]
    for member in [*below, *([declared.element] if declared.element else [])]:
        names |= _fields_of(member)
    return names


def _renamed(declared: Declared, numbered: Mapping[str, str]) -> Declared:
    fields = []
    for escaped, _, member in declared.fields:
        name = numbered.get(escaped, escaped)
        fields.append((name, name, _renamed(member, numbered)))
    fields.sort(key=lambda field: field[0])
    element = declared.element and _renamed(declared.element, numbered)
    return Declared(declared.kind, element, tuple(fields))


def _renamed_size(size: Sized, numbered: Mapping[str, str]) -> Sized:
    fields = [(numbered.get(name, name), _renamed_size(member, numbered)) for name, member in size.fields]
    element = size.element and _renamed_size(size.element, numbered)
    return size._replace(element=element, fields=tuple(sorted(fields)))
