"""Label and field selectors: parsed once per request, matched against many objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from crossply.apiserver.endpoints.status_errors import StatusError, bad_request
from crossply.apiserver.served_resources import Version
from crossply.values import Object

MAX_CLAUSES = 1000
"""How many clauses a selector may have. Kubernetes limits them only by the length of a URL."""
MAX_VALUES = 4096
"""How many values they may have together."""

_OPERATORS = {"In": "in", "NotIn": "notin", "Exists": "exists", "DoesNotExist": "!"}
"""The operators of a LabelSelector, as a selector in a URL writes them."""
_KEY_FIELDS = {"metadata.name": 2, "metadata.namespace": 1}
"""The fields that are part of a storage key, and their position in it."""


@dataclass(frozen=True, slots=True)
class Requirement:
    key: str
    operator: str
    values: frozenset[str] = frozenset()

    def matches(self, labels: Mapping[str, str]) -> bool:
        value = labels.get(self.key)
        if self.operator == "exists":
            return value is not None
        if self.operator == "!":
            return value is None
        if self.operator in ("in", "="):
            return value is not None and value in self.values
        if self.operator in ("notin", "!="):
            return value is None or value not in self.values
        return _compare(value, self.operator, next(iter(self.values)))


def _compare(value: str | None, operator: str, bound: str) -> bool:
    try:
        if value is None:
            return False
        return int(value) > int(bound) if operator == "gt" else int(value) < int(bound)
    except ValueError:
        return False


def parse_labels(text: str) -> tuple[Requirement, ...]:
    """The clauses of a label selector such as `a=b,c in (d,e),!f`."""
    if text.count(",") > MAX_CLAUSES + MAX_VALUES:
        raise _too_long()
    clauses = tuple(_Parser(text).parse()) if text.strip() else ()
    if len(clauses) > MAX_CLAUSES or sum(len(clause.values) for clause in clauses) > MAX_VALUES:
        raise _too_long()
    return clauses


def read_label_selector(selector: Object | None) -> tuple[Requirement, ...] | None:
    """The requirements of a LabelSelector, none if it is empty; None if it has an unknown operator."""
    selector = selector or {}
    labels = selector.get("matchLabels") or {}
    requirements = [Requirement(key, "=", frozenset({value})) for key, value in labels.items()]
    for expression in selector.get("matchExpressions") or ():
        operator = _OPERATORS.get(expression.get("operator", ""))
        if operator is None:
            return None
        values = frozenset(expression.get("values") or ())
        requirements.append(Requirement(expression.get("key", ""), operator, values))
    return tuple(requirements)


def _too_long() -> StatusError:
    return bad_request(f"a selector may have at most {MAX_CLAUSES} clauses and {MAX_VALUES} values")


def labels_match(requirements: tuple[Requirement, ...], labels: Mapping[str, str]) -> bool:
    return all(requirement.matches(labels) for requirement in requirements)


class _Parser:
    """Parses a label selector word by word."""

    _SPECIAL = "()=,!<>"

    def __init__(self, text: str) -> None:
        self._text = text
        self._words = self._split(text)
        self._at = 0

    def _split(self, text: str) -> list[str]:
        words: list[str] = []
        at = 0
        while at < len(text):
            char = text[at]
            if char in " \t\r\n":
                at += 1
            elif char in self._SPECIAL:
                two = text[at : at + 2]
                words.append(two if two in ("==", "!=") else char)
                at += len(words[-1])
            else:
                start = at
                while at < len(text) and text[at] not in self._SPECIAL + " \t\r\n":
                    at += 1
                words.append(text[start:at])
        return words

    def parse(self) -> list[Requirement]:
        requirements = [self._requirement()]
        while self._peek() == ",":
            self._at += 1
            requirements.append(self._requirement())
        if self._peek():
            raise self._wrong(f"found '{self._peek()}', expected: ',' or 'end of string'")
        return requirements

    def _requirement(self) -> Requirement:
        if self._peek() == "!":
            self._at += 1
            return Requirement(self._key(), "!")
        key = self._key()
        word = self._peek()
        if word in ("", ","):
            return Requirement(key, "exists")
        self._at += 1
        if word in ("=", "==", "!="):
            return Requirement(key, "!=" if word == "!=" else "=", frozenset({self._value()}))
        if word in (">", "<"):
            return Requirement(key, "gt" if word == ">" else "lt", frozenset({self._number(key)}))
        if word in ("in", "notin"):
            return Requirement(key, word, self._values())
        raise self._wrong(f"found '{word}', expected: in, notin, =, ==, !=, gt, lt")

    def _key(self) -> str:
        word = self._peek()
        if not word or word in self._SPECIAL:
            raise bad_request(f"found '{word}', expected: !, identifier, or 'end of string'")
        self._at += 1
        _check_key(word)
        return word

    def _value(self) -> str:
        word = self._peek()
        if word in ("", ",", ")"):
            return ""
        if word in self._SPECIAL:
            raise self._wrong(f"found '{word}', expected: identifier")
        self._at += 1
        _check_value(word)
        return word

    def _number(self, key: str) -> str:
        word = self._value()
        if not word.lstrip("-").isdigit():
            raise self._wrong(
                f"values[0][{key}]: Invalid value: \"{word}\": for 'Gt', 'Lt' operators, "
                "the value must be an integer"
            )
        return word

    def _values(self) -> frozenset[str]:
        if self._peek() != "(":
            raise self._wrong(f"found '{self._peek()}' expected: '('")
        self._at += 1
        values = {self._value()}
        while self._peek() == ",":
            self._at += 1
            values.add(self._value())
        if self._peek() != ")":
            raise self._wrong(f"found '{self._peek()}', expected: ',' or ')'")
        self._at += 1
        return frozenset(values)

    def _peek(self) -> str:
        return self._words[self._at] if self._at < len(self._words) else ""

    def _wrong(self, why: str) -> Exception:
        return bad_request(f"unable to parse requirement: {why}")


def _check_key(key: str) -> None:
    from crossply.apiserver.registry.name_validation import qualified_name_problems

    for problem in qualified_name_problems(key):
        raise bad_request(f'unable to parse requirement: <nil>: Invalid value: "{key}": {problem}')


def _check_value(value: str) -> None:
    from crossply.apiserver.registry.name_validation import label_value_problems

    for problem in label_value_problems(value):
        raise bad_request(f'unable to parse requirement: values[0]: Invalid value: "{value}": {problem}')


@dataclass(frozen=True, slots=True)
class FieldClause:
    path: str
    equal: bool
    value: str

    @property
    def is_about_key(self) -> bool:
        """Whether the storage key alone decides, without the object."""
        return self.path in _KEY_FIELDS


def keys_match(clauses: tuple[FieldClause, ...], key: tuple[str, str, str]) -> bool:
    """Whether a storage key satisfies clauses about name and namespace."""
    return all((key[_KEY_FIELDS[clause.path]] == clause.value) is clause.equal for clause in clauses)


def parse_fields(text: str, version: Version, *, custom: bool) -> tuple[FieldClause, ...]:
    """The clauses of a field selector; raises BadRequest for fields that are not selectable."""
    clauses = []
    if text.count(",") >= MAX_CLAUSES:
        raise _too_long()
    for part in filter(None, text.split(",")):
        clause = _field_clause(part)
        allowed = clause.path in ("metadata.name", "metadata.namespace", *version.selectable_fields)
        if not allowed and not custom and not version.selectable_fields:
            raise bad_request(
                f'"{clause.path}" is not a known field selector: only "metadata.name", "metadata.namespace"'
            )
        if not allowed:
            raise bad_request(f"field label not supported: {clause.path}")
        clauses.append(clause)
    return tuple(clauses)


def _field_clause(part: str) -> FieldClause:
    for operator in ("!=", "==", "="):
        path, separator, value = part.partition(operator)
        if separator:
            return FieldClause(path.strip(), operator != "!=", value.strip())
    raise bad_request(f"invalid selector: '{part}'; can't understand '{part}'")


def fields_match(clauses: tuple[FieldClause, ...], obj: Object) -> bool:
    return all((_text_at(obj, clause.path) == clause.value) is clause.equal for clause in clauses)


def _text_at(obj: Any, path: str) -> str:
    if path == "source" and obj.get("kind") == "Event":
        # The source of an event is its reporting component, under its old name or its new one.
        return (obj.get("source") or {}).get("component") or obj.get("reportingComponent") or ""
    for key in path.split("."):
        obj = obj.get(key) if isinstance(obj, dict) else None
    if isinstance(obj, bool):
        return "true" if obj else "false"
    return "" if obj is None else str(obj)
