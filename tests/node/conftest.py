"""Only by `make test-node`: it takes root, programs that Go builds, and addresses of this machine."""

from __future__ import annotations

import os
import pathlib
import tempfile
from collections.abc import Iterator

import pytest

from tests.support.node.cluster import NodeCluster, install, node_cluster

collect_ignore = [] if os.environ.get("CROSSPLY_NODE") else ["test_node.py", "test_provider.py"]


@pytest.fixture(scope="session")
def node() -> Iterator[NodeCluster]:
    """A cluster with a node and the controllers in it; its logs stay in CROSSPLY_NODE_DIR, if that is set."""
    configured = os.environ.get("CROSSPLY_NODE_DIR")
    with (
        tempfile.TemporaryDirectory(prefix="crossply-node-", ignore_cleanup_errors=True) as directory,
        node_cluster(pathlib.Path(configured or directory)) as cluster,
    ):
        install(cluster)
        yield cluster
