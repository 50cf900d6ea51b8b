"""A webhook server of the test's own, and the names that only one case uses."""

from __future__ import annotations

import secrets

import pytest

from tests.support.api.webhooks import Webhooks


@pytest.fixture
def webhooks(tmp_path):
    running = Webhooks(tmp_path)
    yield running
    running.stop()


@pytest.fixture
def register(admin):
    """Create cluster-wide objects that go with the case."""
    built = []

    def create(plural, body):
        path = f"/apis/admissionregistration.k8s.io/v1/{plural}"
        body.setdefault("metadata", {}).setdefault("name", f"case-{secrets.token_hex(6)}.example.org")
        created = admin.post(path, body).ok(201)
        built.append(f"{path}/{created['metadata']['name']}")
        return created

    yield create
    for path in reversed(built):
        admin.delete(path)
