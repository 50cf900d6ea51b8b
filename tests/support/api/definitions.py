"""CustomResourceDefinitions for the tests: made in a few words, used when the server serves them."""

from __future__ import annotations

import secrets
from functools import partial
from typing import Any

from tests.support.api.client import Client, Object
from tests.support.api.collection import Collection
from tests.support.api.polling import eventually

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def new_group() -> str:
    """An API group of its own."""
    return f"g{secrets.token_hex(5)}.api.example.org"


def version(
    name: str = "v1", spec: Object | None = None, status: Object | None = None, **more: Any
) -> Object:
    """A version of a definition; `spec` and `status` are the properties of these fields."""
    properties = {}
    if spec is not None:
        properties["spec"] = {"type": "object", "properties": spec}
    if status is not None:
        properties["status"] = {"type": "object", "properties": status}
    schema = {"type": "object", "properties": properties}
    return {"name": name, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}, **more}


def definition(
    group: str, *versions: Object, kind: str = "Widget", scope: str = "Namespaced", **spec: Any
) -> Object:
    """A definition to send."""
    singular = kind.lower()
    names = {"kind": kind, "plural": f"{singular}s", **spec.pop("names", {})}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{names['plural']}.{group}"},
        "spec": {"group": group, "scope": scope, "names": names, "versions": list(versions), **spec},
    }


def install(client: Client, body: Object) -> Object:
    """Create a definition and wait until objects of it can be written."""
    client.post(DEFINITIONS, body).ok(201)
    return wait_until_served(client, body)


def wait_until_served(client: Client, body: Object) -> Object:
    """Wait until every served version of a definition answers; returns the definition."""
    name, spec = body["metadata"]["name"], body["spec"]
    crd = eventually(lambda: established(client, name))
    for served in (v for v in spec["versions"] if v["served"]):
        path = f"/apis/{spec['group']}/{served['name']}/{spec['names']['plural']}"
        eventually(partial(_is_served, client, path))
    return dict(crd)


def _is_served(client: Client, path: str) -> bool:
    return client.get(path).status == 200


def established(client: Client, name: str) -> Object | None:
    crd = client.get(f"{DEFINITIONS}/{name}").ok(200)
    return crd if condition(crd, "Established") == "True" else None


def condition(definition: Object, kind: str) -> str:
    """The status of a condition, or nothing."""
    conditions = definition.get("status", {}).get("conditions") or []
    return next((str(c["status"]) for c in conditions if c["type"] == kind), "")


def objects(client: Client, body: Object, namespace: str = "", version_name: str = "") -> Collection:
    """The objects that a definition defines."""
    spec = body["spec"]
    names = spec["names"]
    at = version_name or spec["versions"][0]["name"]
    return Collection(client, f"{spec['group']}/{at}", names["kind"], names["plural"], namespace)
