"""Fixtures of the API suite. A case has a namespace of its own, so cases run in any order, side by side."""

from __future__ import annotations

import secrets

import pytest

from tests.api import servers
from tests.api.client import Client, Object
from tests.api.collection import Collection
from tests.api.definitions import DEFINITIONS, definition, install, new_group, objects, version
from tests.api.waiting import waiting_for


@pytest.fixture(scope="session")
def server(request, tmp_path_factory):
    start = {"embedded": servers.embedded, "real": servers.real}[request.config.getoption("--server")]
    with start(tmp_path_factory.mktemp("server")) as running:
        waiting_for(running.kind)
        yield running


@pytest.fixture(scope="session")
def admin(server):
    client = Client(server.url, server.ca, server.token)
    yield client
    client.close()


@pytest.fixture
def alice(admin, server):
    client = admin.with_token(server.user_token)
    yield client
    client.close()


@pytest.fixture
def ns(admin):
    """The name of a namespace that only this case uses."""
    name = f"case-{secrets.token_hex(6)}"
    admin.post("/api/v1/namespaces", {"metadata": {"name": name}}).ok(201)
    yield name
    admin.delete(f"/api/v1/namespaces/{name}")


@pytest.fixture
def configmaps(admin, ns):
    return Collection(admin, "v1", "ConfigMap", "configmaps", ns)


WIDGET_SPEC: Object = {
    "size": {"type": "integer", "minimum": 0},
    "colour": {"type": "string", "enum": ["red", "green", "blue"]},
    "note": {"type": "string"},
    "replicas": {"type": "integer"},
    "tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
    "parts": {
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
        "items": {
            "type": "object",
            "required": ["name"],
            "properties": {"name": {"type": "string"}, "weight": {"type": "integer"}},
        },
    },
    "atoms": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "atomic"},
    "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    "mode": {"type": "string", "default": "plain"},
}
WIDGET_STATUS: Object = {
    "phase": {"type": "string"},
    "replicas": {"type": "integer"},
    "selector": {"type": "string"},
}
WIDGET_COLUMNS = [
    {"name": "Size", "type": "integer", "jsonPath": ".spec.size", "description": "How large it is"},
    {"name": "Colour", "type": "string", "jsonPath": ".spec.colour", "priority": 1},
    {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
]


@pytest.fixture(scope="session")
def widget_definition(admin):
    """A custom kind for everything that is not about definitions."""
    body = definition(
        new_group(),
        version(
            spec=WIDGET_SPEC,
            status=WIDGET_STATUS,
            subresources={
                "status": {},
                "scale": {
                    "specReplicasPath": ".spec.replicas",
                    "statusReplicasPath": ".status.replicas",
                    "labelSelectorPath": ".status.selector",
                },
            },
            additionalPrinterColumns=WIDGET_COLUMNS,
            selectableFields=[{"jsonPath": ".spec.colour"}, {"jsonPath": ".spec.size"}],
        ),
        names={"shortNames": [f"w{secrets.token_hex(3)}"], "categories": ["all"]},
    )
    install(admin, body)
    yield body
    admin.delete(f"{DEFINITIONS}/{body['metadata']['name']}")


@pytest.fixture
def widgets(admin, ns, widget_definition):
    return objects(admin, widget_definition, ns)


@pytest.fixture
def define(admin):
    """Install definitions that only this case uses."""
    made: list[str] = []

    def install_for_case(*versions: Object, **options: object) -> Object:
        body = definition(new_group(), *versions, **options)
        made.append(body["metadata"]["name"])
        install(admin, body)
        return body

    yield install_for_case
    for name in made:
        admin.delete(f"{DEFINITIONS}/{name}")
