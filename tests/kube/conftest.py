"""A server for each module, and a namespace for each case."""

from tests.support.server_fixtures import connect, ns, server

__all__ = ["connect", "ns", "server"]
