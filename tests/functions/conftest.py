"""The published SDK in an environment of its own, and certificates, for every test that wants them."""

from tests.support.mutual_tls_functions import authority, client_files, server_files
from tests.support.sdk.environment import sdk_python

__all__ = ["authority", "client_files", "sdk_python", "server_files"]
