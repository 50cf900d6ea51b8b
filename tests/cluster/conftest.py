"""The real cluster that `make test-cluster` has started; without one, the tests that need it are skipped."""

from __future__ import annotations

import os

import pytest

from tests.support.cluster.client import Client
from tests.support.cluster.real_cluster import ENVIRONMENT, RealCluster


@pytest.fixture(scope="session")
def real_cluster():
    directory = os.environ.get(ENVIRONMENT)
    if not directory:
        pytest.skip("needs a real cluster: make test-cluster")
    return RealCluster.attach(directory)


@pytest.fixture(scope="session")
def admin(real_cluster):
    return Client(real_cluster, real_cluster.token)


@pytest.fixture(scope="session")
def alice(real_cluster):
    return Client(real_cluster, real_cluster.user_token)
