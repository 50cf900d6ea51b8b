"""A step's input, decoded, validated and compiled into closures, so that a run only calls them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

from crossply.functions.builtin.patch_and_transform.connection_details import (
    CompiledSecretReference,
    ExtractDetails,
    compile_connection_details,
    compile_secret_reference,
)
from crossply.functions.builtin.patch_and_transform.dialect import (
    COMPOSED_ROUTES,
    FROM_ENVIRONMENT,
    TO_COMPOSITE,
    TO_ENVIRONMENT,
    Dialect,
    patch_type,
)
from crossply.functions.builtin.patch_and_transform.errors import Fatal, FieldError
from crossply.functions.builtin.patch_and_transform.input_decoder import DecodeError, decode
from crossply.functions.builtin.patch_and_transform.object_fields import has_kind, missing_kind
from crossply.functions.builtin.patch_and_transform.patches import Patch, compile_patch
from crossply.functions.builtin.patch_and_transform.readiness import Check, compile_readiness_checks
from crossply.functions.builtin.patch_and_transform.validation import validate
from crossply.functions.reply_limits import LimitExceeded, size_of
from crossply.values import Object
from crossply.values.go_type_names import go_type
from crossply.values.gojson import dumps
from crossply.values.goquote import quote

COUNTED_TEXT = 128
"""Texts up to this many characters that patches write are counted in `CompiledInput.size`."""


class CompiledTemplate(NamedTuple):
    """How to compose one resource."""

    name: str
    start: Callable[[], Object] | None
    """Copies the base, or raises Fatal when it is no object; None when there is no base."""

    patches: tuple[Patch, ...]
    extract_details: ExtractDetails | None
    is_ready: Check


class CompiledInput(NamedTuple):
    """What one run does."""

    templates: tuple[CompiledTemplate, ...]
    environment: tuple[Patch, ...]
    secret: CompiledSecretReference
    writes_composite: bool
    has_environment: bool
    reads_own_writes: bool
    """Whether later patches see what patches of the environment write to the XR."""
    size: int
    """How many bytes the bases take, and the short texts that patches write."""


def compile_input(decoded: Object, dialect: Dialect) -> CompiledInput:
    """Compile an input; raise Fatal when it is invalid."""
    try:
        decoded = decode(decoded, dialect.schema)
        if dialect.set_defaults is not None:
            dialect.set_defaults(decoded)
        validate(decoded, dialect)
    except DecodeError as error:
        raise Fatal(f"{dialect.decode_error_prefix}{error}") from None
    except FieldError as error:
        raise Fatal(f"{dialect.validation_error_prefix}{error}") from None
    try:
        return _compile(decoded, dialect)
    except LimitExceeded as error:
        raise Fatal(f"{dialect.decode_error_prefix}{error}") from None


def _compile(decoded: Object, dialect: Dialect) -> CompiledInput:
    sets = compile_patch_sets(decoded, dialect)
    templates = tuple(_template(template, sets, dialect) for template in decoded.get("resources", []))
    environment = tuple(
        compile_patch(patch, dialect.environment_routes, dialect)
        for patch in decoded.get("environment", {}).get("patches", [])
    )
    every = [patch for template in templates for patch in template.patches]
    if len(every) > MAX_PATCHES:
        raise Fatal(f"{dialect.patch_set_error_prefix}more than {MAX_PATCHES} patches")
    return CompiledInput(
        templates,
        environment,
        secret=compile_secret_reference(decoded.get("writeConnectionSecretToRef", {}), dialect),
        writes_composite=any(patch.target == TO_COMPOSITE for patch in (*every, *environment)),
        has_environment=dialect.has_environment or _uses_environment(decoded, every),
        reads_own_writes=dialect.native_numbers
        and any(patch.target == TO_COMPOSITE for patch in environment),
        size=sum(size_of(template.get("base")) for template in decoded.get("resources", []))
        + len(every) * COUNTED_TEXT,
    )


def _uses_environment(decoded: Object, patches: list[Patch]) -> bool:
    return "environment" in decoded or any(
        patch.source == FROM_ENVIRONMENT or patch.target == TO_ENVIRONMENT for patch in patches
    )


def _template(template: Object, sets: PatchSets, dialect: Dialect) -> CompiledTemplate:
    base: Any = template.get("base")
    return CompiledTemplate(
        name=template["name"],
        start=None if base is None else _start(base, template["name"]),
        patches=resolve_patches(template.get("patches", []), sets, dialect),
        extract_details=compile_connection_details(template.get("connectionDetails", [])),
        is_ready=compile_readiness_checks(template.get("readinessChecks", []), dialect),
    )


def _start(base: Any, name: str) -> Callable[[], Object]:
    problem = _base_problem(base)
    return _invalid_base(name, problem) if problem else copier(base)


def _invalid_base(name: str, problem: str) -> Callable[[], NoReturn]:
    # Raised in the run, not at compile time: problems of earlier resources are reported first.
    def fail() -> NoReturn:
        raise Fatal(f"cannot parse base template of composed resource {quote(name)}: {problem}")

    return fail


def _base_problem(base: Any) -> str:
    if type(base) is not dict:
        kind = {str: "string", bool: "bool", list: "array"}.get(type(base), "number")
        return f"json: cannot unmarshal {kind} into Go value of type {go_type({})}"
    if not has_kind(base):
        return str(missing_kind(_unescaped(dumps(base))))
    return ""


def _unescaped(written: str) -> str:
    """Without the HTML escapes of Go's encoder: the message quotes the base as it was sent."""
    for escape, character in (("\\u003c", "<"), ("\\u003e", ">"), ("\\u0026", "&")):
        written = written.replace(escape, character)
    return written


MAX_PATCHES = 100_000
"""How many patches a step may have after patch sets are expanded: few sets can expand to very many."""

PatchSets = dict[str, tuple[Patch, ...]]


def compile_patch_sets(decoded: Object, dialect: Dialect) -> PatchSets:
    """Compile the patches of each set once, however many resources use it."""
    sets: PatchSets = {}
    for patch_set in decoded.get("patchSets", []):
        patches = patch_set.get("patches", [])
        if any(patch_type(patch) == "PatchSet" for patch in patches):
            raise Fatal(f"{dialect.patch_set_error_prefix}a patch in a PatchSet cannot be of type PatchSet")
        sets[patch_set["name"]] = tuple(compile_patch(patch, COMPOSED_ROUTES, dialect) for patch in patches)
    return sets


def resolve_patches(patches: list[Object], sets: PatchSets, dialect: Dialect) -> tuple[Patch, ...]:
    """Compile the patches of a resource, and expand patch sets in place."""
    resolved: list[Patch] = []
    for patch in patches:
        if patch_type(patch) != "PatchSet":
            resolved.append(compile_patch(patch, COMPOSED_ROUTES, dialect))
            continue
        name = patch["patchSetName"]
        if name not in sets:
            raise Fatal(f"{dialect.patch_set_error_prefix}cannot find PatchSet by name {name}")
        resolved += sets[name]
        if len(resolved) > MAX_PATCHES:
            raise Fatal(f"{dialect.patch_set_error_prefix}more than {MAX_PATCHES} patches")
    return tuple(resolved)


def copier(original: Object) -> Callable[[], Object]:
    """Make a closure that copies an object. It records once where the containers are."""
    containers: list[Any] = [original]
    inner: list[tuple[int, Any, Any]] = []
    for at, container in enumerate(containers):  # the list grows during the loop
        items = container.items() if type(container) is dict else enumerate(container)
        for key, value in items:
            if type(value) is dict or type(value) is list:
                containers.append(value)
                inner.append((at, key, value))
    return _copier(original, tuple(inner))


def _copier(original: Object, inner: tuple[tuple[int, Any, Any], ...]) -> Callable[[], Object]:
    if not inner:
        return original.copy

    def copy() -> Object:
        root = original.copy()
        copies: list[Any] = [root]
        for outer, key, value in inner:
            copied = copies[outer][key] = value.copy()
            copies.append(copied)
        return root

    return copy
