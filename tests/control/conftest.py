"""A running server for what needs one: the same as for the client's tests."""

from tests.kube.conftest import connect, ns, server

__all__ = ["connect", "ns", "server"]
