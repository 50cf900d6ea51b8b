"""What functions see of the connection secret of a composite resource."""

from __future__ import annotations

from typing import Any

import pytest

from crossply.compose.engine_field_paths import APPLICATION, INFRASTRUCTURE, LEGACY, MODERN, Machinery
from crossply.compose.function_messages import respond
from tests.support.composition_platform import Platform, make_xr

REF = {"writeConnectionSecretToRef": {"name": "details", "namespace": "vault"}}
SECRET = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "details", "namespace": "vault"},
    "data": {"password": "c2VjcmV0"},
}


@pytest.mark.parametrize(
    ("machinery", "spec", "details", "reason"),
    [
        (LEGACY, REF, {"password": b"secret"}, "a legacy XR keeps the reference in its spec"),
        (INFRASTRUCTURE, {"infrastructure": REF}, {"password": b"secret"}, "infrastructure in a part of it"),
        (MODERN, REF, {}, "a modern XR publishes nothing: the field is its author's"),
        (APPLICATION, {"application": REF}, {}, "an application publishes nothing"),
    ],
)
def test_connection_details_are_those_of_the_secret_that_the_kind_publishes(
    platform: Platform, machinery: Machinery, spec: dict[str, Any], details: dict[str, bytes], reason: str
) -> None:
    platform.machinery = machinery
    platform.world = [SECRET]
    xr = {**make_xr(namespace=""), "spec": spec}
    platform.render([platform.step("s", lambda request: respond(request))], xr)
    [(_, request)] = platform.calls
    assert request.observed.composite is not None
    assert dict(request.observed.composite.connection_details) == details, reason
