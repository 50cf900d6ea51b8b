"""Messages that are one of their fields in JSON: places in a CRD's schema that allow two types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from crossply.values import Object

_SCHEMA = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps"


class OneOf(NamedTuple):
    """How a message's fields become a value, and a value the fields."""

    joined: Callable[[Object], Any]
    split: Callable[[Any], Object]


def _schema_or_bool(found: Object) -> Any:
    return found["schema"] if "schema" in found else found.get("allows", False)


ONE_OF: dict[str, OneOf] = {
    f"{_SCHEMA}OrArray": OneOf(
        lambda found: found.get("jSONSchemas") or found.get("schema"),
        lambda value: {"jSONSchemas" if isinstance(value, list) else "schema": value},
    ),
    f"{_SCHEMA}OrBool": OneOf(
        _schema_or_bool,
        lambda value: {"allows": value} if isinstance(value, bool) else {"allows": True, "schema": value},
    ),
    f"{_SCHEMA}OrStringArray": OneOf(
        lambda found: found.get("property") or found.get("schema"),
        lambda value: {"property" if isinstance(value, list) else "schema": value},
    ),
}
"""By the name of the message."""
