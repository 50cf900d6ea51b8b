"""A running server for what needs one: the same as for the client's tests."""

from tests.support.control.runtimes import alone
from tests.support.control.usage_controllers import installed
from tests.support.server_fixtures import client, ns, server

__all__ = ["alone", "client", "installed", "ns", "server"]
