"""Users and grants for the cases about access."""

from __future__ import annotations

import secrets

import pytest

from tests.support.api.grants import Grants


@pytest.fixture
def grants(admin, ns):
    built = Grants(admin, ns)
    yield built
    for path in built.cluster_wide:
        admin.delete(path)


@pytest.fixture
def bob(admin):
    """A user that only this test uses."""
    name = f"bob-{secrets.token_hex(4)}"
    client = admin.acting_as(name)
    client.name = name
    yield client
    client.close()
