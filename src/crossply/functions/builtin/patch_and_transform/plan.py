"""The plan of a step: its input read, judged and made into closures, so that a run only has to run them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

from crossply.functions.builtin.patch_and_transform.connection import Extract, make_extract
from crossply.functions.builtin.patch_and_transform.connection_secret import SecretPlan, make_secret_plan
from crossply.functions.builtin.patch_and_transform.copying import copier
from crossply.functions.builtin.patch_and_transform.decode import DecodeError, decode
from crossply.functions.builtin.patch_and_transform.dialect import Dialect
from crossply.functions.builtin.patch_and_transform.failure import Fatal
from crossply.functions.builtin.patch_and_transform.field_errors import FieldError
from crossply.functions.builtin.patch_and_transform.identity import has_kind, missing_kind
from crossply.functions.builtin.patch_and_transform.patch_sets import (
    MAX_PATCHES,
    PatchSets,
    make_patch_sets,
    resolve,
)
from crossply.functions.builtin.patch_and_transform.patch_types import ENVIRONMENT_ROUTES, TO_COMPOSITE
from crossply.functions.builtin.patch_and_transform.patches import Patch, make_patch
from crossply.functions.builtin.patch_and_transform.readiness import Check, make_check
from crossply.functions.builtin.patch_and_transform.validation import validate
from crossply.functions.reply_limits import LimitExceeded, size_of
from crossply.values import Object
from crossply.values.gojson import dumps
from crossply.values.goquote import quote
from crossply.values.gotypes import go_type

COUNTED_TEXT = 128
"""The longest text, in characters, that counts as part of the plan wherever a patch writes it."""


class Template(NamedTuple):
    """How to compose one resource."""

    name: str
    start: Callable[[], Object] | None
    """Make a copy of the base, or raise Fatal when that is no object; None when there is no base."""

    patches: tuple[Patch, ...]
    extract: Extract | None
    is_ready: Check


class Plan(NamedTuple):
    """What to do in a run."""

    templates: tuple[Template, ...]
    environment: tuple[Patch, ...]
    secret: SecretPlan
    writes_composite: bool
    has_environment: bool
    size: int
    """How many bytes the bases take, and short texts that patches write."""


def make_plan(given: Object, dialect: Dialect) -> Plan:
    """Make the plan of an input, or raise Fatal with the message that says what is wrong with it."""
    try:
        known = decode(given, dialect.shape)
        if dialect.complete is not None:
            dialect.complete(known)
        validate(known, dialect)
    except DecodeError as reason:
        raise Fatal(f"{dialect.undecodable}{reason}") from None
    except FieldError as reason:
        raise Fatal(f"{dialect.unacceptable}{reason}") from None
    try:
        return _plan(known, dialect)
    except LimitExceeded as reason:
        raise Fatal(f"{dialect.undecodable}{reason}") from None


def _plan(known: Object, dialect: Dialect) -> Plan:
    sets = make_patch_sets(known, dialect)
    templates = tuple(_template(template, sets, dialect) for template in known.get("resources", []))
    environment = tuple(
        make_patch(patch, ENVIRONMENT_ROUTES, dialect)
        for patch in known.get("environment", {}).get("patches", [])
    )
    every = [patch for template in templates for patch in template.patches]
    if len(every) > MAX_PATCHES:
        raise Fatal(f"{dialect.unresolvable}more than {MAX_PATCHES} patches")
    return Plan(
        templates,
        environment,
        secret=make_secret_plan(known.get("writeConnectionSecretToRef", {}), dialect),
        writes_composite=any(patch.target == TO_COMPOSITE for patch in (*every, *environment)),
        has_environment=dialect.has_environment,
        size=sum(size_of(template.get("base")) for template in known.get("resources", []))
        + len(every) * COUNTED_TEXT,
    )


def _template(template: Object, sets: PatchSets, dialect: Dialect) -> Template:
    base: Any = template.get("base")
    return Template(
        name=template["name"],
        start=None if base is None else _start(base, template["name"]),
        patches=resolve(template.get("patches", []), sets, dialect),
        extract=make_extract(template.get("connectionDetails", [])),
        is_ready=make_check(template.get("readinessChecks", []), dialect),
    )


def _start(base: Any, name: str) -> Callable[[], Object]:
    problem = _base_problem(base)
    return _refused(name, problem) if problem else copier(base)


def _refused(name: str, problem: str) -> Callable[[], NoReturn]:
    # Only a run gets here: what is wrong with a resource before this one is told first.
    def refuse() -> NoReturn:
        raise Fatal(f"cannot parse base template of composed resource {quote(name)}: {problem}")

    return refuse


def _base_problem(base: Any) -> str:
    if type(base) is not dict:
        kind = {str: "string", bool: "bool", list: "array"}.get(type(base), "number")
        return f"json: cannot unmarshal {kind} into Go value of type {go_type({})}"
    if not has_kind(base):
        return str(missing_kind(_unescaped(dumps(base))))
    return ""


def _unescaped(written: str) -> str:
    """The base is quoted as it was sent, without the escapes that Go writes for HTML."""
    for escape, character in (("\\u003c", "<"), ("\\u003e", ">"), ("\\u0026", "&")):
        written = written.replace(escape, character)
    return written
