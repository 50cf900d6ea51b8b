"""A control plane on one machine is the only one: it shares nothing, and needs no Leases for it."""

from __future__ import annotations

import pytest

from crossply.kube.lease_objects import LEASE

pytestmark = pytest.mark.xdist_group("e2e")


@pytest.mark.embedded_only("there the controllers may be one of several")
async def test_one_replica_makes_no_leases(s):
    assert (await s.client.list(LEASE, "crossplane-system")).items == []
