"""A running server for what needs one: the same as for the client's tests."""

from tests.control.protecting import installed
from tests.control.runtime_cases import alone
from tests.kube.conftest import connect, ns, server

__all__ = ["alone", "connect", "installed", "ns", "server"]
