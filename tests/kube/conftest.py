"""A server for each module, a client and a namespace for each case."""

from tests.support.server_fixtures import client, ns, server

__all__ = ["client", "ns", "server"]
