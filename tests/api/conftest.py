"""Fixtures of the API suite. A case has a namespace of its own, so cases run in any order, side by side."""

from __future__ import annotations

import secrets

import pytest

from tests.support import api_servers as servers
from tests.support.api.client import Client, Object
from tests.support.api.collection import Collection
from tests.support.api.definitions import DEFINITIONS, definition, install, new_group, objects, version
from tests.support.api.widgets import WIDGET_COLUMNS, WIDGET_SPEC, WIDGET_STATUS


@pytest.fixture(scope="session")
def server(request, tmp_path_factory):
    start = {"embedded": servers.embedded, "real": servers.real}[request.config.getoption("--server")]
    with start(tmp_path_factory.mktemp("server")) as running:
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
    built: list[str] = []

    def install_for_case(*versions: Object, **options: object) -> Object:
        body = definition(new_group(), *versions, **options)
        built.append(body["metadata"]["name"])
        install(admin, body)
        return body

    yield install_for_case
    for name in built:
        admin.delete(f"{DEFINITIONS}/{name}")
