"""A running server for what needs one."""

from tests.support.server_fixtures import client, ns, server

__all__ = ["client", "ns", "server"]
