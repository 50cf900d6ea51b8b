"""A test suite: its cases, their rounds and expectations.

Everything is kept with the path at which it was written, so that a failure can point at its line.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

from crossply.values import Object
from crossply.values.yaml import Document
from crossply.values.yaml.limits import MAX_NODES
from crossply.values.yaml.node_tree import Node, compose, find_line

API_VERSION = "crossply.dev/v1alpha1"
KIND = "CompositionTest"

SUBSET, EXACT = "Subset", "Exact"
ALLOW, FORBID = "Allow", "Forbid"
EVERYTHING = "*"
"""Instead of a name: all composed resources."""

Path = tuple[str | int, ...]

Source = str | Object
"""The path of a file, relative to the suite's, or an object written right there."""


class Pattern(NamedTuple):
    """An expected object, compared exactly or as a subset."""

    object: Any
    path: Path
    match: str = SUBSET


class Assertion(NamedTuple):
    """An object that one of those rendered must match, as published tests assert it."""

    object: Object
    path: Path


class ResourcePattern(NamedTuple):
    """A composed resource that is expected."""

    name: str
    path: Path
    pattern: Pattern | None = None
    ready: bool | None = None


class ExpectedMessage(NamedTuple):
    """A condition or a result that is expected: fields that must be equal, and a text that is contained."""

    fields: dict[str, str]
    path: Path
    contains: str | None = None


class Named(NamedTuple):
    """A name, and where it was written."""

    name: str
    path: Path


class Expectation(NamedTuple):
    """The expected result of a round; fields that are not mentioned may have any value."""

    path: Path
    composite: Pattern | None = None
    resources: tuple[ResourcePattern, ...] = ()
    other_resources: str = ALLOW
    conditions: tuple[ExpectedMessage, ...] = ()
    results: tuple[ExpectedMessage, ...] = ()
    context: Pattern | None = None
    deleted: tuple[Named, ...] = ()
    absent_resources: tuple[Named, ...] = ()
    absent_conditions: tuple[ExpectedMessage, ...] = ()
    absent_results: tuple[ExpectedMessage, ...] = ()
    failure: Named | None = None
    """A text that the error of the pipeline contains."""
    unchanged: bool = False
    """Whether the resources are those of the round before."""
    assertions: tuple[Assertion, ...] = ()
    """What published tests assert of everything that is rendered."""


class ObservedChange(NamedTuple):
    """What became of composed resources since the round before."""

    name: str
    path: Path = ()
    ready: bool | None = None
    status: Object | None = None
    patch: Object | None = None
    gone: bool = False


class Round(NamedTuple):
    """One reconcile."""

    expectation: Expectation
    changes: tuple[ObservedChange, ...] = ()
    xr_patch: Object | None = None
    snapshot: bool = False


class CaseInputs(NamedTuple):
    """The other inputs of a rendering; a case adds its own to the suite's."""

    observed: tuple[Source, ...] = ()
    required: tuple[Source, ...] = ()
    credentials: tuple[Source, ...] = ()
    schemas: str = ""
    context: Object = {}  # noqa: RUF012 - read only

    def with_more(self, more: CaseInputs) -> CaseInputs:
        """These merged with those of a case, which wins."""
        return CaseInputs(
            self.observed + more.observed,
            self.required + more.required,
            self.credentials + more.credentials,
            more.schemas or self.schemas,
            {**self.context, **more.context},
        )


class Case(NamedTuple):
    """One test: a composite resource and its rounds."""

    name: str
    path: Path
    rounds: tuple[Round, ...]
    xr: Source | None = None
    xr_patch: Object | None = None
    surroundings: CaseInputs = CaseInputs()
    skip: str = ""


class Suite(NamedTuple):
    """The tests of one Composition."""

    name: str
    document: Document
    cases: tuple[Case, ...]
    composition: Source | None = None
    functions: tuple[Source, ...] | None = None
    xrd: Source | None = None
    xr: Source | None = None
    surroundings: CaseInputs = CaseInputs()
    validate: bool = False
    """Whether what an API server would refuse is a mistake."""
    crds: tuple[Source, ...] = ()
    timeout: float = 60.0
    function_runtime: str | None = None
    base: str = ""
    """The folder that paths are relative to; by default that of the suite's file."""
    is_upbound: bool = False
    """Whether it is a published test, which says less about observed resources."""
    apis: tuple[str, ...] = ()
    """Where its project has definitions, to validate against, too."""
    notes: tuple[str, ...] = ()
    """What its author should know, though it runs."""

    def place(self, path: Path) -> str:
        """The file and line of a field; of the nearest field around it where it is not written."""
        root = _nodes(self.document.text)
        while path and root is not None:
            line = find_line(root, path)
            if line is not None:
                return f"{self.document.source}:{self.document.line + line}"
            path = path[:-1]
        return f"{self.document.source}:{self.document.line}"


@lru_cache(maxsize=1)
def _nodes(text: bytes) -> Node | None:
    """The YAML nodes of a suite's text. Cached, because every case looks up lines."""
    return compose(text, MAX_NODES)
