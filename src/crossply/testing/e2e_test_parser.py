"""An E2ETest of `up`: what it applies to a control plane, in which order, and what it waits for."""

from __future__ import annotations

from typing import NamedTuple

from crossply.compose.object_metadata import name_of
from crossply.testing.strict_fields import Reader
from crossply.testing.upbound_tests import lenient
from crossply.values import Object
from crossply.values.yaml import Document

_READY = "Ready"
_SECONDS, _CLEANUP_SECONDS = 600.0, 600.0


class EndToEndTest(NamedTuple):
    """A test that runs in a control plane."""

    name: str
    source: str
    init: tuple[Object, ...]
    """Applied before the project is looked for."""
    extra: tuple[Object, ...]
    """Applied before the manifests; nothing is waited for."""
    manifests: tuple[Object, ...]
    """What is tested: each must get all conditions."""
    conditions: tuple[str, ...]
    """Types of conditions."""
    seconds: float
    cleanup_seconds: float
    keeps: bool
    """Whether all that it applied stays."""


def read_e2e_test(document: Document) -> EndToEndTest:
    """The test in a document; raises SuiteError."""
    root = lenient(document.value, ())
    spec = lenient(root.fields.raw("spec"), ("spec",))
    manifests = _objects(spec, "manifests")
    if not manifests:
        raise spec.fields.wrong("at least one manifest is needed", "manifests")
    return EndToEndTest(
        root.fields.object("metadata").text("name") or "(without a name)",
        document.source,
        _objects(spec, "initResources"),
        _objects(spec, "extraResources"),
        manifests,
        spec.fields.texts("defaultConditions") or (_READY,),
        _seconds(spec, "timeoutSeconds", _SECONDS),
        _seconds(spec, "cleanupTimeoutSeconds", _CLEANUP_SECONDS),
        bool(spec.fields.flag("skipDelete")),
    )


def _objects(spec: Reader, key: str) -> tuple[Object, ...]:
    objects = spec.fields.items(key)
    for index, obj in enumerate(objects):
        if not isinstance(obj, dict) or not obj.get("apiVersion") or not obj.get("kind") or not name_of(obj):
            raise spec.fields.wrong("needs an apiVersion, a kind and a name", f"{key}[{index}]")
    return tuple(objects)


def _seconds(spec: Reader, key: str, otherwise: float) -> float:
    value = spec.fields.raw(key)
    if value is None:
        return otherwise
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 1:
        raise spec.fields.wrong("must be a number of seconds, at least 1", key)
    return float(value)
