"""A running server for what needs one: the same as for the client's tests."""

from tests.control.protecting import installed
from tests.kube.conftest import connect, ns, server

__all__ = ["connect", "installed", "ns", "server"]
