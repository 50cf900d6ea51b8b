"""Parses a suite and the expectations of its rounds strictly: an error names the field and its line."""

from __future__ import annotations

from typing import Any

from crossply.kinds.fields import Fields, KindError
from crossply.testing.snapshots import file_name
from crossply.testing.suite import (
    ALLOW,
    API_VERSION,
    EXACT,
    FORBID,
    KIND,
    SUBSET,
    Case,
    CaseInputs,
    Expectation,
    ExpectedMessage,
    Named,
    ObservedChange,
    Path,
    Pattern,
    ResourcePattern,
    Round,
    Source,
    Suite,
)
from crossply.testing.suite_field_reader import Reader, SuiteError, one_of
from crossply.testing.upbound_tests import is_upbound_test, read_composition_test
from crossply.values.api_version import api_group
from crossply.values.durations import parse_duration
from crossply.values.field_path import PathError, parse
from crossply.values.yaml import Document

MOST_ROUNDS = 100
"""More would be a loop; each round is a whole reconcile."""
FUNCTION_RUNTIMES = ("builtin", "container", "docker")
_SURROUNDINGS = ("observed", "requiredResources", "credentials", "requiredSchemas", "context")
_SUITE = (
    *("composition", "functions", "xrd", "xr", "crds", "validate", "timeout", "functionRuntime", "cases"),
    *_SURROUNDINGS,
)
_ROUND = ("observe", "expect", "snapshot")
_CASE = ("name", "skip", "xr", "xrPatch", "rounds", *_ROUND, *_SURROUNDINGS)
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


def is_suite(value: Any) -> bool:
    """Whether a document is a suite of ours, of any version."""
    if not isinstance(value, dict) or value.get("kind") != KIND:
        return False
    return str(value.get("apiVersion")).startswith(api_group(API_VERSION))


def read_suite(document: Document) -> Suite:
    """The suite in a document."""
    try:
        return _read_suite(document)
    except KindError as problem:
        raise problem.at(_place(document, str(problem))) from None


def _place(document: Document, message: str) -> str:
    """The place of the field that a message begins with, or of its nearest parent in the text."""
    try:
        path = parse(message.partition(": ")[0])
    except PathError:
        path = ()
    return Suite("", document, ()).place(path)


def _read_suite(document: Document) -> Suite:
    if is_upbound_test(document.value):
        return read_composition_test(document)
    root = Reader(document.value, (), ("apiVersion", "kind", "metadata", "spec"))
    if root.fields.raw("apiVersion") != API_VERSION:
        raise root.fields.wrong(f"must be {API_VERSION}", "apiVersion")
    spec = root.reader("spec", _SUITE)
    cases = tuple(_read_case(reader) for reader in spec.readers("cases", _CASE))
    if not cases:
        raise spec.fields.wrong("a suite needs at least one case", "cases")
    _check_names(cases)
    return Suite(
        name=root.fields.object("metadata").text("name"),
        document=document,
        cases=cases,
        composition=_source(spec, "composition"),
        functions=_sources(spec, "functions") if spec.fields.has("functions") else None,
        xrd=_source(spec, "xrd"),
        xr=_source(spec, "xr"),
        surroundings=_surroundings(spec),
        validate=bool(spec.fields.flag("validate")) or spec.fields.has("crds"),
        crds=_sources(spec, "crds"),
        timeout=_timeout(spec.fields),
        function_runtime=one_of(spec.fields, "functionRuntime", FUNCTION_RUNTIMES),
    )


def _check_names(cases: tuple[Case, ...]) -> None:
    names: set[str] = set()
    files: dict[str, str] = {}
    for index, case in enumerate(cases):
        if case.name in names:
            raise SuiteError(f'spec.cases[{index}].name: "{case.name}" is the name of an earlier case, too')
        names.add(case.name)
        if any(round_.snapshot for round_ in case.rounds):
            other = files.setdefault(file_name(case.name, 1, 1), case.name)
            if other != case.name:
                raise SuiteError(f'spec.cases[{index}].name: its snapshot would be that of "{other}"')


def _timeout(fields: Fields) -> float:
    text = fields.text("timeout") or "1m"
    try:
        seconds = parse_duration(text) / 1e9
    except ValueError as problem:
        raise fields.wrong(str(problem), "timeout") from None
    if seconds <= 0:
        raise fields.wrong("must be more than 0", "timeout")
    return seconds


def _read_case(case: Reader) -> Case:
    fields = case.fields
    name = fields.text("name")
    if not name:
        raise fields.wrong("a case needs a name", "name")
    return Case(
        name=name,
        path=case.path,
        rounds=_rounds(case),
        xr=_source(case, "xr"),
        xr_patch=fields.optional_dict("xrPatch"),
        surroundings=_surroundings(case),
        skip=fields.text("skip"),
    )


def _rounds(case: Reader) -> tuple[Round, ...]:
    if not case.fields.has("rounds"):
        return (_read_round(case),)
    for key in _ROUND:
        if case.fields.has(key):
            raise case.fields.wrong("belongs into the rounds of a case that has rounds", key)
    rounds = case.readers("rounds", ("xrPatch", *_ROUND))
    if not 0 < len(rounds) <= MOST_ROUNDS:
        raise case.fields.wrong(f"must be 1 to {MOST_ROUNDS} rounds", "rounds")
    return tuple(
        _read_round(round_)._replace(xr_patch=round_.fields.optional_dict("xrPatch")) for round_ in rounds
    )


def _read_round(reader: Reader) -> Round:
    if not reader.fields.has("expect") and not reader.fields.flag("snapshot"):
        raise reader.fields.wrong("nothing is expected: a test that cannot fail", "expect")
    known = ("name", "ready", "status", "patch", "gone")
    changes = tuple(_observed_change(entry) for entry in reader.readers("observe", known))
    snapshot = bool(reader.fields.flag("snapshot"))
    return Round(_read_expectation(reader), changes, None, snapshot)


def _observed_change(reader: Reader) -> ObservedChange:
    fields = reader.fields
    name = fields.text("name")
    if not name:
        raise fields.wrong("which composed resource? its name in the pipeline, or * for all", "name")
    return ObservedChange(
        name=name,
        path=reader.path,
        ready=fields.flag("ready"),
        status=fields.optional_dict("status"),
        patch=fields.optional_dict("patch"),
        gone=bool(fields.flag("gone")),
    )


def _surroundings(reader: Reader) -> CaseInputs:
    return CaseInputs(
        observed=_sources(reader, "observed"),
        required=_sources(reader, "requiredResources"),
        credentials=_sources(reader, "credentials"),
        schemas=reader.fields.text("requiredSchemas"),
        context=reader.fields.optional_dict("context") or {},
    )


def _source(reader: Reader, key: str) -> Source | None:
    value = reader.fields.raw(key)
    return None if value is None else _checked_source(reader, key, value)


def _sources(reader: Reader, key: str) -> tuple[Source, ...]:
    """One source, or a list of them."""
    value = reader.fields.raw(key)
    if value is None:
        return ()
    if not isinstance(value, list):
        return (_checked_source(reader, key, value),)
    return tuple(_checked_source(reader, f"{key}[{index}]", source) for index, source in enumerate(value))


def _checked_source(reader: Reader, key: str, value: Any) -> Source:
    if isinstance(value, str) and value:
        return value
    if isinstance(value, dict):
        return value
    raise reader.fields.wrong("must be the path of a file, or an object", key)


def _read_expectation(round_: Reader) -> Expectation:
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


__all__ = ["Path", "SuiteError", "is_suite", "read_suite"]
