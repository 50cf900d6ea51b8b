"""Reading what a round is expected to give."""

from __future__ import annotations

from crossply.testing.strict_fields import Reader, one_of
from crossply.testing.suite import (
    ALLOW,
    EXACT,
    FORBID,
    SUBSET,
    Expectation,
    Named,
    Pattern,
    ResourcePattern,
    Telling,
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
    given = round_.reader("expect", _EXPECT)
    absent = given.reader("absent", ("resources", "conditions", "results"))
    fields = given.fields
    match = one_of(fields, "match", _MATCHES) or SUBSET
    failure = fields.text("failure")
    return Expectation(
        path=given.path,
        composite=_pattern(given, "composite", match),
        resources=tuple(
            _resource(each, match)
            for each in given.readers("resources", ("name", "match", "object", "ready"))
        ),
        other_resources=one_of(fields, "otherResources", (ALLOW, FORBID)) or ALLOW,
        conditions=_tellings(given, "conditions", _CONDITION),
        results=_tellings(given, "results", _RESULT),
        context=_pattern(given, "context", match),
        deleted=_names(given, "deleted"),
        absent_resources=_names(absent, "resources"),
        absent_conditions=_tellings(absent, "conditions", _CONDITION),
        absent_results=_tellings(absent, "results", _RESULT),
        failure=Named(failure, (*given.path, "failure")) if failure else None,
        unchanged=bool(fields.flag("unchanged")),
    )


def _pattern(given: Reader, key: str, match: str) -> Pattern | None:
    value = given.fields.optional_dict(key)
    return None if value is None else Pattern(value, (*given.path, key), match)


def _resource(given: Reader, match: str) -> ResourcePattern:
    name = given.fields.text("name")
    if not name:
        raise given.fields.wrong("which composed resource? its name in the pipeline", "name")
    match = one_of(given.fields, "match", _MATCHES) or match
    return ResourcePattern(name, given.path, _pattern(given, "object", match), given.fields.flag("ready"))


def _tellings(given: Reader, key: str, known: tuple[str, ...]) -> tuple[Telling, ...]:
    found = []
    for each in given.readers(key, known):
        fields = {name: each.fields.text(name) for name in known[:-1] if each.fields.has(name)}
        contains = each.fields.optional_text("contains")
        if not fields and contains is None:
            raise each.fields.wrong(f"must have at least one of {', '.join(known)}")
        found.append(Telling(fields, each.path, contains))
    return tuple(found)


def _names(given: Reader, key: str) -> tuple[Named, ...]:
    names = given.fields.texts(key)
    return tuple(Named(name, (*given.path, key, index)) for index, name in enumerate(names))
