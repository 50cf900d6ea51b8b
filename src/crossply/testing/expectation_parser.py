"""Parses the expectation of a round."""

from __future__ import annotations

from crossply.testing.strict_fields import Reader, one_of
from crossply.testing.suite import (
    ALLOW,
    EXACT,
    FORBID,
    SUBSET,
    Expectation,
    ExpectedMessage,
    Named,
    Pattern,
    ResourcePattern,
)

_EXPECT = (
    "match",
    "composite",
    "resources",
    "otherResources",
    "conditions",
    "results",
    "context",
    "deleted",
    "absent",
    "failure",
    "unchanged",
)
_CONDITION = ("type", "status", "reason", "message", "contains")
_RESULT = ("severity", "reason", "message", "contains")
_MATCHES = (SUBSET, EXACT)


def read_expectation(round_: Reader) -> Expectation:
    """The `expect` of a round."""
    reader = round_.reader("expect", _EXPECT)
    absent = reader.reader("absent", ("resources", "conditions", "results"))
    fields = reader.fields
    match = one_of(fields, "match", _MATCHES) or SUBSET
    failure = fields.text("failure")
    return Expectation(
        path=reader.path,
        composite=_pattern(reader, "composite", match),
        resources=tuple(
            _resource(entry, match)
            for entry in reader.readers("resources", ("name", "match", "object", "ready"))
        ),
        other_resources=one_of(fields, "otherResources", (ALLOW, FORBID)) or ALLOW,
        conditions=_expected_messages(reader, "conditions", _CONDITION),
        results=_expected_messages(reader, "results", _RESULT),
        context=_pattern(reader, "context", match),
        deleted=_names(reader, "deleted"),
        absent_resources=_names(absent, "resources"),
        absent_conditions=_expected_messages(absent, "conditions", _CONDITION),
        absent_results=_expected_messages(absent, "results", _RESULT),
        failure=Named(failure, (*reader.path, "failure")) if failure else None,
        unchanged=bool(fields.flag("unchanged")),
    )


def _pattern(reader: Reader, key: str, match: str) -> Pattern | None:
    value = reader.fields.optional_dict(key)
    return None if value is None else Pattern(value, (*reader.path, key), match)


def _resource(reader: Reader, match: str) -> ResourcePattern:
    name = reader.fields.text("name")
    if not name:
        raise reader.fields.wrong("which composed resource? its name in the pipeline", "name")
    match = one_of(reader.fields, "match", _MATCHES) or match
    return ResourcePattern(name, reader.path, _pattern(reader, "object", match), reader.fields.flag("ready"))


def _expected_messages(reader: Reader, key: str, known: tuple[str, ...]) -> tuple[ExpectedMessage, ...]:
    expectations = []
    for entry in reader.readers(key, known):
        fields = {name: entry.fields.text(name) for name in known[:-1] if entry.fields.has(name)}
        contains = entry.fields.optional_text("contains")
        if not fields and contains is None:
            raise entry.fields.wrong(f"must have at least one of {', '.join(known)}")
        expectations.append(ExpectedMessage(fields, entry.path, contains))
    return tuple(expectations)


def _names(reader: Reader, key: str) -> tuple[Named, ...]:
    names = reader.fields.texts(key)
    return tuple(Named(name, (*reader.path, key, index)) for index, name in enumerate(names))
